"""Moves within structures that hard rules make: an element to another cluster, clusters split and merged,
rows that change places.

Each keeps the rules of its structure by construction, and is weighed by all other factors that it touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from plx.infer.gibbs.block_arrays import Proposal, VariableBlock
from plx.infer.gibbs.limits import ALL_PAIRS, BLOCKS
from plx.infer.hard.assignments import Assignment
from plx.infer.hard.partitions import Partition
from plx.values import IntArray

_NEVER, _ALWAYS = -1, -2
"""Sources that are always 0, and always 1."""


def of_partition(found: Partition) -> list[VariableBlock]:
    """Each element moves to any cluster, or to one of its own; clusters of pairs are merged and split."""
    n = len(found.edge)
    return [_to_any_cluster(found.edge, i) for i in range(n)] + list(_split_and_merge(found.edge))


def _to_any_cluster(edge: IntArray, element: int) -> VariableBlock:
    """The element takes the place of any other one in its cluster, told by the first element of that, or is
    alone.

    A Gibbs update over the clusters of the rest (Neal 2000, *Markov chain sampling methods for Dirichlet
    process mixture models*, algorithm 3).
    """
    near = np.flatnonzero(edge[element] >= 0)
    members = edge[element, near]
    source: dict[int, int] = {}

    def row(v: int) -> int:
        return source.setdefault(v, len(members) + len(source))

    states, guards = [[row(_NEVER)] * len(members)], list[tuple[int, ...]]([()])
    for k in near.tolist():
        states.append([row(_ALWAYS if j == k else max(_NEVER, int(edge[k, j]))) for j in near.tolist()])
        guards.append(tuple(row(v) for i, v in enumerate(edge[k, :k].tolist()) if v >= 0 and i != element))
    return VariableBlock(
        members=members,
        states=np.array(states, dtype=np.int32),
        settled=False,
        exchange=True,
        sources=np.array(list(source), dtype=np.int64),
        guards=tuple(guards),
    )


def _split_and_merge(edge: IntArray) -> Iterator[VariableBlock]:
    """For pairs of elements: all that is said of any pair stays, or is as proposed."""
    n = len(edge)
    members = np.array([v for v in edge[np.triu_indices(n, 1)].tolist() if v >= 0], dtype=np.int64)
    place = np.full(int(edge.max()) + 2, -1, dtype=np.int64)
    place[members] = np.arange(len(members))
    between = place[edge]
    states = np.arange(2 * len(members), dtype=np.int32).reshape(2, -1)
    for one, other in _pairs(n):
        if edge[one, other] >= 0:
            proposal = Proposal(between, one, other)
            yield VariableBlock(members, states, False, True, proposal=proposal)


def _pairs(n: int) -> Iterator[tuple[int, int]]:
    """All pairs of few elements; of many each with those 1, 2, 4, … places further."""
    if n <= ALL_PAIRS:
        yield from combinations(range(n), 2)
        return
    step = 1
    while 2 * step <= n:
        yield from ((min(a, (a + step) % n), max(a, (a + step) % n)) for a in range(n))
        step *= 2


def of_assignment(found: Assignment) -> list[VariableBlock]:
    """Each two rows may change places; columns too, where there are more or fewer of them."""
    moves = _lines(found.cell)
    if found.cell.shape[0] != found.cell.shape[1] or (found.cell < 0).any():
        moves += _lines(found.cell.T)
    return moves[:BLOCKS]


def _lines(cell: IntArray) -> list[VariableBlock]:
    """Rows that change places, where nothing holds in one for which there is no unknown in the other."""
    out = []
    for a, b in _pairs(len(cell)):
        both = np.flatnonzero((cell[a] >= 0) & (cell[b] >= 0))
        if not len(both):
            continue
        lone = (cell[a] >= 0) != (cell[b] >= 0)
        single = np.maximum(cell[a], cell[b])[lone]
        k = len(both)
        states = np.stack([np.arange(2 * k), np.roll(np.arange(2 * k), k)]).astype(np.int32)
        guards = () if not len(single) else ((), tuple(range(2 * k, 2 * k + len(single))))
        members = np.concatenate([cell[a, both], cell[b, both]])
        out.append(VariableBlock(members, states, False, True, sources=single, guards=guards))
    return out
