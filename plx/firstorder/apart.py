"""Sums over worlds in which what one member counts of another says nothing of what that one counts of it.

Given a histogram of cells, the counts of different members are then independent of each other: each is a
vector of states times powers of small matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from plx.deadline import check
from plx.firstorder.counted_cells import CountedCells, Options, Ups
from plx.firstorder.counted_histograms import CountedHistograms, Inner
from plx.firstorder.counters import DEAD
from plx.firstorder.logs import log_power, log_product, times
from plx.values import FloatArray, IntArray

Side = dict[Ups, FloatArray]
"""By how much the counts of one element go up → log weights [G, C, C'], its cell first."""


class Apart(CountedHistograms):
    """For counts whose log weights between two elements are sums of one for each of them."""

    merges = True

    def __init__(self, cells: CountedCells, sides: dict[tuple[int, int], tuple[Side, Side]]) -> None:
        super().__init__(cells)
        self._sides = sides
        self._matrices: dict[tuple[int, int, int], FloatArray] = {}

    @classmethod
    def of(cls, cells: CountedCells) -> Apart | None:
        """The sums, None where they are not of this form, or too large."""
        sides = {(a, b): _sides(options, a == b) for (a, b), options in cells.options.items()}
        known = {pair: side for pair, side in sides.items() if side is not None}
        found = cls(cells, known)
        return found if len(known) == len(sides) and found.fits else None

    @property
    def steps(self) -> float:
        """About how many terms one sum has."""
        cells, size = len(self.crowd.sample), self.cells.counters.size
        squarings = math.log2(2 + sum(self.members))
        return self.histograms * float(cells * cells * size * size) * 2 * squarings

    def terms(self, kinds: Sequence[int]) -> float:
        """About how many terms all sums have with one element of each of some kinds kept."""
        cells, size = len(self.crowd.sample), self.cells.counters.size
        places = math.prod(self.cells.sizes[kind] for kind in kinds)
        return 2 * self.steps + places * self.histograms * float(cells * size * size) * len(kinds)

    def over(self, g: int, counts: IntArray) -> Inner:
        """As in `CountedHistograms`: each member by itself."""
        return _Met(self, g, counts).inner

    def met(self, g: int, cell: int, start: FloatArray, others: IntArray) -> FloatArray:
        """The log weights [N, S] of the states of an element of a cell that has met so many of each cell of
        the crowd, where it begins with some [S]."""
        check()
        vectors = np.tile(start, (len(others), 1))
        for count, other in zip(others.T, self.crowd.sample.tolist(), strict=True):
            if count.any():
                vectors = log_power(vectors, self.matrix(g, cell, other), count)
        return vectors

    def matrix(self, g: int, cell: int, other: int) -> FloatArray:
        """Logs [S, S] of what meeting one of another cell does to the states of an element of a cell."""
        key = g, cell, other
        if key not in self._matrices:
            cells, counters = self.cells, self.cells.counters
            kind, of = cells.kind_of(cell), cells.kind_of(other)
            mine, theirs = cells.state(cell), cells.state(other)
            side = self._sides[kind, of][0] if (kind, of) in self._sides else None
            if side is None and (of, kind) in self._sides:
                side = self._sides[of, kind][1]
            out = np.full((counters.size, counters.size), -np.inf)
            for up, weights in ({} if side is None else side).items():
                for state in range(counters.size):
                    after = counters.after(state, up)
                    if after != DEAD:
                        out[state, after] = np.logaddexp(out[state, after], weights[g, mine, theirs])
            self._matrices[key] = out
        return self._matrices[key]


class _Met:
    """The states of those who have met all that are not kept, given histograms ``counts`` [N, cells]."""

    def __init__(self, sums: Apart, g: int, counts: IntArray) -> None:
        self.sums, self.g, self.counts = sums, g, counts
        self._kept: dict[int, FloatArray] = {}

    @cached_property
    def ends(self) -> dict[int, FloatArray]:
        """By cell of the crowd, the states [N, S] of one of its elements."""
        found, crowd = {}, self.sums.crowd
        for cell, sample in enumerate(crowd.sample.tolist()):
            if crowd.live[cell] and self.counts[:, cell].any():
                others = self.counts.copy()
                others[:, cell] = np.maximum(others[:, cell] - 1, 0)
                found[cell] = self.sums.met(self.g, sample, crowd.start(self.g, cell), others)
        return found

    def kept(self, cell: int) -> FloatArray:
        """The states [N, S] of one more element, of a cell."""
        if cell not in self._kept:
            start = np.full(self.sums.cells.counters.size, -np.inf)
            start[self.sums.cells.first[cell]] = 0.0
            self._kept[cell] = self.sums.met(self.g, cell, start, self.counts)
        return self._kept[cell]

    def inner(self, kept: Sequence[int]) -> FloatArray:
        """As in `CountedHistograms.over`."""
        sums, total = self.sums, np.zeros(len(self.counts))
        for cell, ends in self.ends.items():
            sample = int(sums.crowd.sample[cell])
            for one in kept:
                ends = log_product(ends, sums.matrix(self.g, sample, one))
            ends = np.logaddexp.reduce(ends + sums.cells.accept[sample], axis=1)
            total += times(self.counts[:, cell], ends)
        out = total[:, None]
        for one in kept:
            out = (out[:, :, None] + self.kept(one)[:, None, :]).reshape(len(total), -1)
        return out


def _sides(options: Options, same: bool) -> tuple[Side, Side] | None:
    """Log weights whose sums are those of two elements, and alike for those of the same kind; None if there
    are none."""
    ups = sorted({up for up, _ in options})
    tos = sorted({to for _, to in options})
    shape = next(iter(options.values())).shape
    never = np.full(shape, -np.inf)
    grid = np.array([[options.get((up, to), never) for to in tos] for up in ups])
    flat = grid.reshape(len(ups) * len(tos), -1)
    best = flat.argmax(axis=0)
    at = np.arange(flat.shape[1])
    table = grid.reshape(len(ups), len(tos), -1)
    row, column = np.divmod(best, len(tos))
    top = table[row, column, at]
    mine = table[:, column, at]
    theirs = table[row, :, at].T - np.where(np.isfinite(top), top, 0.0)
    again = mine[:, None] + theirs[None]
    finite = np.isfinite(table)
    if (finite != np.isfinite(again)).any():
        return None
    if (np.abs(np.where(finite, table, 0.0) - np.where(finite, again, 0.0)) > 1e-13).any():
        return None
    back = {to: theirs[i].reshape(shape).transpose(0, 2, 1).astype(np.float64) for i, to in enumerate(tos)}
    there = {up: mine[i].reshape(shape).astype(np.float64) for i, up in enumerate(ups)}
    if same:  # which of the two has the constant does not matter: half each
        there = back = {up: 0.5 * (there[up] + back[up]) for up in ups}
    return there, back
