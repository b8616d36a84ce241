"""A d-DNNF over propositions made a smooth circuit over nodes, compiled.

A literal becomes the state that it is and its weight. What a term of a sum leaves open where another one does
not is said in it: only nodes of two states can be open, as one proposition of a wider one always holds.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.circuit import NOTHING, Circuit, Made, circuit_of, emitted, empty_circuit
from plx.jit import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
WordGrid = Annotated[npt.NDArray[np.uint64], 2]

AND, OR, TRUE, FALSE = -1, -2, -3, -4
"""Kinds of nodes."""

TOO_LARGE = -2
"""The root of a circuit that got too large."""

_HOLDS = -3


class Dnnf(NamedTuple):
    """Nodes in an order in which children come first, the root last; edges carry literals."""

    kind: Ints  # [n]
    start: Ints  # [n + 1] where the edges of a node begin
    child: Ints  # [E]
    literal_start: Ints  # [E + 1]
    literal: Ints


class Meaning(NamedTuple):
    """What the literals of propositions 1..n say: ``±v`` is row ``2 v + (sign < 0)``."""

    state: Ints  # [2 n + 2] the state of a node that it is, or -1
    log: Floats  # [2 n + 2] its log weight
    pair: Ints  # [n + 1] which of the nodes of two states a proposition is, or -1
    proposition: Ints  # [pairs] of these nodes
    certain: Ints  # the states of nodes that have one


def _row(literal: int) -> int:
    return 2 * literal if literal > 0 else 1 - 2 * literal


def _open_pairs(meaning: Meaning, made: Made, n_states: int, items: Ints) -> tuple[Made, Ints]:
    """The sums of both states of the nodes of two."""
    at = np.empty(len(meaning.proposition), dtype=np.int64)
    for i in range(len(at)):
        first = 2 * meaning.proposition[i]
        for row in (first + 1, first):
            items[2 + first - row] = meaning.state[row]
            if meaning.log[row] != 0.0:
                made = emitted(made, 0, meaning.log[row], items, 2 + first - row, 3 + first - row)
                items[2 + first - row] = n_states + made.used[0] - 1
        made = emitted(made, 1, 0.0, items, 1, 3)
        at[i] = n_states + made.used[0] - 1
    return made, at


def _mention(dnnf: Dnnf, meaning: Meaning, said: WordGrid, e: int, into: Words) -> None:
    """Add the nodes of two states that an edge is about."""
    child = dnnf.child[e]
    for w in range(len(into)):
        into[w] |= said[child, w]
    for i in range(dnnf.literal_start[e], dnnf.literal_start[e + 1]):
        pair = meaning.pair[abs(dnnf.literal[i])]
        if pair >= 0:
            into[pair >> 6] |= np.uint64(1) << np.uint64(pair & 63)


def _with_open(wanted: Words, mine: Words, at: Ints, items: Ints, used: int) -> int:
    """Add to the items the sums of nodes that are wanted and not there."""
    for w in range(len(wanted)):
        missing = wanted[w] & ~mine[w]
        bit = w << 6
        while missing:
            if missing & np.uint64(1):
                items[used] = at[bit]
                used += 1
            missing >>= np.uint64(1)
            bit += 1
    return used


@kernel
def smooth_circuit(dnnf: Dnnf, meaning: Meaning, n_states: int, edges: int) -> tuple[Circuit, int]:
    """The circuit and its root: NOTHING where there is no world, TOO_LARGE past so many edges."""
    n, words = len(dnnf.kind), (len(meaning.proposition) + 63) // 64
    widest = 1
    for i in range(n):
        widest = max(widest, dnnf.start[i + 1] - dnnf.start[i])
    items = np.empty(len(meaning.log) + widest + len(meaning.certain) + 4, dtype=np.int64)
    terms = np.empty(widest, dtype=np.int64)
    said, mine = np.zeros((n, words), dtype=np.uint64), np.empty(words, dtype=np.uint64)
    made, at = _open_pairs(meaning, empty_circuit(), n_states, items)
    number = np.full(n, NOTHING, dtype=np.int64)
    for i in range(n):
        if dnnf.kind[i] == TRUE:
            number[i] = _HOLDS
        begin, end = dnnf.start[i], dnnf.start[i + 1]
        is_sum = dnnf.kind[i] == OR
        fine = True
        for e in range(begin, end):
            if number[dnnf.child[e]] == NOTHING:
                fine = is_sum and fine
            else:
                _mention(dnnf, meaning, said, e, said[i])
        if not fine or made.used[1] > edges:
            continue
        used, n_terms, log = 0, 0, 0.0
        for e in range(begin, end):
            child = dnnf.child[e]
            if number[child] == NOTHING:
                continue
            for k in range(dnnf.literal_start[e], dnnf.literal_start[e + 1]):
                row = _row(dnnf.literal[k])
                log += meaning.log[row]
                if meaning.state[row] >= 0:
                    items[used] = meaning.state[row]
                    used += 1
            if number[child] != _HOLDS:
                items[used] = number[child]
                used += 1
            if is_sum or e == end - 1:
                if is_sum:
                    mine[:] = np.uint64(0)
                    _mention(dnnf, meaning, said, e, mine)
                    used = _with_open(said[i], mine, at, items, used)
                if used == 1 and log == 0.0:
                    terms[n_terms] = items[0]
                else:
                    made = emitted(made, 0, log, items, 0, used)
                    terms[n_terms] = n_states + made.used[0] - 1
                n_terms += 1
                used, log = 0, 0.0
        if n_terms == 1:
            number[i] = terms[0]
        elif n_terms > 1:
            made = emitted(made, 1, 0.0, terms, 0, n_terms)
            number[i] = n_states + made.used[0] - 1
    root = number[n - 1]
    if made.used[1] > edges:
        return circuit_of(made), TOO_LARGE
    if root == NOTHING:
        return circuit_of(made), root
    used = 0
    if root != _HOLDS:
        items[0] = root
        used = 1
    mine[:] = np.uint64(0)
    for pair in range(len(at)):
        mine[pair >> 6] |= np.uint64(1) << np.uint64(pair & 63)
    used = _with_open(mine, said[n - 1], at, items, used)
    for state in meaning.certain:
        items[used] = state
        used += 1
    made = emitted(made, 0, 0.0, items, 0, used)
    return circuit_of(made), n_states + made.used[0] - 1
