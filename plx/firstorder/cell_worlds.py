"""The cell of every element, chosen: first the histogram, then which elements are in which cell of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from plx.deadline import check
from plx.errors import Diagnostic, NoWorldError
from plx.firstorder.base import Base
from plx.firstorder.histograms import Histograms, Unit, histograms
from plx.firstorder.picks import Pick
from plx.firstorder.structure import Structure
from plx.firstorder.worlds import Codes, Worlds
from plx.values import FloatArray, IntArray

_TOGETHER = 1 << 22
"""Numbers that are chosen from at once."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The log weights [W] of choices, and the joint states [elements, W] of all elements, in the order of
    their ids; ``pairs`` [elements, elements, W] are codes of what two share, as far as they are chosen."""

    weight: FloatArray
    cell: IntArray
    pairs: Codes | None = None


class Chooser(Protocol):
    """How the cells of all elements are chosen, at a joint state of what is about no element."""

    def total(self, g: int) -> float:
        """The log weight of all choices together."""

    def cells_of(self, g: int, count: int) -> Chosen:
        """So many choices."""


def choose_cells(base: Base, chooser: Chooser, pick: Pick, count: int) -> tuple[Worlds, FloatArray]:
    """So many worlds, and the log weight [count] of what was chosen for each. Raises NoWorldError."""
    tops = []
    for g in range(base.states):
        check()
        tops.append(base.alone[g] + chooser.total(g))
    if max(tops) == -np.inf:
        raise NoWorldError(Diagnostic("no world is possible", None))
    alone = np.sort(pick.many(np.array(tops), count))
    cell = np.zeros((len(base.rules.universe.ids), count), dtype=np.int32)
    weight = np.zeros(count)
    pairs = []
    for g in np.unique(alone).tolist():
        here = np.flatnonzero(alone == g)
        chosen = chooser.cells_of(g, len(here))
        cell[:, here] = chosen.cell
        weight[here] = base.alone[g] + chosen.weight
        pairs += [] if chosen.pairs is None else [chosen.pairs]
    order = pick.shuffled(np.arange(count)[None])[0]
    shared = np.concatenate(pairs, axis=2)[:, :, order] if pairs else None
    return Worlds(alone[order], cell[:, order], shared), weight[order]


class HistogramCells:
    """First a histogram is chosen, then which elements are in which cell of it."""

    def __init__(self, structure: Structure, pick: Pick) -> None:
        self.structure, self._pick = structure, pick
        self._kept: tuple[int, Histograms] | None = None

    def total(self, g: int) -> float:
        """See `Chooser`."""
        logs = self._histograms(g).logs
        return self._pick.total(logs) if len(logs) else -np.inf

    def cells_of(self, g: int, count: int) -> Chosen:
        """See `Chooser`."""
        base, found = self.structure.base, self._histograms(g)
        flat = self._pick.many(found.logs, count)
        cell = np.zeros((len(base.rules.universe.ids), count), dtype=np.int64)
        for unit, which in zip(found.units, found.which, strict=True):
            for group, counts in _split(unit, unit.sum.counts[which[flat]], self._pick):
                members = np.flatnonzero(base.group_of == group)
                step = max(1, _TOGETHER // len(members))
                for low in range(0, count, step):
                    check()
                    some = slice(low, low + step)
                    cell[members, some] = _cells(self.structure, g, group, counts[some], self._pick).T
        return Chosen(found.logs[flat], cell)

    def _histograms(self, g: int) -> Histograms:
        if self._kept is None or self._kept[0] != g:
            self._kept = g, histograms(self.structure, g, self._pick.plus)
        return self._kept[1]


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
    return joint_states(structure.merged[base.kind[group]], base.own[group][g], pick.shuffled(cells), pick)


def joint_states(merged: IntArray, own: FloatArray, cells: IntArray, pick: Pick) -> IntArray:
    """One of the joint states of elements that are their cells, of any shape; ``merged`` [C] is the cell of
    each joint state, ``own`` [C] its log weight."""
    inside = merged[None, :] == np.arange(int(merged.max()) + 1)[:, None]
    return pick.rows(np.where(inside, own[None], -np.inf), cells)
