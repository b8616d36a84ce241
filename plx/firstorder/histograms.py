"""All histograms of cells with their log weights, kept: to draw from, and to find the best among.

Elements of a *unit* are counted together: those of one group, or all of a kind where each has weights of
their own, which are multiplied group by group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plx.firstorder.logs import Pairs
from plx.firstorder.own_weights import KindSum
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.structure import Structure
from plx.infer.counting.compositions import compositions
from plx.values import FloatArray, IntArray

_LARGEST = 1 << 23
"""Histograms of all units together that are kept, and numbers of the products of a unit: 64 MB each."""

Plus = Callable[[FloatArray, FloatArray], FloatArray]
"""How logs are added: ``np.logaddexp``, or ``np.maximum`` where the best is looked for."""


@dataclass(frozen=True, eq=False)
class Ways:
    """The histograms ``counts`` [N, m] that the elements of one group may have, and their log weights [N]."""

    group: int
    counts: IntArray
    logs: FloatArray


@dataclass(frozen=True, eq=False)
class Unit:
    """Groups of one kind that are counted together, their histograms, and the logs [n + 1, …] of the products
    over the first groups, none of them to all but one."""

    kind: int
    ways: list[Ways]
    sum: KindSum
    products: list[FloatArray]


@dataclass(frozen=True, eq=False)
class Histograms:
    """Every choice of a histogram for each unit, flat: its log weight, and the one ``which[unit]``, [N]."""

    units: list[Unit]
    logs: FloatArray
    which: list[IntArray]


def histograms(structure: Structure, g: int, plus: Plus) -> Histograms:
    """The histograms at a joint state of what is about no element; none of a weight of -inf is left out.

    Raises NotLiftableError where there are too many to be kept.
    """
    together = _same_totals(structure)
    groups: dict[int, list[int]] = {}
    for number, group in enumerate(structure.groups):
        groups.setdefault(group.kind if together else number, []).append(number)
    best = plus is np.maximum
    ways = [[_ways(structure, g, number, best) for number in some] for some in groups.values()]
    lone = [[[one] for one in some] for some in ways]
    joined = [[some] if _is_better_joined(some) else alone for some, alone in zip(ways, lone, strict=True)]
    units = [_unit(structure, some, plus) for parts in joined for some in parts]
    if math.prod(float(len(unit.sum.logs)) for unit in units) > _LARGEST:
        raise NotLiftableError(
            f"there are more than {_LARGEST:,} histograms of cells, which is too many to keep"
        )
    sizes = [len(unit.sum.logs) for unit in units]
    which = [*np.indices(sizes).reshape(len(sizes), -1)]
    logs = np.zeros(math.prod(sizes))
    counts = [unit.sum.counts[at] for unit, at in zip(units, which, strict=True)]
    for i, (one, at) in enumerate(zip(units, which, strict=True)):
        logs += one.sum.logs[at]
        for j, other in enumerate(units[i:], start=i):
            if (weights := structure.pair(one.kind, other.kind)) is not None:
                pairs = Pairs(weights[g].astype(np.float64))
                logs += pairs.within(counts[i]) if i == j else pairs.between(counts[i], counts[j])
    return Histograms(units, logs + _ruled(structure, g, units, which), which)


def _same_totals(structure: Structure) -> bool:
    """Whether all groups of a kind add the same to totals."""
    for total in structure.totals.all[: structure.totals.ruled]:
        for kind in range(structure.base.kinds):
            mine = [of for of, k in zip(total.of, structure.base.kind, strict=True) if k == kind]
            if any(not np.array_equal(of, mine[0]) for of in mine):
                return False
    return True


def _ways(structure: Structure, g: int, number: int, best: bool) -> Ways:
    group = structure.groups[number]
    cells = np.flatnonzero(np.isfinite(group.own[g]))
    if math.comb(group.count + max(len(cells) - 1, 0), group.count) > _LARGEST:
        raise NotLiftableError(
            f"there are more than {_LARGEST:,} histograms of cells, which is too many to keep"
        )
    rows = compositions(group.count, len(cells)) if len(cells) else np.zeros((0, 0), dtype=np.int64)
    counts = np.zeros((len(rows), group.own.shape[1]), dtype=np.int64)
    counts[:, cells] = rows
    logs = rows @ group.own[g, cells]
    if not best:
        factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, group.count + 1)))])
        logs = logs + factorial[group.count] - factorial[rows].sum(axis=1)
    return Ways(number, counts, logs)


def _is_better_joined(ways: Sequence[Ways]) -> bool:
    """Whether fewer numbers are kept where groups of a kind are multiplied."""
    if len(ways) < 2:
        return False
    members = sum(int(one.counts[:1].sum()) for one in ways)
    cells = ways[0].counts.shape[1]
    joined = len(ways) * float(members + 1) ** (cells - 1)
    return bool(joined < math.prod(float(len(one.logs)) for one in ways))


def _unit(structure: Structure, ways: list[Ways], plus: Plus) -> Unit:
    kind = structure.groups[ways[0].group].kind
    if len(ways) == 1:
        return Unit(kind, ways, KindSum(ways[0].counts, ways[0].logs), [])
    n = sum(structure.groups[one.group].count for one in ways)
    shape = (n + 1,) * (structure.cells[kind] - 1)
    if len(ways) * math.prod(shape) > _LARGEST:
        raise NotLiftableError(
            f"members' own weights take more than {_LARGEST:,} numbers, which is too many to keep"
        )
    logs = np.full(shape, -np.inf)
    logs[(0,) * len(shape)] = 0.0
    products = []
    for one in ways:
        products.append(logs)
        logs = _times(logs, one, plus)
    counts = np.indices(shape).reshape(len(shape), -1).T
    last = n - counts.sum(axis=1)
    kept = np.flatnonzero((last >= 0) & np.isfinite(logs.ravel()))
    return Unit(kind, ways, KindSum(np.column_stack([counts, last])[kept], logs.ravel()[kept]), products)


def _times(logs: FloatArray, ways: Ways, plus: Plus) -> FloatArray:
    out = np.full(logs.shape, -np.inf)
    for row, weight in zip(ways.counts.tolist(), ways.logs.tolist(), strict=True):
        to = tuple(slice(k, None) for k in row[:-1])
        of = tuple(slice(0, n - k) for k, n in zip(row[:-1], logs.shape, strict=True))
        out[to] = plus(out[to], logs[of] + weight)
    return out


def _ruled(structure: Structure, g: int, units: Sequence[Unit], which: Sequence[IntArray]) -> FloatArray:
    """The log weight that rules give to the totals of every choice of histograms."""
    totals = structure.totals
    index = np.zeros(len(which[0]) if which else 1, dtype=np.int64)
    for number in range(totals.ruled):
        value = np.zeros_like(index)
        for unit, at in zip(units, which, strict=True):
            added = structure.added(unit.ways[0].group, [number])[g, :, 0]
            value += (unit.sum.counts @ added)[at]
        index = index * (totals.all[number].most + 1) + value
    found: FloatArray = totals.weight[g][index]
    return found
