"""Answers where rules or queries ask how many pairs satisfy a formula."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from plx.firstorder.answers import Found, Joint, spread
from plx.firstorder.base import Base
from plx.firstorder.pair_total_sums import PairTotalSums
from plx.firstorder.pair_totals import added_by, counted_of, instances
from plx.firstorder.questions import Pattern
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.totals import Totals
from plx.numerals import counted
from plx.values import FloatArray, IntArray


class PairTotalAnswers:
    """The answers to patterns of queries, as `plx.firstorder.answers.Answers`."""

    def __init__(self, base: Base, totals: Totals) -> None:
        self.base, self.totals = base, totals
        self._sums: dict[tuple[int, bool], PairTotalSums] = {}

    def sums(self, pattern: Pattern | None) -> PairTotalSums:
        """The sums that a pattern needs; None for log Z. Raises NotLiftableError for two totals of pairs."""
        numbers = () if pattern is None else pattern.numbers
        asked = [n for n in numbers if self.totals.all[n].pairs is not None]
        over = list(dict.fromkeys([*self.totals.ruled_of_pairs, *asked]))
        if len(over) > 1:
            raise NotLiftableError("several different counts of pairs are asked for together")
        number = over[0] if over else self._any
        key = number, bool(asked)
        if key not in self._sums:
            self._sums[key] = PairTotalSums(self.base, self.totals, number, bool(asked))
        return self._sums[key]

    def refuse(self, pattern: Pattern) -> None:
        """Raises NotLiftableError for a query that takes too much."""
        self.sums(pattern).refuse()

    @cached_property
    def log_z(self) -> float:
        """The log of the sum over all worlds."""
        sums = self.sums(None)
        logs = [
            self.base.alone[g] + self.weighted(g, sums, sums.rest(g, (), sums.used))
            for g in range(self.base.states)
        ]
        return float(np.logaddexp.reduce(logs, axis=None))

    def operations(self, patterns: int) -> float:
        """About how many numbers are added, however many patterns of queries there are."""
        return self.sums(None).operations

    @property
    def words(self) -> str:
        """How the sum is done."""
        sums = self.sums(None)
        cells = counted(sum(len(sample) for sample in sums.sample), "cell")
        how = f"histograms of {cells}, each a polynomial of {counted(sums.ring.size, 'term')}"
        return f"summed over {sums.histograms:,.0f} {how}"

    def weighted(self, g: int, sums: PairTotalSums, logs: FloatArray) -> FloatArray:
        """Log sums [..., T, S] with the weights that rules give to totals: T are the joint values of those
        that they ask for, and then of others."""
        weight = sums.weight(g)[:, None]
        found: FloatArray = logs.reshape(*logs.shape[:-2], len(weight), -1, logs.shape[-1]) + weight
        return found.reshape(logs.shape)

    def answer(self, pattern: Pattern) -> Found:
        """The distribution that a query asks for. Raises NotLiftableError where it is too large."""
        return _PairTotalJoint(self, pattern).found()

    @property
    def _any(self) -> int:
        return next(n for n, total in enumerate(self.totals.all) if total.pairs is not None)


class _PairTotalJoint(Joint):
    def __init__(self, answers: PairTotalAnswers, pattern: Pattern) -> None:
        super().__init__(answers.base, answers.totals, pattern, answers.log_z)
        self.answers, self.sums = answers, answers.sums(pattern)
        self.pairs = [*itertools.combinations(self.elements, 2)]  # each may be counted, asked for or not

    def logs(self) -> tuple[FloatArray, dict[int, IntArray]]:
        joints = [self.units.joint(a, b) for a, b in self.pairs]
        where = self.where([nodes for _, nodes in joints])
        used = self.sums.used
        more = [n for n in self.distinct if n not in used and n != self.sums.number]
        wide = math.prod(float(self.units.cells(e)[0]) for e in self.elements)
        wide *= math.prod(float(joint.shape[3]) for joint, _ in joints)
        size = math.prod(self.totals.sizes(self.distinct)) * self.base.states * wide
        self.refuse_large(
            max(size, wide * self.sums.ring.size * math.prod(self.totals.sizes([*used, *more])))
        )
        return np.stack([self._at(g, joints, where, used, more) for g in range(self.base.states)]), where

    def _at(
        self, g: int, joints: Sequence[tuple[FloatArray, list[int]]], where: dict[int, IntArray],
        used: list[int], more: list[int],
    ) -> FloatArray:  # fmt: skip
        """The logs of the probabilities of all states at one joint state of what is about no element."""
        sums, count = self.sums, len(self.elements)
        groups = [self.base.group(element) for element in self.elements]
        axes = 1 + count + len(self.pairs)
        log = np.zeros((1,) * axes) + self.base.alone[g] - self.log_z
        for i, element in enumerate(self.elements):
            log = log + spread(self.units.own(element)[g], (i,), axes)
        for i, ((a, b), (joint, _)) in enumerate(zip(self.pairs, joints, strict=True)):
            places = (self.elements.index(a), self.elements.index(b), count + i)
            log = log + spread(joint[g], places, axes)
        added = self._added(where)[min(g, self._added(where).shape[0] - 1)]
        rest = self._rest(g, groups, [*used, *more])
        out = np.full((*np.broadcast_shapes(log.shape, added.shape)[:-1], self._size), -np.inf)
        for degree in np.unique(added).tolist():
            shifted = self.answers.weighted(g, sums, sums.ring.shifted(rest, degree))
            found = self._by_asked(shifted, used, more)
            found = found.reshape(*found.shape[:-1], *[1] * len(self.pairs), found.shape[-1])
            out = np.where(added == degree, log + found, out)
        return out

    @property
    def _size(self) -> int:
        return math.prod(self.totals.sizes(self.distinct))

    def _added(self, where: dict[int, IntArray]) -> IntArray:
        """What the elements of the query add to the total over pairs, [G, cells, shared, 1]."""
        pairs = self.sums.pairs
        tables = [t for e in self.elements for t in instances(self.units, pairs.expr, pairs.env, e, e)]
        for a, b in self.pairs:
            tables += counted_of(self.units, pairs.expr, pairs.env, a, b)
        axes = 2 + len(self.elements) + len(self.pairs)
        return np.zeros((1,) * axes, dtype=np.int64) + added_by(tables, where)

    def _rest(self, g: int, groups: Sequence[int], numbers: Sequence[int]) -> FloatArray:
        """Log sums [C, …, T, S] over all other elements, by the joint states of those of the query."""
        sums = self.sums
        kinds = [self.base.kind[group] for group in groups]
        shape = [len(sums.sample[kind]) for kind in kinds]
        out = np.full((*shape, math.prod(self.totals.sizes(numbers)), sums.ring.size), -np.inf)
        for cells in np.ndindex(*shape):
            out[cells] = sums.rest(g, [*zip(groups, cells, strict=True)], numbers)
        merged = [sums.merged[kind] for kind in kinds]
        return out[np.ix_(*merged)] if merged else out

    def _by_asked(self, logs: FloatArray, used: list[int], more: list[int]) -> FloatArray:
        """Log sums [..., T] by the totals that the query asks for, from those by all, and by degree."""
        number, numbers = self.sums.number, [*used, *more]
        lead = logs.ndim - 2
        grid = logs.reshape(*logs.shape[:-2], *self.totals.sizes(numbers), logs.shape[-1])
        if number in self.distinct:
            rest = self.sums.total.most + 1 - logs.shape[-1]
            grid = np.pad(grid, [(0, 0)] * (grid.ndim - 1) + [(0, rest)], constant_values=-np.inf)
        numbers = [*numbers, number]
        dropped = tuple(lead + i for i, n in enumerate(numbers) if n not in self.distinct)
        grid = np.asarray(np.logaddexp.reduce(grid, axis=dropped)) if dropped else grid
        left = [n for n in numbers if n in self.distinct]
        order = [*range(lead), *(lead + left.index(n) for n in self.distinct)]
        return grid.transpose(order).reshape(*logs.shape[:-2], -1)
