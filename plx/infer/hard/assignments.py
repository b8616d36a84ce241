"""Truths in rows and columns, at most one or exactly one of which holds in each: permutations, assignments.

They are found from the ground rules alone, whatever the unknowns are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plx.graph.model import FactorGraph
from plx.infer.hard.limits import GROUPS
from plx.values import IntArray

_FEWEST = 3
"""Rows, and columns, of what is worth moves of its own."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """``cell`` [rows, columns]: the unknown there, -1 where it is known not to hold; and the rules about
    ``rows`` and ``columns``."""

    cell: IntArray
    rows: IntArray
    columns: IntArray

    @property
    def factors(self) -> IntArray:
        """The rules about both, in order."""
        return np.sort(np.concatenate([self.rows, self.columns]))


def assignments(graph: FactorGraph, hard_factors: IntArray) -> Iterator[Assignment]:
    """The assignments of a graph: each unknown in one row and one column, which meet nowhere else."""
    groups = {
        f: members for f in _likely(graph, hard_factors) if (members := _only_one(graph, f)) is not None
    }
    of: dict[int, list[int]] = {}
    for f, members in groups.items():
        for v in members:
            of.setdefault(v, []).append(f)
    seen: set[int] = set()
    for f in groups:
        if f not in seen and (found := _in_two_ways(f, groups, of, seen)) is not None:
            yield found


def _in_two_ways(
    first: int, groups: dict[int, list[int]], of: dict[int, list[int]], seen: set[int]
) -> Assignment | None:
    """The rows and columns that a group hangs together with; None if it is none of those."""
    side, waiting, fits = {first: 0}, [first], True
    while waiting:
        f = waiting.pop()
        seen.add(f)
        for v in groups[f]:
            fits = fits and len(of[v]) == 2
            for g in of[v]:
                if g == f:
                    continue
                if g not in side:
                    side[g] = 1 - side[f]
                    waiting.append(g)
                fits = fits and side[g] != side[f]
    rows, columns = ([f for f in side if side[f] == k] for k in (0, 1))
    if not fits or min(len(rows), len(columns)) < _FEWEST:
        return None
    place = {f: i for part in (rows, columns) for i, f in enumerate(part)}
    cell = np.full((len(rows), len(columns)), -1, dtype=np.int64)
    for f in rows:
        for v in groups[f]:
            column = next(g for g in of[v] if g != f)
            if cell[place[f], place[column]] >= 0:
                return None
            cell[place[f], place[column]] = v
    return Assignment(cell, np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))


def _likely(graph: FactorGraph, hard_factors: IntArray) -> list[int]:
    """Rules about a count, and those whose table says that at most one of their truths holds."""
    arity, table = np.diff(graph.scope_start)[hard_factors], graph.table_of[hard_factors]
    told = {(int(k), int(t)): True for k, t in zip(arity, table, strict=True) if k > 1}
    for k, t in told:
        entries = graph.table[graph.table_start[t] : graph.table_start[t + 1]]
        told[k, t] = len(entries) == 2**k and _is_one(
            np.isfinite(entries).reshape((2,) * k), np.indices((2,) * k).sum(axis=0)
        )
    likely = [
        f
        for f, k, t in zip(hard_factors.tolist(), arity.tolist(), table.tolist(), strict=True)
        if told.get((k, t), k == 1)
    ]
    return likely if len(likely) <= GROUPS else []


def _only_one(graph: FactorGraph, factor: int) -> list[int] | None:
    """The truths of which a factor allows at most one, or exactly one; None where it says anything else."""
    scope = graph.scope_of(factor).tolist()
    possible = np.isfinite(graph.table_values(factor))
    if len(scope) > 1:
        plain = max(scope) < graph.n_variables and possible.shape == (2,) * len(scope)
        return scope if plain else None
    d = scope[0] - graph.n_variables
    if d < 0:
        return None
    nodes, vectors = graph.inputs_of(d)
    if nodes.max() >= graph.n_variables or (graph.card[nodes] != 2).any():
        return None
    if any(graph.contribution_of(int(v)).tolist() != [0, 1] for v in np.unique(vectors)):
        return None
    of_total = possible[graph.output_map(d)]
    return nodes.tolist() if _is_one(of_total, np.arange(len(of_total))) else None


def _is_one(possible: IntArray, hold: IntArray) -> bool:
    """Whether all is possible of which one holds, and nothing of which two do."""
    return bool(possible[hold == 1].all() and not possible[hold > 1].any())
