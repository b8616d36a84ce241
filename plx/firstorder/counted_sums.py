"""The sums over worlds of a program whose members count each other, by the way that takes least."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from plx.firstorder.apart import Apart
from plx.firstorder.counted_cells import CountedCells
from plx.firstorder.mutual import Mutual
from plx.firstorder.turns import Turns
from plx.numerals import counted
from plx.values import FloatArray


class CountedSums:
    """Sums are kept: several queries may need the same."""

    def __init__(self, cells: CountedCells) -> None:
        self.cells = cells
        self.way = Apart.of(cells) or Mutual.of(cells) or Turns(cells)
        self._known: dict[tuple[int, tuple[int, ...], tuple[int, ...]], FloatArray] = {}

    def log_sums(self, g: int, groups: Sequence[int], numbers: Sequence[int] = ()) -> FloatArray:
        """Log sums [m, S, …, T] by the cells and states of one element of each of some groups, once all
        others are gone, and by the joint values of some totals, in C order. These elements' own weights, and
        what they share, are left out."""
        key = g, tuple(groups), tuple(numbers)
        if key not in self._known:
            self._known[key] = self.way.log_sums(g, groups, numbers)
        return self._known[key]

    @cached_property
    def log_z(self) -> float:
        """The log of the sum over all worlds."""
        base = self.cells.base
        return float(
            np.logaddexp.reduce([base.alone[g] + float(self.log_sums(g, ())[0]) for g in range(base.states)])
        )

    @property
    def operations(self) -> float:
        """About how many numbers are added."""
        if not isinstance(self.way, Turns):
            return 2.0 * self.way.steps * self.cells.base.states
        return 2.0 * self.way.steps  # about, as which states can be reached is not known before

    @property
    def words(self) -> str:
        """How the sum is done."""
        if isinstance(self.way, Turns):
            return f"taken out one by one, in {self.way.classes:,} classes of cells and counts"
        how = "" if isinstance(self.way, Apart) else ", those with no one first"
        cells = counted(sum(self.way.crowd.sizes), "cell")
        histograms = counted(round(self.way.histograms), "histogram")
        return f"summed over {histograms} of {cells} with counts{how}"
