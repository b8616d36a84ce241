"""Greedy elimination orders over sorted adjacency lists, compiled."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.jit import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Stop = npt.NDArray[np.bool_]
Costs = Annotated[npt.NDArray[np.float64], 2]


class Interaction(NamedTuple):
    """Who meets whom: a graph in compressed rows, and the functions among its nodes."""

    start: Ints  # [N + 1]
    neighbour: Ints  # sorted within a row
    bits: Floats  # [N] log2 of the number of states
    family_start: Ints  # [G + 1]
    family: Ints  # inputs, then the output
    incident_start: Ints  # [N + 1] functions that a node takes part in
    incident: Ints


def _adjacent(pool: Ints, at: Ints, length: Ints, u: int, w: int) -> bool:
    if length[w] < length[u]:
        u, w = w, u
    low, high = at[u], at[u] + length[u]
    while low < high:
        middle = (low + high) // 2
        if pool[middle] < w:
            low = middle + 1
        else:
            high = middle
    return bool(low < at[u] + length[u] and pool[low] == w)


def _score(
    graph: Interaction,
    pool: Ints,
    at: Ints,
    length: Ints,
    alive: Bools,
    mark: Ints,
    stamp: int,
    u: int,
    by_fill: bool,
) -> tuple[float, float]:
    """The cost of eliminating u now: (weight of the missing edges, log2 of clique and message)."""
    message = 0.0
    mark[u] = stamp
    for i in range(at[u], at[u] + length[u]):
        if alive[pool[i]]:
            mark[pool[i]] = stamp
            message += graph.bits[pool[i]]
    size = message + graph.bits[u]
    for i in range(graph.incident_start[u], graph.incident_start[u + 1]):
        first, last = graph.family_start[graph.incident[i]], graph.family_start[graph.incident[i] + 1]
        inside = True
        for j in range(first, last):
            inside = inside and mark[graph.family[j]] == stamp
        if inside:
            size -= graph.bits[graph.family[last - 1]]
    high = max(size, message)
    cost = high + math.log2(1.0 + 2.0 ** (size + message - 2.0 * high))
    if not by_fill:
        return cost, 0.0
    total, squares, present = 0.0, 0.0, 0.0
    for i in range(at[u], at[u] + length[u]):
        w = pool[i]
        if alive[w]:
            weight = 2.0 ** graph.bits[w]
            total += weight
            squares += weight * weight
            inner = 0.0
            for j in range(at[w], at[w] + length[w]):
                if pool[j] != u and alive[pool[j]] and mark[pool[j]] == stamp:
                    inner += 2.0 ** graph.bits[pool[j]]
            present += weight * inner
    return np.rint(total * total - squares - present), cost


def _steps(pool: Ints, at: Ints, length: Ints, alive: Bools, u: int, by_fill: bool) -> int:
    """The steps of the innermost loops that `_score` takes for u."""
    steps = 2 * length[u] + 8
    if by_fill:
        for i in range(at[u], at[u] + length[u]):
            if alive[pool[i]]:
                steps += length[pool[i]]
    return int(steps)


def _longer(row: Ints, least: int) -> Ints:
    """The row, or if it is shorter than ``least`` a copy of at least twice its length."""
    if len(row) >= least:
        return row
    out = np.empty(max(2 * len(row), least), dtype=np.int64)
    for i in range(len(row)):
        out[i] = row[i]
    return out


def _merge(
    pool: Ints,
    used: int,
    at: Ints,
    length: Ints,
    alive: Bools,
    joined: Ints,
    u: int,
) -> tuple[Ints, int, int]:
    """Write the living neighbours of u and the nodes ``joined`` to it (both sorted) from ``used`` on.

    Returns the pool, which may have grown, how many there are, and how many of them are new.
    """
    pool = _longer(pool, used + length[u] + len(joined))
    out, new = used, 0
    j = 0
    for i in range(at[u], at[u] + length[u]):
        w = pool[i]
        if not alive[w]:
            continue
        while j < len(joined) and joined[j] < w:
            if joined[j] != u:
                pool[out] = joined[j]
                out += 1
                new += 1
            j += 1
        if j < len(joined) and joined[j] == w:
            j += 1
        pool[out] = w
        out += 1
    while j < len(joined):
        if joined[j] != u:
            pool[out] = joined[j]
            out += 1
            new += 1
        j += 1
    return pool, out - used, new


def _leaves(
    graph: Interaction,
    degree: Ints,
    alive: Bools,
    order: Ints,
    row: Ints,
    members: Ints,
) -> int:
    """Eliminate nodes of at most two neighbours, which are adjacent: that joins nobody."""
    length = graph.start[1:] - graph.start[:-1]
    done = 0
    stack = np.empty(4 * len(alive), dtype=np.int64)  # a node comes again at degree 2, 1 and 0
    size = len(alive)
    for u in range(size):
        stack[u] = u
    while size > 0:
        size -= 1
        u = stack[size]
        if not alive[u] or degree[u] > 2 or graph.incident_start[u] < graph.incident_start[u + 1]:
            continue
        a, b = -1, -1
        for i in range(graph.start[u], graph.start[u + 1]):
            if alive[graph.neighbour[i]]:
                a, b = graph.neighbour[i], a
        if b >= 0 and not _adjacent(graph.neighbour, graph.start, length, a, b):
            continue
        fill = row[done]
        members[fill] = u
        fill += 1
        for w in (a, b):
            if w >= 0:
                members[fill] = w
                fill += 1
                degree[w] -= 1
                if degree[w] <= 2:
                    stack[size] = w
                    size += 1
        alive[u] = False
        order[done] = u
        done += 1
        row[done] = fill
    return done


def _sooner(cost: Costs, noise: Floats, u: int, w: int) -> bool:
    """Whether u is to be eliminated before w."""
    for k in range(2):
        if cost[k, u] != cost[k, w]:
            return bool(cost[k, u] < cost[k, w])
    return bool(noise[u] < noise[w] or (noise[u] == noise[w] and u < w))


def _settle(heap: Ints, place: Ints, size: int, cost: Costs, noise: Floats, u: int) -> None:
    """Move u, whose cost has changed, to where it belongs in the binary heap ``heap[:size]``."""
    i = place[u]
    while i > 0 and _sooner(cost, noise, u, heap[(i - 1) // 2]):
        heap[i] = heap[(i - 1) // 2]
        place[heap[i]] = i
        i = (i - 1) // 2
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and _sooner(cost, noise, heap[child + 1], heap[child]):
            child += 1
        if not _sooner(cost, noise, heap[child], u):
            break
        heap[i] = heap[child]
        place[heap[i]] = i
        i = child
    heap[i] = u
    place[u] = i


@kernel
def eliminate(
    graph: Interaction,
    forced: Ints,
    by_fill: bool,
    noise: Floats,
    temper: float,
    cap: float,
    steps_left: Ints,
    stop: Stop,
) -> tuple[Ints, Ints, Ints]:
    """Eliminate every node; the clique of a step is the node and its neighbours then.

    ``forced`` is an order to follow, or empty: then nodes of degree ≤ 2 with adjacent neighbours
    go first, then greedily those of least weighted fill (``by_fill``) or least size, ties by
    ``noise`` [N], from 0 to 1; fill is multiplied by other noise each time, to the power ``temper``.
    Stops once a clique has more than ``cap`` bits, once ``steps_left`` [1], which is counted down,
    is used up, or once ``stop`` [1] is set. Returns the order, and the cliques in compressed rows,
    each with its own node first; a stopped run returns fewer than N.
    """
    n = len(graph.bits)
    pool = np.empty(2 * len(graph.neighbour) + 64, dtype=np.int64)
    used = len(graph.neighbour)
    for i in range(used):
        pool[i] = graph.neighbour[i]
    at = graph.start[:-1].copy()
    length = graph.start[1:] - graph.start[:-1]
    room = length.copy()
    alive = np.ones(n, dtype=np.bool_)
    order, row = np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    members = np.empty(4 * n + 64, dtype=np.int64)
    done = 0 if len(forced) else _leaves(graph, length.copy(), alive, order, row, members)

    heap, place, size = np.empty(n, dtype=np.int64), np.full(n, -1, dtype=np.int64), 0
    cost = np.zeros((2, n))
    mark, stamp = np.full(n, -1, dtype=np.int64), 0
    touched, seen = np.empty(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    n_touched = 0
    for u in range(n):
        if alive[u]:
            touched[n_touched] = u
            n_touched += 1
    while done < n and steps_left[0] >= 0 and not stop[0]:
        if len(forced) > 0:
            v = forced[done]
        else:
            for i in range(n_touched):
                u = touched[i]
                stamp += 1
                steps_left[0] -= _steps(pool, at, length, alive, u, by_fill)
                cost[0, u], cost[1, u] = _score(graph, pool, at, length, alive, mark, stamp, u, by_fill)
                cost[0, u] *= noise[(u + done) % n] ** temper
                if place[u] < 0:
                    place[u] = size
                    size += 1
                _settle(heap, place, size, cost, noise, u)
            v = heap[0]
            size -= 1
            if size > 0:
                place[heap[size]] = 0
                _settle(heap, place, size, cost, noise, heap[size])
        begin = row[done]
        members = _longer(members, begin + length[v] + 1)
        members[begin] = v
        k, bits = 0, graph.bits[v]
        for i in range(at[v], at[v] + length[v]):
            if alive[pool[i]]:
                k += 1
                members[begin + k] = pool[i]
                bits += graph.bits[pool[i]]
        alive[v] = False
        order[done] = v
        done += 1
        row[done] = begin + k + 1
        if bits > cap:
            break
        joined = members[begin + 1 : begin + 1 + k]
        n_touched = 0
        for u in joined:
            steps_left[0] -= 2 * (length[u] + len(joined))
            pool, merged, new = _merge(pool, used, at, length, alive, joined, u)
            if merged <= room[u]:
                for i in range(merged):
                    pool[at[u] + i] = pool[used + i]
            else:
                at[u], room[u] = used, merged
                used += merged
            length[u] = merged
            if seen[u] != done:
                seen[u] = done
                touched[n_touched] = u
                n_touched += 1
            if by_fill and new > 0:
                for i in range(at[u], at[u] + merged):
                    w = pool[i]
                    if seen[w] != done:
                        seen[w] = done
                        touched[n_touched] = w
                        n_touched += 1
    return order[:done].copy(), row[: done + 1].copy(), members[: row[done]].copy()
