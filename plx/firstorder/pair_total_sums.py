"""Sums over worlds by how many pairs satisfy a formula: histograms of cells, each with a polynomial.

The coefficient of t^k is the weight of the worlds in which k pairs do. Each pair is a polynomial of a few
terms by its cells, and so is each element; a histogram is a product of powers of these. Kuželka 2021,
*Weighted first-order model counting in the two-variable fragment with counting quantifiers*, evaluates such
polynomials at points, and interpolates. Degrees that rules do not tell apart are one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from plx.firstorder.base import Base, same
from plx.firstorder.counters import compressed
from plx.firstorder.limits import MOST_TURNS
from plx.firstorder.pair_totals import best_by_count
from plx.firstorder.polynomials import Factor, Ring
from plx.firstorder.refusal import NotLiftableError, shown
from plx.firstorder.totals import PairCounts, Total, Totals
from plx.firstorder.units import LongArray
from plx.infer.counting.compositions import compositions
from plx.values import FloatArray, IntArray

_MOST_HISTOGRAMS = 1e6

Slot = tuple[int, int]
"""A group and a cell."""


class PairTotalSums:
    """The sums for one total of pairs, and any of elements; ``resolved`` tells all of its values apart.
    ``best``: by the best of the joint states of what has a degree, for a most probable world; then it is the
    same who is in which cell."""

    best: ClassVar[bool] = False
    plus: ClassVar[np.ufunc] = np.logaddexp

    def __init__(self, base: Base, totals: Totals, number: int, resolved: bool) -> None:
        self.base, self.totals, self.number = base, totals, number
        self.total: Total = totals.all[number]
        assert self.total.pairs is not None
        self.pairs = self._pair_counts(self.total.pairs)
        self.ring = self._ring(resolved)
        self.merged = [self._merged(kind) for kind in range(base.kinds)]
        self.sample = [np.unique(merged, return_index=True)[1] for merged in self.merged]
        self._parts: dict[object, tuple[float, int, list[Factor]]] = {}
        n = len(base.rules.universe.ids)
        ways = np.zeros(n) if self.best else np.cumsum(np.log(np.arange(1.0, n + 1)))
        self._factorial = np.concatenate([[0.0], ways])

    @cached_property
    def histograms(self) -> float:
        """How many histograms there are, at one joint state of what is about no element."""
        found = 1.0
        for group, count in enumerate(self.base.count):
            cells = max(len(self._possible(g, group)) for g in range(self.base.states))
            found *= math.comb(count + cells - 1, cells - 1) if cells else 1
        return found

    @property
    def operations(self) -> float:
        """About how many numbers are added."""
        cells = sum(len(sample) for sample in self.sample)
        return self.base.states * self.histograms * (20.0 + cells * cells) * float(self.ring.size) ** 2

    def refuse(self) -> None:
        """Raises NotLiftableError where the sum is too long."""
        if self.histograms > _MOST_HISTOGRAMS or self.operations > 30 * MOST_TURNS:
            raise NotLiftableError(
                f"counts of pairs take {self.histograms:,.0f} histograms of cells, "
                f"each with a polynomial of {self.ring.size:,} terms"
            )

    def rest(self, g: int, kept: Sequence[Slot], numbers: Sequence[int]) -> FloatArray:
        """Log sums [T, S] over all elements but one in each of some slots, and all that these share with the
        others, by the joint values of some totals over elements and by degree. What those kept add to the
        former is in it; they have no weight of their own."""
        left = list(self.base.count)
        for group, _ in kept:
            left[group] -= 1
        out = np.full((math.prod(self.totals.sizes(numbers)), self.ring.size), -np.inf)
        for _, index, logs in self.terms(g, left, kept, numbers):
            out[index] = np.logaddexp(out[index], logs)
        return out

    def terms(
        self, g: int, left: Sequence[int], kept: Sequence[Slot], numbers: Sequence[int]
    ) -> Iterator[tuple[list[tuple[Slot, int]], int, FloatArray]]:
        """The histograms of so many elements of each group, as `rest`: how many are in each slot, the joint
        value of some totals over elements, and logs [S]."""
        sizes = self.totals.sizes(numbers)
        for counts, log in self._histograms(g, left):
            constant, shift, powers = self._polynomial(g, counts, kept)
            if constant == -np.inf:
                continue
            index = 0
            for number, size in zip(numbers, sizes, strict=True):
                every = [*counts, *((slot, 1) for slot in kept)]
                index = index * size + sum(n * self.added(g, slot, number) for slot, n in every)
            yield counts, index, self.ring.shifted(self.ring.product(powers), shift) + (constant + log)

    @property
    def used(self) -> list[int]:
        """The totals over elements that rules ask for."""
        return [n for n in range(self.totals.ruled) if self.totals.all[n].pairs is None]

    def weight(self, g: int) -> FloatArray:
        """The log weight [T, S] that rules give to the joint values of the totals ``used`` and to degrees, or
        [T, 1] where it is the same for all of these."""
        totals, ruled = self.totals, self.totals.ruled_of_pairs
        weight = totals.weight[g].reshape(totals.sizes(range(totals.ruled)))
        last = np.moveaxis(weight, ruled[0], -1)[..., : self.ring.size] if ruled else weight[..., None]
        found: FloatArray = last.reshape(-1, last.shape[-1])
        return found

    def added(self, g: int, slot: Slot, number: int) -> int:
        """What an element in a slot adds to a total over elements."""
        group, cell = slot
        return int(self.totals.all[number].of[group][g, self.sample[self.base.kind[group]][cell]])

    def _ring(self, resolved: bool) -> Ring:
        ruled, size = self.totals.ruled, self.total.most + 1
        if self.number >= ruled:
            return Ring(size, None, self.best) if resolved else Ring(1, 0, self.best)
        weight = self.totals.weight.reshape(self.base.states, *self.totals.sizes(range(ruled)))
        rows = np.moveaxis(weight, 1 + self.number, -1).reshape(-1, size)
        if not resolved:
            return Ring(*compressed(rows), self.best)
        last = int(np.flatnonzero(np.isfinite(rows).any(axis=0)).max(initial=0))
        return Ring(last + 1, None, self.best)

    def _pair_counts(self, pairs: PairCounts) -> PairCounts:
        return pairs

    def _merged(self, kind: int) -> IntArray:
        """Numbers of the joint states of an element: equal where no pair and no total of elements tells
        them apart."""
        base = self.base
        size = base.units.cells(base.samples[kind][0])[0]
        groups = [number for number, of in enumerate(base.kind) if of == kind]
        keys = [np.zeros((size, 1))]
        for (a, b), weights in self.pairs.weights.items():
            for axis in [*([1] if a == kind else []), *([2] if b == kind else [])]:
                keys.append(np.moveaxis(weights, axis, 0).reshape(size, -1).astype(np.float64))
        others = [total for total in self.totals.all if total.pairs is None]
        keys += [total.of[group].T.astype(np.float64) for total in others for group in groups]
        rows = np.ascontiguousarray(np.concatenate(keys, axis=1) + 0.0)
        seen: dict[bytes, int] = {}
        return np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows], dtype=np.int64)

    # -------------------------------------------------------------------- polynomials

    def own(self, g: int, slot: Slot) -> FloatArray:
        """The polynomial of one element in a slot."""
        group, cell = slot
        mine = self.merged[self.base.kind[group]] == cell
        logs, of = self.base.own[group][g, mine], self.total.of[group][g, mine]
        return np.array([self.plus.reduce(logs[of == d], initial=-np.inf) for d in range(of.max() + 1)])

    def pair(self, g: int, a: Slot, b: Slot) -> FloatArray:
        """The polynomial of what two elements in slots share."""
        kinds = self.base.kind[a[0]], self.base.kind[b[0]]
        c, d = (int(self.sample[kind][cell]) for kind, (_, cell) in zip(kinds, (a, b), strict=True))
        logs: LongArray = np.zeros(1, dtype=np.longdouble)
        if kinds in self.pairs.weights:
            logs = self.pairs.weights[kinds][g, c, d]
        elif kinds[::-1] in self.pairs.weights:
            logs = self.pairs.weights[kinds[::-1]][g, d, c]
        return logs.astype(np.float64)

    def _own(self, g: int, slot: Slot) -> tuple[float, int, list[Factor]]:
        """`own`, in factors."""
        if (g, slot) not in self._parts:
            self._parts[g, slot] = self._factors(self.own(g, slot))
        return self._parts[g, slot]

    def _pair(self, g: int, a: Slot, b: Slot) -> tuple[float, int, list[Factor]]:
        """`pair`, in factors."""
        if (g, a, b) not in self._parts:
            self._parts[g, a, b] = self._factors(self.pair(g, a, b))
        return self._parts[g, a, b]

    def _factors(self, logs: FloatArray) -> tuple[float, int, list[Factor]]:
        return self.ring.factors(logs) if np.isfinite(logs).any() else (-np.inf, 0, [])

    def _polynomial(
        self, g: int, counts: Sequence[tuple[Slot, int]], kept: Sequence[Slot]
    ) -> tuple[float, int, dict[Factor, int]]:
        """The polynomial of a histogram, with what elements that are kept share with those in it."""
        parts = [(self._own(g, slot), n) for slot, n in counts]
        for i, (slot, n) in enumerate(counts):
            parts += [(self._pair(g, slot, slot), n * (n - 1) // 2)] if n > 1 else []
            parts += [(self._pair(g, slot, other), n * m) for other, m in counts[i + 1 :]]
            parts += [(self._pair(g, slot, other), n) for other in kept]
        constant, shift, powers = 0.0, 0, dict[Factor, int]()
        for (log, degree, factors), often in parts:
            constant += often * log
            shift += often * degree
            for factor in factors:
                powers[factor] = powers.get(factor, 0) + often
        return constant, shift, powers

    # --------------------------------------------------------------------- histograms

    def _possible(self, g: int, group: int) -> list[int]:
        """The cells that an element of a group may be in."""
        merged = self.merged[self.base.kind[group]]
        return [int(cell) for cell in np.unique(merged[np.isfinite(self.base.own[group][g])])]

    def _histograms(self, g: int, left: Sequence[int]) -> Iterator[tuple[list[tuple[Slot, int]], float]]:
        """The histograms of so many elements of each group, and the log of the ways to have each."""
        choices = []
        for group, count in enumerate(left):
            cells = self._possible(g, group)
            if count and not cells:
                return
            rows = compositions(count, len(cells)) if count else np.zeros((1, 0), dtype=np.int64)
            ways = self._factorial[count] - self._factorial[rows].sum(axis=1)
            slots = [(group, cell) for cell in cells]
            choices.append([
                ([(slot, n) for slot, n in zip(slots, row, strict=False) if n], way)
                for row, way in zip(rows.tolist(), ways.tolist(), strict=True)
            ])  # fmt: skip
        for chosen in itertools.product(*choices):
            yield [pair for row, _ in chosen for pair in row], sum(way for _, way in chosen)


class BestPairTotalSums(PairTotalSums):
    """See `PairTotalSums`."""

    best: ClassVar[bool] = True
    plus: ClassVar[np.ufunc] = np.maximum

    def _pair_counts(self, pairs: PairCounts) -> PairCounts:
        laid = self.base.in_order
        best = {pair: best_by_count(units, pairs, x, y) for pair, (units, x, y) in laid.items()}
        for (a, b), weights in best.items():
            back = best.get((b, a))
            if back is not None and not same(weights, back.transpose(0, 2, 1, 3)):
                span = pairs.expr.span
                raise NotLiftableError(f"{shown(span)} counts by the order of members", span)
        return PairCounts(pairs.expr, pairs.env, best)
