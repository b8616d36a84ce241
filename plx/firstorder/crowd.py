"""Cells of elements that no query is about: what differs in nothing but where counts begin is one cell.

Such an element begins with some weight in each of several states of its counts.
"""

from __future__ import annotations

import numpy as np

from plx.firstorder.counted_cells import CountedCells
from plx.firstorder.counters import DEAD
from plx.values import FloatArray, IntArray


class Crowd:
    """The cells of all kinds, numbered from ``offset[kind]``; ``sizes[kind]`` are there of each.

    ``number`` [cells] is the one of each of `CountedCells`, -1 where no one can be; ``sample`` one of these
    of each.
    """

    def __init__(self, cells: CountedCells, merges: bool) -> None:
        self.cells, self.base = cells, cells.base
        kinds = range(self.base.kinds)
        alone = [np.arange(cells.sizes[kind]) for kind in kinds]
        parts = [self._merged(kind) if merges else alone[kind] for kind in kinds]
        parts = [part if self._alike(kind, part) else alone[kind] for kind, part in enumerate(parts)]
        self.sizes = [int(part.max()) + 1 for part in parts]
        self.offset: list[int] = [0, *np.cumsum(self.sizes).tolist()]
        pairs = zip(parts, self.offset[:-1], strict=True)
        self.number = np.concatenate([np.where(part < 0, -1, part + low) for part, low in pairs])
        self.sample = np.array([int(np.argmax(self.number == n)) for n in range(self.offset[-1])], np.int64)
        self.live = cells.first[self.sample] != DEAD

    def own(self, g: int, group: int) -> FloatArray:
        """The log weight [m] of the cells of a group, -inf for those in which no one can be."""
        kind = self.base.kind[group]
        return _sums(self._numbers(kind), self._fine(g, group))

    def start(self, g: int, cell: int) -> FloatArray:
        """The log weights [S] of the states in which an element of a cell begins, their sum 0."""
        kind = int(np.searchsorted(self.offset, cell, side="right")) - 1
        mine = np.flatnonzero(self.number == cell)
        out = np.full(self.cells.counters.size, -np.inf)
        for group in self.base.groups_of(kind):  # all that can be in it begin alike
            own = self._fine(g, group)[mine - self.cells.offset[kind]]
            if np.isfinite(own).any():
                np.logaddexp.at(out, self.cells.first[mine], own - np.logaddexp.reduce(own))
                break
        return out

    def _numbers(self, kind: int) -> IntArray:
        low, high = self.cells.offset[kind], self.cells.offset[kind + 1]
        found: IntArray = np.maximum(self.number[low:high] - self.offset[kind], -1)
        return found

    def _fine(self, g: int, group: int) -> FloatArray:
        """The log weight [m] of each of the cells of `CountedCells` of a group."""
        kind = self.base.kind[group]
        first = self.cells.first[self.cells.offset[kind] : self.cells.offset[kind + 1]]
        return np.where(first == DEAD, -np.inf, self.cells.own(group)[g])

    def _merged(self, kind: int) -> IntArray:
        whole = self.cells.alike(kind, first=False)[self.cells.sample[kind]]
        states, groups = range(self.base.states), self.base.groups_of(kind)
        live = np.isfinite([self._fine(g, group) for g in states for group in groups]).any(axis=0)
        found = np.full(len(whole), -1)
        found[live] = np.unique(whole[live], return_inverse=True)[1].ravel()
        return found if live.any() else np.arange(len(whole))

    def _alike(self, kind: int, part: IntArray) -> bool:
        """Whether all elements of a kind begin with the same weights, given their cell."""
        for g in range(self.base.states):
            low, high = np.full(len(part), np.inf), np.full(len(part), -np.inf)
            for group in self.base.groups_of(kind):
                fine = self._fine(g, group)
                whole = _sums(part, fine)[part]
                inside = np.isfinite(whole)
                share = np.exp(fine[inside] - whole[inside])
                low[inside], high[inside] = np.minimum(low[inside], share), np.maximum(high[inside], share)
            if (high - low > 1e-15).any():
                return False
        return True


def _sums(part: IntArray, fine: FloatArray) -> FloatArray:
    """Log sums of weights by their part; those of part -1 are -inf."""
    out = np.full(int(part.max()) + 1, -np.inf)
    np.logaddexp.at(out, part, fine)
    return out
