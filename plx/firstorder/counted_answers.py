"""Answers to queries where members count others: those that a query mentions are kept till the end."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from plx.firstorder.answers import Found, Joint
from plx.firstorder.counted_sums import CountedSums
from plx.firstorder.counters import DEAD
from plx.firstorder.questions import Pattern
from plx.firstorder.refusal import NotLiftableError, shown
from plx.values import FloatArray, IntArray

_MOST_KEPT = 2
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
        if len(self.elements) == 2:  # what two share counts for each, whether it is asked for or not
            self.pairs = [(self.elements[0], self.elements[1])]

    def logs(self) -> tuple[FloatArray, dict[int, IntArray]]:
        base, cells = self.base, self.cells
        groups = [base.group(element) for element in self.elements]
        kinds = [base.kind[group] for group in groups]
        whole = base.alone - self.log_z
        sums = [whole[g] + self.sums.log_sums(g, groups, self.distinct) for g in range(base.states)]
        logs = np.stack(sums)
        for i, kind in enumerate(kinds):
            logs = np.take(logs, cells.merged[kind], axis=1 + 2 * i)
        owns = [self.units.own(element) for element in self.elements]
        if not self.elements:
            return logs, self.where([])
        if len(self.elements) == 1:
            ends = logs + cells.accepts[kinds[0]][None, :, :, None]
            return np.logaddexp.reduce(ends, axis=2) + owns[0][..., None], self.where([])
        joint, nodes = self.units.joint(*self.elements)
        self.refuse_large(joint.size * cells.counters.size * logs.shape[-1])
        joint = joint + owns[0][:, :, None, None] + owns[1][:, None, :, None]
        where = self.where([nodes])
        out = np.full((*joint.shape, logs.shape[-1]), -np.inf)
        codes, ups = self._codes(where, joint.shape)
        for code in np.unique(codes).tolist():
            first, second = (self._accept(kind, up) for kind, up in zip(kinds, ups[code], strict=True))
            ends = logs + first[None, :, :, None, None, None] + second[None, None, None, :, :, None]
            total = np.logaddexp.reduce(ends, axis=(2, 4))[:, :, :, None]
            out = np.where((codes == code)[..., None], joint[..., None] + total, out)
        return out, where

    def _accept(self, kind: int, up: tuple[int, ...]) -> FloatArray:
        """The log weight [C, S] of states of counts that go up once more."""
        counters, accept = self.cells.counters, self.cells.accepts[kind]
        after = np.array([counters.after(state, up) for state in range(counters.size)])
        return np.where(after == DEAD, -np.inf, accept[:, np.maximum(after, 0)])

    def _codes(
        self, where: dict[int, IntArray], shape: tuple[int, ...]
    ) -> tuple[IntArray, list[tuple[tuple[int, ...], tuple[int, ...]]]]:
        """Which counts go up at every joint state, and by how much for each number."""
        counters = self.cells.counters
        labels, sides = counters.labels(self.units, *self.elements)
        codes = np.zeros((1,) * (len(shape) + 1), dtype=np.int64)
        for table, count in labels:
            codes = codes * count + (table.at(where) if table.nodes else table.entries)
        return np.broadcast_to(codes[..., 0], shape), counters.ups(sides)
