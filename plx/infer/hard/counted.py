"""Worlds that hard rules leave, counted by closed forms: of matchings, of distinct values, and of partitions.

Matchings are truths in rows and columns, exactly or at most one of which holds in each. Unknowns that all
differ are matchings of unknowns and values. Partitions of n elements are counted by Bell's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.subgraph import reached
from plx.infer.hard.assignments import assignments
from plx.infer.hard.partitions import partitions
from plx.values import IntArray


class Counted(NamedTuple):
    """The log of how many states of some unknowns keep the rules ``factors``, which are all that is said of
    these."""

    log_count: float
    factors: IntArray


def counted(rules: FactorGraph) -> list[Counted]:
    """What can be counted of hard rules; the other rules are about other unknowns."""
    every = np.arange(rules.n_factors)
    return [one for one in _found(rules, every) if not _is_shared(rules, every, one.factors)]


def log_matchings(rows: tuple[int, int], columns: tuple[int, int]) -> float:
    """The log of the number of ways to match rows with columns, one to one; of either so many have to be
    matched, and so many may be. -∞ if there is none."""
    (must, may), (needed, spare) = rows, columns
    sizes = range(max(must, needed), min(must + may, needed + spare) + 1)
    ways = [_log_choose(may, k - must) + _log_choose(spare, k - needed) + math.lgamma(k + 1) for k in sizes]
    return float(np.logaddexp.reduce(ways))


def log_partitions(n: int) -> float:
    """The log of the number of partitions of n elements (Bell's triangle)."""
    row = [1]
    for _ in range(n - 1):
        below = [row[-1]]
        for one in row:
            below.append(below[-1] + one)
        row = below
    return math.log(row[-1])


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _found(rules: FactorGraph, every: IntArray) -> Iterator[Counted]:
    for rooks in assignments(rules, every):
        if (rooks.cell >= 0).all():
            sides = [_sides(rules, side) for side in (rooks.rows, rooks.columns)]
            yield Counted(log_matchings(*sides), rooks.factors)
    for part in partitions(rules, every):
        if (part.edge >= 0)[~np.eye(len(part.edge), dtype=bool)].all():
            yield Counted(log_partitions(len(part.edge)), part.factors)
    yield from _distinct(rules)


def _sides(rules: FactorGraph, factors: IntArray) -> tuple[int, int]:
    """In how many of some groups one must hold, and in how many one may."""
    may = sum(_may_be_empty(rules, f) for f in factors.tolist())
    return len(factors) - may, may


def _may_be_empty(rules: FactorGraph, factor: int) -> bool:
    possible = np.isfinite(rules.table_values(factor))
    scope = rules.scope_of(factor)
    if len(scope) > 1:
        return bool(possible.ravel()[0])
    return bool(possible[rules.output_map(int(scope[0]) - rules.n_variables)][0])


def _distinct(rules: FactorGraph) -> Iterator[Counted]:
    """Unknowns of as many states each, of which every value is taken by exactly or at most one."""
    groups: dict[tuple[int, ...], dict[int, int]] = {}
    for f in range(rules.n_factors):
        if (found := _takers(rules, f)) is not None:
            unknowns, value = found
            groups.setdefault(unknowns, {})[value] = f
    for unknowns, by_value in groups.items():
        cards = set(rules.card[list(unknowns)].tolist())
        if cards == {len(by_value)}:
            factors = np.array(sorted(by_value.values()), dtype=np.int64)
            yield Counted(log_matchings((len(unknowns), 0), _sides(rules, factors)), factors)


def _takers(rules: FactorGraph, factor: int) -> tuple[tuple[int, ...], int] | None:
    """The unknowns at most one of which may have a value, and this; None where the factor says otherwise."""
    scope = rules.scope_of(factor)
    derived = int(scope[0]) - rules.n_variables if len(scope) == 1 else -1
    if derived < 0:
        return None
    nodes, vectors = rules.inputs_of(derived)
    shapes = {tuple(rules.contribution_of(int(v)).tolist()) for v in np.unique(vectors)}
    one = shapes.pop()
    possible = np.isfinite(rules.table_values(factor))[rules.output_map(derived)]
    if shapes or int(nodes.max()) >= rules.n_variables or sorted(one) != [0] * (len(one) - 1) + [1]:
        return None
    if len(possible) < 2 or not possible[1] or possible[2:].any():
        return None
    return tuple(sorted(nodes.tolist())), one.index(1)


def _is_shared(rules: FactorGraph, every: IntArray, factors: IntArray) -> bool:
    """Whether other rules are about unknowns of these."""
    others = np.setdiff1d(every, factors)
    return bool((reached(rules, factors) & reached(rules, others)).any())
