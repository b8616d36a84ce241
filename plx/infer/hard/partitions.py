"""Relations that are partitions: truths about pairs of elements, of each three of which not just two hold.

They are found from the ground rules alone, whatever the relation is called: as edges of triangles. What was
observed is no unknown any more: where two elements are known to be apart, two unknowns may not both hold, in
place of each triangle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plx import deadline
from plx.graph.components import component_numbers
from plx.graph.model import FactorGraph
from plx.infer.hard.limits import TRIANGLES
from plx.values import IntArray

_TRIANGLE = np.array([[[1, 1], [1, 0]], [[1, 0], [0, 1]]], dtype=bool)
"""What is possible of three: none, one or all hold."""

_NOT_BOTH = np.array([[1, 1], [1, 0]], dtype=bool)

_FEWEST = 4
"""Elements of a partition that is worth moves of its own."""


@dataclass(frozen=True, eq=False)
class Partition:
    """``edge`` [n, n]: the unknown that says whether two elements are together, -1 where they are known to be
    apart. ``factors``: the triangles."""

    edge: IntArray
    factors: IntArray


def partitions(graph: FactorGraph, hard_factors: IntArray) -> Iterator[Partition]:
    """The partitions of a graph; those are passed over of which the rules do not say all."""
    triangles, scopes = _shaped(graph, hard_factors, _TRIANGLE)
    if not len(triangles) or len(triangles) > TRIANGLES:
        return
    _, pairs = _shaped(graph, hard_factors, _NOT_BOTH)
    apart = {(int(a), int(b)) for a, b in pairs}
    ends = np.concatenate([scopes[:, :2], scopes[:, 1:]])
    label = component_numbers(graph.n_variables, ends[:, 0], ends[:, 1])[scopes[:, 0]]
    for part in np.unique(label):
        mine = np.flatnonzero(label == part)
        if deadline.over():
            return
        edge = _elements(scopes[mine], apart)
        if edge is not None and len(edge) >= _FEWEST and _is_complete(edge, len(mine), apart):
            yield Partition(edge, triangles[mine])


def _shaped(graph: FactorGraph, factors: IntArray, possible: IntArray) -> tuple[IntArray, IntArray]:
    """The factors over truths of which just this is possible, and their scopes."""
    arity = possible.ndim
    chosen = factors[np.diff(graph.scope_start)[factors] == arity]
    scope = graph.scope[graph.scope_start[chosen][:, None] + np.arange(arity)].astype(np.int64)
    plain = (scope < graph.n_variables).all(axis=1) & (graph.card[scope] == 2).all(axis=1)
    chosen, scope = chosen[plain], scope[plain]
    entry = graph.table_start[graph.table_of[chosen]][:, None] + np.arange(2**arity)
    fits = (np.isfinite(graph.table[entry]) == possible.ravel()).all(axis=1)
    return chosen[fits], scope[fits]


def _elements(triangles: IntArray, apart: set[tuple[int, int]]) -> IntArray | None:
    """Unknowns as pairs of elements, so that each triangle is one; None where that is not told.

    Of a triangle with two known edges the third is known. One with a single known edge {a, b} has a new
    element d; which of the others is {a, d} is told by the edges at a that it has rules with.
    """
    third: dict[tuple[int, int], int] = {}
    of: dict[int, list[tuple[int, int]]] = {}
    for e, f, g in triangles.tolist():
        for a, b, c in ((e, f, g), (f, e, g), (g, e, f)):
            third[a, b] = third[a, c] = 1
            of.setdefault(a, []).append((b, c))
    first = max(of, key=lambda v: len(of[v]))
    second, last = of[first][0]
    ends = {first: (0, 1), second: (0, 2), last: (1, 2)}
    at: list[list[int]] = [[first, second], [first, last], [second, last]]
    waiting, later = [first, second, last], [first, second, last]
    while waiting or later:
        while waiting:
            known = waiting.pop()
            for b, c in of[known]:
                if (b in ends) == (c in ends):
                    continue
                old, new = (b, c) if b in ends else (c, b)
                shared = set(ends[known]) & set(ends[old])
                if len(shared) != 1:
                    return None
                low, high = sorted(set(ends[known]) ^ set(ends[old]))
                ends[new] = (low, high)
                at[low].append(new)
                at[high].append(new)
                waiting.append(new)
                later.append(new)
        fresh = _fresh(later, of, ends, at, third, apart)
        if fresh is None:
            break
        waiting += fresh
        later += fresh
    if len(ends) < len(of):
        return None
    edge = np.full((len(at), len(at)), -1, dtype=np.int64)
    for v, (a, b) in ends.items():
        if edge[a, b] >= 0:
            return None
        edge[a, b] = edge[b, a] = v
    return edge


def _fresh(
    later: list[int],
    of: dict[int, list[tuple[int, int]]],
    ends: dict[int, tuple[int, int]],
    at: list[list[int]],
    third: dict[tuple[int, int], int],
    apart: set[tuple[int, int]],
) -> list[int] | None:
    """Two edges to a new element, of a triangle with one known edge; None if there is none that is told."""
    while later:
        known = later[-1]
        a, b = ends[known]
        for f, g in of[known]:
            if f in ends:
                continue
            tells_a, tells_b = (
                any((v, f) in third or (min(v, f), max(v, f)) in apart for v in at[x] if v != known)
                for x in (a, b)
            )
            if tells_a == tells_b:
                continue
            new = len(at)
            at.append([f, g])
            low, high = (f, g) if tells_a else (g, f)
            ends[low], ends[high] = (a, new), (b, new)
            at[a].append(low)
            at[b].append(high)
            return [f, g]
        later.pop()
    return None


def _is_complete(edge: IntArray, triangles: int, apart: set[tuple[int, int]]) -> bool:
    """Whether each three elements with two edges or more have their rule."""
    n, found = len(edge), 0
    for c in range(n):
        for b in range(c):
            for a in range(b):
                sides = [v for v in (int(edge[a, b]), int(edge[a, c]), int(edge[b, c])) if v >= 0]
                found += len(sides) == 3
                if len(sides) == 2 and (min(sides), max(sides)) not in apart:
                    return False
    return found == triangles
