"""Cells with exact weights, as whole numbers over common denominators.

Every pair of elements and every element adds one factor to each world. So what their denominators have in
common is taken out once, and the sums are over whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from plx.firstorder.base import Base
from plx.firstorder.counters import DEAD, CountersOf
from plx.firstorder.exact.integers import Integer, integer
from plx.firstorder.exact.ratio import ObjectArray, odds
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.totals import Totals

Ups = tuple[int, ...]

_MOST_LABELS = 10


@dataclass(frozen=True, eq=False)
class ExactCells:
    """The cells of all kinds, numbered throughout; at one joint state of what is about no element.

    Where pairs are counted a weight is a polynomial in 2 to the power of ``bits``, its coefficients the
    weights by how many are counted: these are far enough apart to be read off a sum of products.

    ``own[group]`` are the weights of the cells of its kind, ``pair[c, d]`` what elements of two cells may
    share: by how much their counts go up, and the weight. ``accept[c]`` are the weights of final states of
    counts, ``first[c]`` the state before others are met, ``added[group][c]`` what the cell adds to each total
    that rules ask for. The sum is to be divided by ``denominator``.
    """

    own: list[dict[int, Integer]]
    pair: dict[tuple[int, int], list[tuple[Ups, Ups, Integer]]]
    accept: list[list[Integer]]
    first: list[int]
    added: list[dict[int, tuple[int, ...]]]
    denominator: int
    bits: int


class Weights:
    """Exact weights of elements and pairs, as fractions."""

    def __init__(self, base: Base, totals: Totals, counters: CountersOf | None) -> None:
        self.base, self.totals, self.counters = base, totals, counters
        self.number = next(iter(totals.ruled_of_pairs), None)
        self.of_elements = [n for n in range(totals.ruled) if totals.all[n].pairs is None]
        self.own = [odds(own) for own in base.own]
        self.options = {pair: self._options(*pair) for pair in base.pairs}
        kinds = range(base.kinds)
        sizes = [base.units.cells(base.samples[kind][0])[0] for kind in kinds]
        ones = [np.full((n, 1), Fraction(1), dtype=object) for n in sizes]
        self.accept = [odds(counters.accept(k)) for k in kinds] if counters else ones
        self.first = [counters.first(k).tolist() if counters else [0] * sizes[k] for k in kinds]

    def _options(self, a: int, b: int) -> dict[tuple[Ups, Ups], ObjectArray]:
        base, counters = self.base, self.counters
        if counters is None and self.number is not None:
            pairs = self.totals.all[self.number].pairs
            assert pairs is not None
            return {((), ()): odds(pairs.weights[a, b])}
        if counters is None:
            return {((), ()): odds(base.pairs[a, b])[..., None]}
        x, y = base.samples[a][0], base.samples[b][-1]
        labels, sides = counters.labels(base.units, x, y)
        if len(labels) > _MOST_LABELS:
            raise NotLiftableError("two members have too many counts of each other")
        weights = odds(base.units.pair(x, y, labels))
        found: dict[tuple[Ups, Ups], ObjectArray] = {}
        for code, ups in enumerate(counters.ups(sides)):
            one = weights[..., code if labels else 0, None]
            found[ups] = found[ups] + one if ups in found else one
        if base.rules.ordered is not None:
            raise NotLiftableError("rules with counts ask for the order of members", base.rules.ordered)
        return found

    def cells(self, g: int, bits: int = 0) -> ExactCells:
        """The cells at a joint state of what is about no element; without ``bits`` no pairs are counted."""
        base, kinds = self.base, range(self.base.kinds)
        merged = [self._merged(g, kind) for kind in kinds]
        start = np.cumsum([0, *(len(sample) for _, sample in merged)]).tolist()
        samples = [sample for _, sample in merged]
        of_own = [one[g].ravel().tolist() for one in self.own]
        of_pair = [w[g].ravel().tolist() for found in self.options.values() for w in found.values()]
        by_own, by_pair = (common(x for some in lists for x in some) for lists in (of_own, of_pair))
        by_accept = common(x for accept in self.accept for x in accept.ravel().tolist())
        own: list[dict[int, Integer]] = []
        added = []
        for group, kind in enumerate(base.kind):
            sums: dict[int, Fraction | int] = {}
            for state, weight in enumerate(of_own[group]):
                cell = start[kind] + merged[kind][0][state]
                if weight and self.first[kind][state] != DEAD:
                    sums[cell] = sums.get(cell, 0) + weight * (1 << bits * self._counted(g, group, state))
            own.append({cell: integer(int(weight * by_own)) for cell, weight in sums.items()})
            added.append({start[kind] + m: self._added(g, group, s) for m, s in enumerate(samples[kind])})
        pair = {}
        for (a, b), options in self.options.items():
            for i, s in enumerate(samples[a]):
                for j, t in enumerate(samples[b]):
                    found = [
                        (up, to, integer(_polynomial(w[g, s, t], by_pair, bits)))
                        for (up, to), w in options.items()
                    ]
                    found = [one for one in found if one[2]]
                    pair[start[a] + i, start[b] + j] = found
                    if a != b:
                        pair[start[b] + j, start[a] + i] = [(to, up, w) for up, to, w in found]
        n = sum(base.count)
        return ExactCells(
            own,
            pair,
            [[integer(int(x * by_accept)) for x in self.accept[k][s]] for k in kinds for s in samples[k]],
            [self.first[k][s] for k in kinds for s in samples[k]],
            added,
            (by_own * by_accept) ** n * by_pair ** (n * (n - 1) // 2),
            bits,
        )

    def _added(self, g: int, group: int, state: int) -> tuple[int, ...]:
        return tuple(int(self.totals.all[number].of[group][g, state]) for number in self.of_elements)

    def _counted(self, g: int, group: int, state: int) -> int:
        """What an element by itself adds to the count of pairs."""
        return 0 if self.number is None else int(self.totals.all[self.number].of[group][g, state])

    def _merged(self, g: int, kind: int) -> tuple[list[int], list[int]]:
        """The number of the cell of each joint state, and a joint state of each cell."""
        base = self.base
        groups = [number for number, of in enumerate(base.kind) if of == kind]
        seen: dict[object, int] = {}
        number: list[int] = []
        sample: list[int] = []
        for state in range(len(self.first[kind])):
            key: list[object] = [self.first[kind][state], tuple(self.accept[kind][state])]
            key += [self._added(g, group, state) for group in groups]
            for (a, b), options in self.options.items():
                for weights in options.values():
                    key += [tuple(weights[g, state].ravel())] if a == kind else []
                    key += [tuple(weights[g, :, state].ravel())] if b == kind else []
            at = seen.setdefault(tuple(key), len(seen))
            if at == len(sample):
                sample.append(state)
            number.append(at)
        return number, sample


def _polynomial(weights: ObjectArray, denominator: int, bits: int) -> int:
    """Weights [J] times a denominator, as the coefficients of a number in base 2 to the power of ``bits``."""
    return sum(int(weight * denominator) << bits * j for j, weight in enumerate(weights.tolist()))


def common(numbers: Iterable[Fraction]) -> int:
    """The least common multiple of denominators."""
    return math.lcm(*{x.denominator for x in numbers})
