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

    ``number`` [cells] is the one of each of `CountedCells`, ``sample`` one of these of each.
    """

    def __init__(self, cells: CountedCells, merges: bool) -> None:
        self.cells, self.base = cells, cells.base
        kinds = range(self.base.kinds)
        alone = [np.arange(cells.sizes[kind]) for kind in kinds]
        parts = [self._merged(kind) if merges else alone[kind] for kind in kinds]
        parts = [part if self._alike(kind, part) else alone[kind] for kind, part in enumerate(parts)]
        self.sizes = [int(part.max()) + 1 for part in parts]
        self.offset: list[int] = [0, *np.cumsum(self.sizes).tolist()]
        self.number = np.concatenate([part + low for part, low in zip(parts, self.offset[:-1], strict=True)])
        self.sample: IntArray = np.unique(self.number, return_index=True)[1]
        self.live = cells.first[self.sample] != DEAD

    def own(self, g: int, group: int) -> FloatArray:
        """The log weight [m] of the cells of a group, -inf for those in which no one can be."""
        kind = self.base.kind[group]
        return _sums(self._numbers(kind), self._fine(g, group))

    def start(self, g: int, cell: int) -> FloatArray:
        """The log weights [S] of the states in which an element of a cell begins, their sum 0."""
        kind = int(np.searchsorted(self.offset, cell, side="right")) - 1
        mine = np.flatnonzero(self.number == cell)
        own = self._fine(g, self.base.kind.index(kind))[mine - self.cells.offset[kind]]
        out = np.full(self.cells.counters.size, -np.inf)
        if len(mine) == 1:  # which may be one of other groups alone
            own = np.zeros(1)
        np.logaddexp.at(out, self.cells.first[mine], own - np.logaddexp.reduce(own))
        return out

    def _numbers(self, kind: int) -> IntArray:
        low, high = self.cells.offset[kind], self.cells.offset[kind + 1]
        found: IntArray = self.number[low:high] - self.offset[kind]
        return found

    def _fine(self, g: int, group: int) -> FloatArray:
        """The log weight [m] of each of the cells of `CountedCells` of a group."""
        kind = self.base.kind[group]
        first = self.cells.first[self.cells.offset[kind] : self.cells.offset[kind + 1]]
        return np.where(first == DEAD, -np.inf, self.cells.own(group)[g])

    def _merged(self, kind: int) -> IntArray:
        whole = self.cells.alike(kind, first=False)[self.cells.sample[kind]]
        found: IntArray = np.unique(whole, return_inverse=True)[1].ravel()
        return found

    def _alike(self, kind: int, part: IntArray) -> bool:
        """Whether all elements of a kind begin with the same weights, given their cell."""
        for g in range(self.base.states):
            rest = []
            for group in self.base.groups_of(kind):
                fine = self._fine(g, group)
                whole = _sums(part, fine)[part]
                rest.append(np.exp(fine - np.where(np.isfinite(whole), whole, 0.0)))
            if not all(np.allclose(rest[0], one, rtol=0, atol=1e-15) for one in rest):
                return False
        return True


def _sums(part: IntArray, fine: FloatArray) -> FloatArray:
    """Log sums of weights by their part."""
    out = np.full(int(part.max()) + 1, -np.inf)
    np.logaddexp.at(out, part, fine)
    return out
