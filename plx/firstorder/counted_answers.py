"""Answers to queries where members count others: those that a query mentions are kept till the end."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from plx.deadline import check
from plx.firstorder.answers import Found, Joint, spread
from plx.firstorder.counted_sums import CountedSums
from plx.firstorder.counters import DEAD
from plx.firstorder.questions import Pattern
from plx.firstorder.refusal import NotLiftableError, shown
from plx.values import FloatArray, IntArray

_MOST_KEPT = 3
"""Elements of one query."""


class CountedAnswers:
    """The answers to patterns of queries, as `plx.firstorder.answers.Answers`."""

    def __init__(self, sums: CountedSums) -> None:
        self.sums = sums
        self.base, self.totals = sums.cells.base, sums.cells.totals

    def refuse(self, pattern: Pattern) -> None:
        """Raises NotLiftableError for a query about too many elements."""
        if len(pattern.elements) > _MOST_KEPT:
            span = pattern.query.span
            raise NotLiftableError(f"{shown(span)} is about more than {_MOST_KEPT:,} members by name", span)
        kinds = [self.base.kind[self.base.group(element)] for element in pattern.elements]
        self.sums.way.refuse(kinds, pattern.numbers)

    @cached_property
    def log_z(self) -> float:
        """The log of the sum over all worlds."""
        return self.sums.log_z

    def operations(self, patterns: int) -> float:
        """About how many numbers are added, however many patterns of queries there are."""
        return self.sums.operations

    @property
    def words(self) -> str:
        """How the sum is done."""
        return self.sums.words

    def answer(self, pattern: Pattern) -> Found:
        """The distribution that a query asks for. Raises NotLiftableError where it is too large."""
        return _CountedJoint(self, pattern).found()


class _CountedJoint(Joint):
    def __init__(self, answers: CountedAnswers, pattern: Pattern) -> None:
        super().__init__(answers.base, answers.totals, pattern, answers.log_z)
        self.sums, self.cells = answers.sums, answers.sums.cells
        # What two of them share counts for each, whether it is asked for or not.
        self.pairs = [*itertools.combinations(self.elements, 2)]

    def logs(self) -> tuple[FloatArray, dict[int, IntArray]]:
        base, cells, size = self.base, self.cells, len(self.elements)
        groups = [base.group(element) for element in self.elements]
        kinds = [base.kind[group] for group in groups]
        whole = base.alone - self.log_z
        sums = [whole[g] + self.sums.log_sums(g, groups, self.distinct) for g in range(base.states)]
        logs = np.stack(sums)
        for i, kind in enumerate(kinds):
            logs = np.take(logs, cells.merged[kind], axis=1 + 2 * i)
        joints = [self.units.joint(a, b) for a, b in self.pairs]
        shared = [joint.shape[3] for joint, _ in joints]
        shape = (base.states, *logs.shape[1:-1:2], *shared, 1)
        self.refuse_large(math.prod(map(float, (*shape, cells.counters.size, logs.shape[-1]))))
        where = self.where([nodes for _, nodes in joints])
        known = np.zeros(shape)
        for i, element in enumerate(self.elements):
            known = known + spread(self.units.own(element), (0, 1 + i), len(shape))
        places = [*itertools.combinations(range(size), 2)]
        for p, ((a, b), (joint, _)) in enumerate(zip(places, joints, strict=True)):
            known = known + spread(joint, (0, 1 + a, 1 + b, 1 + size + p), len(shape))
        out = np.full((*shape[:-1], logs.shape[-1]), -np.inf)
        found = [self._codes(pair, where, shape) for pair in self.pairs]
        for chosen in itertools.product(*(np.unique(codes).tolist() for codes, _ in found)):
            check()
            more = np.zeros((size, len(cells.counters.sizes)), dtype=np.int64)
            mine = np.ones((1,) * len(shape), dtype=bool)
            for (a, b), (codes, ups), code in zip(places, found, chosen, strict=True):
                more[[a, b]] += ups[code]
                mine = mine & (codes == code)
            total = self._ended(logs, kinds, more)
            total = total.reshape(*total.shape[:-1], *[1] * len(shared), -1)
            out = np.where(mine, known + total, out)
        return out, where

    def _ended(self, logs: FloatArray, kinds: Sequence[int], more: IntArray) -> FloatArray:
        """Log sums [G, C …, T] over the states of the counts of all elements, which go up once ``more``."""
        for i, kind in enumerate(kinds):
            ends = self._accept(kind, tuple(more[i].tolist()))
            logs = logs + spread(ends, (1 + 2 * i, 2 + 2 * i), logs.ndim)
        found: FloatArray = np.logaddexp.reduce(logs, axis=tuple(range(2, logs.ndim - 1, 2)))
        return found

    def _accept(self, kind: int, up: tuple[int, ...]) -> FloatArray:
        """The log weight [C, S] of states of counts that go up once more."""
        counters, accept = self.cells.counters, self.cells.accepts[kind]
        after = np.array([counters.after(state, up) for state in range(counters.size)])
        return np.where(after == DEAD, -np.inf, accept[:, np.maximum(after, 0)])

    def _codes(
        self, pair: tuple[int, ...], where: dict[int, IntArray], shape: tuple[int, ...]
    ) -> tuple[IntArray, list[tuple[tuple[int, ...], tuple[int, ...]]]]:
        """Which counts go up at every joint state, and by how much those of each of two for each number."""
        counters = self.cells.counters
        labels, sides = counters.labels(self.units, *pair)
        codes = np.zeros((1,) * len(shape), dtype=np.int64)
        for table, count in labels:
            codes = codes * count + (table.at(where) if table.nodes else table.entries)
        return codes, counters.ups(sides)
