"""The cell of every element, chosen: first the histogram, then which elements are in which cell of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plx.deadline import check
from plx.errors import Diagnostic, NoWorldError
from plx.firstorder.base import Base
from plx.firstorder.histograms import Histograms, Unit
from plx.firstorder.picks import Pick
from plx.firstorder.structure import Structure
from plx.firstorder.worlds import Worlds
from plx.values import FloatArray, IntArray

_TOGETHER = 1 << 22
"""Numbers that are chosen from at once."""


def choose_cells(
    structure: Structure, histograms: Callable[[int], Histograms], pick: Pick, count: int
) -> tuple[Worlds, FloatArray]:
    """So many worlds, and the log weight [count] of all that have their histograms.

    ``histograms`` are those at a joint state of what is about no element. Raises NoWorldError.
    """
    base = structure.base
    tops = []
    kept = None
    for g in range(base.states):
        check()
        kept = histograms(g)
        tops.append(base.alone[g] + (pick.total(kept.logs) if len(kept.logs) else -np.inf))
    if max(tops) == -np.inf:
        raise NoWorldError(Diagnostic("no world is possible", None))
    alone = np.sort(pick.many(np.array(tops), count))
    cell = np.zeros((len(base.rules.universe.ids), count), dtype=np.int32)
    weight = np.zeros(count)
    for g in np.unique(alone).tolist():
        here = np.flatnonzero(alone == g)
        found = kept if kept is not None and base.states == 1 else histograms(g)
        flat = pick.many(found.logs, len(here))
        weight[here] = base.alone[g] + found.logs[flat]
        for unit, which in zip(found.units, found.which, strict=True):
            for group, counts in _split(unit, unit.sum.counts[which[flat]], pick):
                members = np.flatnonzero(base.group_of == group)
                step = max(1, _TOGETHER // len(members))
                for low in range(0, len(here), step):
                    check()
                    some = slice(low, low + step)
                    cells = _cells(structure, g, group, counts[some], pick)
                    cell[np.ix_(members, here[some])] = cells.T
    order = pick.shuffled(np.arange(count)[None])[0]
    return Worlds(alone[order], cell[:, order]), weight[order]


def _split(unit: Unit, counts: IntArray, pick: Pick) -> list[tuple[int, IntArray]]:
    """The histograms [n, m] of each group of a unit, from those of all."""
    found, left = [], counts
    for ways, product in zip(unit.ways[:0:-1], unit.products[:0:-1], strict=True):
        mine = np.zeros_like(left)
        step = max(1, _TOGETHER // len(ways.logs))
        for low in range(0, len(left), step):
            check()
            some = left[low : low + step]
            rest = some[:, None, :] - ways.counts[None]
            logs = product[tuple(np.moveaxis(np.maximum(rest, 0), 2, 0)[:-1])] + ways.logs[None]
            logs[(rest < 0).any(axis=2)] = -np.inf
            mine[low : low + step] = ways.counts[pick.each(logs)]
        found.append((ways.group, mine))
        left = left - mine
    return [*found, (unit.ways[0].group, left)]


def _cells(structure: Structure, g: int, group: int, counts: IntArray, pick: Pick) -> IntArray:
    """The joint states [n, k] of the elements of a group, with so many of them in each cell, [n, m]."""
    base: Base = structure.base
    size = base.count[group]
    cells = np.zeros((len(counts), size), dtype=np.int64)
    for ends in np.cumsum(counts, axis=1).T[:-1]:
        cells += np.arange(size)[None] >= ends[:, None]
    merged = structure.merged[base.kind[group]]
    inside = merged[None, :] == np.arange(counts.shape[1])[:, None]
    logs = np.where(inside, base.own[group][g][None], -np.inf)
    return pick.rows(logs, pick.shuffled(cells))
