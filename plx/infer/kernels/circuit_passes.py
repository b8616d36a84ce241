"""Passes over a compiled circuit: values upward, probabilities downward, worlds drawn, the best worlds.

All are linear in its edges (Darwiche, A differential approach to inference in Bayesian networks, JACM 2003).
The values of the states, shape (L,), are logs: 0, or -inf where a state is ruled out.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.circuit import Circuit
from plx.infer.kernels.random import _uniform
from plx.jit import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
FloatGrid = Annotated[npt.NDArray[np.float64], 2]
IntGrid = Annotated[npt.NDArray[np.int64], 2]


@kernel
def reached_circuit(circuit: Circuit, n_states: int, root: int) -> tuple[Circuit, int]:
    """The part of a circuit that its root reaches, and its root there."""
    n = len(circuit.log)
    kept = np.zeros(n_states + n, dtype=np.uint8)
    kept[root] = 1
    edges, nodes = 0, 0
    for i in range(n - 1, -1, -1):
        if kept[n_states + i]:
            nodes += 1
            edges += circuit.start[i + 1] - circuit.start[i]
            for e in range(circuit.start[i], circuit.start[i + 1]):
                kept[circuit.child[e]] = 1
    number = np.arange(n_states + n)
    start, is_sum = np.zeros(nodes + 1, dtype=np.int64), np.empty(nodes, dtype=np.uint8)
    log, child = np.empty(nodes), np.empty(edges, dtype=np.int64)
    at, edge = 0, 0
    for i in range(n):
        if kept[n_states + i]:
            number[n_states + i] = n_states + at
            is_sum[at], log[at] = circuit.is_sum[i], circuit.log[i]
            for e in range(circuit.start[i], circuit.start[i + 1]):
                child[edge] = number[circuit.child[e]]
                edge += 1
            at += 1
            start[at] = edge
    return Circuit(start, is_sum, log, child), number[root]


@kernel
def upward(circuit: Circuit, states: Floats) -> Floats:
    """The log of the value of every circuit node, shape (L + n,)."""
    n_states, n = len(states), len(circuit.log)
    value = np.empty(n_states + n)
    value[:n_states] = states
    for i in range(n):
        begin, end = circuit.start[i], circuit.start[i + 1]
        if circuit.is_sum[i]:
            top = -np.inf
            for e in range(begin, end):
                top = max(top, value[circuit.child[e]])
            total = 0.0
            if top > -np.inf:
                for e in range(begin, end):
                    total += math.exp(value[circuit.child[e]] - top)
                top += math.log(total)
            value[n_states + i] = top
        else:
            total = circuit.log[i]
            for e in range(begin, end):
                total += value[circuit.child[e]]
            value[n_states + i] = total
    return value


@kernel
def downward(circuit: Circuit, value: Floats, root: int, n_states: int) -> Floats:
    """The probability that a world passes each circuit node, shape (L + n,), after `upward`."""
    flow = np.zeros(len(value))
    flow[root] = 1.0
    for i in range(len(circuit.log) - 1, -1, -1):
        mine = flow[n_states + i]
        if mine > 0.0:
            own = value[n_states + i]
            for e in range(circuit.start[i], circuit.start[i + 1]):
                child = circuit.child[e]
                if circuit.is_sum[i]:
                    flow[child] += mine * math.exp(value[child] - own)
                else:
                    flow[child] += mine
    return flow


@kernel
def upward_means(circuit: Circuit, value: Floats, means: FloatGrid) -> None:
    """The expected statistics of the part of a world below every circuit node, shape (L + n, K).

    The rows of states, their own statistics, are given; those of later nodes are filled in, after `upward`.
    """
    n_states, size = len(value) - len(circuit.log), means.shape[1]
    for i in range(len(circuit.log)):
        at = n_states + i
        means[at] = 0.0
        for e in range(circuit.start[i], circuit.start[i + 1]):
            child = circuit.child[e]
            share = 1.0
            if circuit.is_sum[i]:
                share = math.exp(value[child] - value[at]) if value[child] > -np.inf else 0.0
            if share > 0.0:
                for k in range(size):
                    means[at, k] += share * means[child, k]


@kernel
def draw_worlds(
    circuit: Circuit, value: Floats, root: int, n_states: int, owner: Ints, random: Words, worlds: IntGrid
) -> None:
    """Independent worlds, drawn after `upward`: row i of ``worlds`` gets a state of every node.

    ``owner`` has the node of each state, less its first state; ``random`` is one generator.
    """
    stack = np.empty(len(owner) + len(circuit.log) + 1, dtype=np.int64)
    for w in range(len(worlds)):
        depth = 1
        stack[0] = root
        while depth:
            depth -= 1
            at = stack[depth]
            if at < n_states:
                worlds[w, owner[at]] = at
                continue
            i = at - n_states
            if circuit.is_sum[i]:
                left = _uniform(random, 0)
                chosen = -1
                for e in range(circuit.start[i], circuit.start[i + 1]):
                    child = circuit.child[e]
                    if value[child] > -np.inf and left >= 0.0:
                        chosen = child
                        left -= math.exp(value[child] - value[at])
                stack[depth] = chosen
                depth += 1
            else:
                for e in range(circuit.start[i], circuit.start[i + 1]):
                    stack[depth] = circuit.child[e]
                    depth += 1


def _best_pairs(a: Floats, b: Floats, out: Floats, left: Ints, right: Ints) -> None:
    """The largest sums of one of a and one of b, both descending; -inf where there are no more."""
    k = len(out)
    used = np.zeros(k, dtype=np.int64)  # how many of b have been taken with each of a
    for rank in range(k):
        best, chosen = -np.inf, -1
        for i in range(k):
            if used[i] < k and a[i] > -np.inf and b[used[i]] > -np.inf:
                total = a[i] + b[used[i]]
                if total > best:
                    best, chosen = total, i
            if used[i] == 0:
                break
        out[rank] = best
        left[rank], right[rank] = chosen, -1
        if chosen >= 0:
            right[rank] = used[chosen]
            used[chosen] += 1


def _product(circuit: Circuit, i: int, best: FloatGrid, left: IntGrid, right: IntGrid) -> Floats:
    """The best values of a product; row j of left and right says which ranks its first j + 1 parts have."""
    k = best.shape[1]
    own = np.full(k, -np.inf)
    own[0] = circuit.log[i]
    begin = circuit.start[i]
    for e in range(begin, circuit.start[i + 1]):
        out = np.empty(k)
        _best_pairs(own, best[circuit.child[e]], out, left[e - begin], right[e - begin])
        own = out
    return own


@kernel
def upward_best(circuit: Circuit, n_states: int, best: FloatGrid) -> None:
    """The k largest log weights of worlds of every circuit node, descending, shape (L + n, k).

    The rows of states are given. Those of later nodes are filled in; -inf where there are fewer.
    """
    k = best.shape[1]
    widest = 1
    for i in range(len(circuit.log)):
        widest = max(widest, circuit.start[i + 1] - circuit.start[i])
    left, right = np.empty((widest, k), dtype=np.int64), np.empty((widest, k), dtype=np.int64)
    used = np.empty(widest, dtype=np.int64)
    for i in range(len(circuit.log)):
        if circuit.is_sum[i]:
            begin, end = circuit.start[i], circuit.start[i + 1]
            used[: end - begin] = 0
            for rank in range(k):
                top, chosen = -np.inf, -1
                for e in range(begin, end):
                    if used[e - begin] < k and best[circuit.child[e], used[e - begin]] > top:
                        top, chosen = best[circuit.child[e], used[e - begin]], e - begin
                best[n_states + i, rank] = top
                if chosen >= 0:
                    used[chosen] += 1
        else:
            best[n_states + i] = _product(circuit, i, best, left, right)


@kernel
def trace_world(
    circuit: Circuit, n_states: int, root: int, best: FloatGrid, rank: int, owner: Ints, world: Ints
) -> None:
    """The state of every node in the world of a rank, after `upward_best`; the rank must be there."""
    k = best.shape[1]
    widest = 1
    for i in range(len(circuit.log)):
        widest = max(widest, circuit.start[i + 1] - circuit.start[i])
    left, right = np.empty((widest, k), dtype=np.int64), np.empty((widest, k), dtype=np.int64)
    used = np.empty(widest, dtype=np.int64)
    room = len(owner) + len(circuit.log) + 1
    stack, ranks = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    depth = 1
    stack[0], ranks[0] = root, rank
    while depth:
        depth -= 1
        at, r = stack[depth], ranks[depth]
        if at < n_states:
            world[owner[at]] = at
            continue
        i = at - n_states
        begin, end = circuit.start[i], circuit.start[i + 1]
        if circuit.is_sum[i]:
            used[: end - begin] = 0
            chosen = -1
            for _ in range(r + 1):
                top, chosen = -np.inf, -1
                for e in range(begin, end):
                    if used[e - begin] < k and best[circuit.child[e], used[e - begin]] > top:
                        top, chosen = best[circuit.child[e], used[e - begin]], e - begin
                used[chosen] += 1
            stack[depth], ranks[depth] = circuit.child[begin + chosen], used[chosen] - 1
            depth += 1
        else:
            _product(circuit, i, best, left, right)
            for e in range(end - 1, begin - 1, -1):
                stack[depth], ranks[depth] = circuit.child[e], right[e - begin, r]
                depth += 1
                r = left[e - begin, r]
