"""Sums over worlds in which members need someone: `exists` over what two members share alike.

Whoever has no one among some members has nothing to do with any of them. So the worlds of some members in
which all of a set have no one are as many as those of the others in which each has someone; and these are
found by adding members one by one: the one that is added must be with all who had no one before. For alike
members that is O(n²) positive terms, in place of the alternating sums of inclusion and exclusion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plx.deadline import check
from plx.firstorder.counted_cells import CountedCells
from plx.firstorder.counted_histograms import CountedHistograms, Inner
from plx.firstorder.counters import DEAD
from plx.firstorder.logs import Pairs, log_power, times
from plx.values import FloatArray, IntArray

_NONE, _BOTH = ((0,), (0,)), ((1,), (1,))

_MOST_STEPS = 3e8
"""Terms that are added, a few nanoseconds each."""


class Mutual(CountedHistograms):
    """For one count per element that two elements share, and of which only whether it is 0 matters."""

    def __init__(self, cells: CountedCells) -> None:
        super().__init__(cells)
        self._done: dict[int, FloatArray] = {}
        self._known: dict[int, tuple[Pairs, Pairs]] = {}

    @classmethod
    def of(cls, cells: CountedCells) -> Mutual | None:
        """The sums, None where they are not of this form, or too long."""
        counters = cells.counters.counters
        if len(counters) != 1 or counters[0].states != 2 or counters[0].back != 1:
            return None
        if any(set(options) - {_NONE, _BOTH} for options in cells.options.values()):
            return None
        found = cls(cells)
        return found if found.fits and found.steps <= _MOST_STEPS else None

    @property
    def steps(self) -> float:
        """About how many terms one sum has."""
        shape = [n + 1 for n, c in zip(self.members, self.cells.sizes, strict=True) for _ in range(c)]
        kinds = zip(self.members, self.cells.sizes, strict=True)
        grid = math.prod(float(math.comb(n + c, c)) for n, c in kinds)
        return grid * float(math.prod(shape)) / 2.0 ** len(shape)

    def over(self, g: int, counts: IntArray) -> Inner:
        """As in `CountedHistograms`: those who have no one but the kept ones are summed over."""
        return lambda kept: self._inner(g, counts, kept)

    def _inner(self, g: int, counts: IntArray, kept: Sequence[int]) -> FloatArray:
        done, size = self._all_done(g), 1 << len(kept)
        accept, needy = self.cells.accept, self._needy
        with_kept = [self._with_kept(g, cell, kept) for cell in range(len(needy))]
        alone = needy if kept else [d for d in needy if accept[d, 0] > -np.inf]
        out = np.full((len(counts), size), -np.inf)
        start = np.full(size, -np.inf)
        start[sum(int(self.cells.first[cell]) << (len(kept) - 1 - i) for i, cell in enumerate(kept))] = 0.0
        for row, count in enumerate(counts):
            check()
            lone = _boxed(count, alone)
            rest = count - lone
            logs = self._choices(g, lone, count) + done[tuple(rest.T)] + times(rest, accept[:, 1]).sum(axis=1)
            vectors = np.broadcast_to(start, (len(lone), size)) + logs[:, None]
            for cell, (met, saved) in enumerate(with_kept):
                vectors = log_power(vectors, met, rest[:, cell])
                vectors = log_power(vectors, saved, lone[:, cell])
            out[row] = np.logaddexp.reduce(vectors, axis=0)
        return out

    @property
    def _needy(self) -> list[int]:
        """The cells of those who are not content by themselves."""
        return np.flatnonzero(self.cells.first == 0).tolist()

    def _pairs(self, g: int) -> tuple[Pairs, Pairs]:
        """The log weights of what two elements of any cells share, if it counts for neither, and for both."""
        if g not in self._known:
            self._known[g] = self._read(g)
        return self._known[g]

    def _read(self, g: int) -> tuple[Pairs, Pairs]:
        n = len(self.cells.first)
        none, both = np.full((n, n), -np.inf), np.full((n, n), -np.inf)
        for a in range(n):
            for b in range(n):
                for up, to, weight in self.cells.between(g, a, b):
                    (both if (up, to) == _BOTH else none)[a, b] = weight
        return Pairs(none), Pairs(both)

    def _choices(self, g: int, lone: IntArray, count: IntArray) -> FloatArray:
        """The log of the ways [N] to choose those who have no one, and of what they say of everyone."""
        none, _ = self._pairs(g)
        f = self.cells.factorial
        ways = (f[count] - f[lone] - f[count - lone]).sum(axis=1)
        found: FloatArray = ways + none.within(lone) + none.between(lone, count - lone)
        return found

    def _all_done(self, g: int) -> FloatArray:
        """The log weight of all ways in which everyone has someone, by how many there are of each cell; −inf
        for more than there are."""
        if g not in self._done:
            self._done[g] = self._fill(g)
        return self._done[g]

    def _fill(self, g: int) -> FloatArray:
        cells, needy = self.cells, self._needy
        none, both = self._pairs(g)
        some = Pairs(np.logaddexp(none.logs, both.logs))
        kind_of = np.array([cells.kind_of(cell) for cell in range(len(cells.first))])
        most = np.array(self.members)
        shape = (np.where(cells.first != DEAD, most[kind_of], 0) + 1).tolist()
        grid = np.indices(shape)
        rows = grid.reshape(len(shape), -1).T
        possible = np.ones(len(rows), dtype=bool)
        for kind, n in enumerate(self.members):
            possible &= rows[:, kind_of == kind].sum(axis=1) <= n
        out = np.full(len(rows), -np.inf)
        content = possible & (rows[:, needy] == 0).all(axis=1)
        out[content] = some.within(rows[content])
        out = out.reshape(shape)
        choices = _Choices(none, grid)
        ways = cells.factorial[grid].sum(axis=0)
        adding: dict[int, _Adding] = {}
        for count in rows[possible & ~content]:
            check()
            who = next(d for d in needy if count[d])
            if who not in adding:
                adding[who] = _Adding.of(who, some, none, both, rows, ways)
            mine, place = adding[who], tuple(count.tolist())
            count[who] -= 1
            each = [*enumerate(count.tolist())]
            lone = tuple(slice(n + 1) if d in needy else 0 for d, n in each)
            rest = tuple(slice(n, None, -1) if d in needy else n for d, n in each)
            logs = choices.of(lone, count) + mine.lone[lone]
            logs += out[rest]
            # If there is no one who had none, it needs one of the others.
            first = logs.flat[0] + mine.first[tuple(count)]
            logs += mine.rest[rest]
            logs.flat[0] = first
            out[place] = np.logaddexp.reduce(logs, axis=None) + float(cells.factorial[count].sum())
        return out

    def _with_kept(self, g: int, cell: int, kept: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """Logs of matrices [S, S] over the states of the kept elements: what one of a cell who has someone
        does to them, and one who has no one else."""
        none, both = (pairs.logs for pairs in self._pairs(g))
        size, accept = 1 << len(kept), self.cells.accept[cell]
        met, saved = (np.full((size, size), -np.inf) for _ in range(2))
        for state in range(size):
            for ups in range(size):
                log = 0.0
                for i, one in enumerate(kept):
                    log += float((both if ups >> (len(kept) - 1 - i) & 1 else none)[cell, one])
                to = state | ups
                met[state, to] = np.logaddexp(met[state, to], log)
                saved[state, to] = np.logaddexp(saved[state, to], log + accept[1 if ups else 0])
        return met, saved


class _Choices:
    """What those who have no one, all of ``grid`` [cells, …], say of each other and of all others."""

    def __init__(self, none: Pairs, grid: IntArray) -> None:
        self._none, self._grid = none, grid
        rows = grid.reshape(len(grid), -1).T.astype(np.float64)
        # Of l and of c - l: l'Nl / 2 within, and l'N(c - l) between, less what one would say of itself.
        self._finite, self._never = (
            (-0.5 * (((rows @ m) * rows).sum(axis=1) + rows @ np.diag(m))).reshape(grid.shape[1:])
            for m in (none.finite, none.never)
        )

    def of(self, lone: tuple[slice | int, ...], count: IntArray) -> FloatArray:
        """Log weights by who of so many have no one."""
        logs = self._said(lone, self._finite, self._none.finite @ count)
        if self._none.never.any():
            logs[self._said(lone, self._never, self._none.never @ count) > 0] = -np.inf
        return logs

    def _said(self, lone: tuple[slice | int, ...], own: FloatArray, by: FloatArray) -> FloatArray:
        found = own[lone]
        for cell, each in enumerate(by.tolist()):
            if each and isinstance(lone[cell], slice):
                found = found + each * self._grid[cell][lone]
        return found.copy()


@dataclass(frozen=True, eq=False)
class _Adding:
    """Adding one of a cell: log terms by who had no one before (``lone``), and by all others (``rest``), or
    by these if there is no one who had none (``first``)."""

    lone: FloatArray
    rest: FloatArray
    first: FloatArray

    @classmethod
    def of(cls, who: int, some: Pairs, none: Pairs, both: Pairs, rows: IntArray, ways: FloatArray) -> _Adding:
        """``rows`` [N, cells] are all histograms, and ``ways`` the log of the orders of each."""
        shape = ways.shape
        first = _not_none(none.between_one(who, rows), some, none, who, rows)
        return cls(
            both.between_one(who, rows).reshape(shape) - ways,
            some.between_one(who, rows).reshape(shape) - ways,
            first.reshape(shape) - ways,
        )


def _boxed(count: IntArray, cells: Sequence[int]) -> IntArray:
    """All histograms [N, cells] of at most so many in some cells, and none in others."""
    shape = [int(n) + 1 if cell in cells else 1 for cell, n in enumerate(count)]
    return np.indices(shape).reshape(len(shape), -1).T


def _not_none(logs: FloatArray, some: Pairs, none: Pairs, who: int, rest: IntArray) -> FloatArray:
    """The log weight of one meeting others, less that of having none of them, without cancellation."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = some.logs[who] - none.logs[who]
        excess = times(rest, np.where(np.isnan(ratio), 0.0, ratio)).sum(axis=1)
        found = np.where(excess > 1.0, excess + np.log1p(-np.exp(-excess)), np.log(np.expm1(excess)))
        whole = some.between_one(who, rest)
        return np.where(np.isfinite(logs), logs + found, whole)
