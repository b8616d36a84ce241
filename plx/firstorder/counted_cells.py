"""Cells of elements that count others: joint states that no pair, no count and no total tells apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from plx.firstorder.base import Base
from plx.firstorder.counters import DEAD, CountersOf
from plx.firstorder.local import Table
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.totals import Totals
from plx.firstorder.units import LongArray
from plx.values import FloatArray, IntArray

Ups = tuple[int, ...]
Options = dict[tuple[Ups, Ups], LongArray]
"""By how much the counts of two elements go up → log weights [G, C, C']."""


class CountedCells:
    """The cells of every kind, numbered from ``offset[kind]``, and what they count of each other.

    ``merged[kind]`` [C] is the cell, within its kind, of each joint state of the unknowns of an element;
    ``accepts[kind]`` [C, S] and ``firsts[kind]`` [C] are as in `CountersOf`. ``best``: by the best of the
    joint states in a cell, and of what two elements share, for a most probable world; then it is the same who
    of a cell is who, so that ``factorial``, the logs of factorials, is 0.
    """

    best: ClassVar[bool] = False
    plus: ClassVar[np.ufunc] = np.logaddexp

    def __init__(self, base: Base, counters: CountersOf, totals: Totals) -> None:
        self.base, self.counters, self.totals = base, counters, totals
        self.options = {pair: self._options(*pair) for pair in base.pairs}
        self.accepts = [counters.accept(kind) for kind in range(base.kinds)]
        self.firsts = [counters.first(kind) for kind in range(base.kinds)]
        self.merged = [self.alike(kind) for kind in range(base.kinds)]
        self.sizes = [int(merged.max()) + 1 for merged in self.merged]
        self.sample = [np.unique(merged, return_index=True)[1] for merged in self.merged]
        self.offset = [0, *np.cumsum(self.sizes).tolist()]
        n = len(base.rules.universe.ids)
        ways = np.zeros(n) if self.best else np.cumsum(np.log(np.arange(1.0, n + 1)))
        self.factorial = np.concatenate([[0.0], ways])

    def own(self, group: int) -> FloatArray:
        """The log weight [G, m] of the cells of a group."""
        merged, own = self.merged[self.base.kind[group]], self.base.own[group]
        columns = [self.plus.reduce(own[:, merged == m], axis=1) for m in range(merged.max() + 1)]
        return np.stack(columns, axis=1)

    @cached_property
    def accept(self) -> FloatArray:
        """The log weight [cells, S] of the final states of elements of all cells."""
        kinds = range(self.base.kinds)
        return np.concatenate([self.accepts[kind][self.sample[kind]] for kind in kinds])

    @cached_property
    def first(self) -> IntArray:
        """The state [cells] of elements of all cells that have met themselves alone; DEAD for none."""
        return np.concatenate([self.firsts[kind][self.sample[kind]] for kind in range(self.base.kinds)])

    def _options(self, a: int, b: int) -> Options:
        """What two elements of two kinds may share, by what it counts for each."""
        base = self.base
        x, y = base.samples[a][0], base.samples[b][-1]
        labels, sides = self.counters.labels(base.units, x, y)
        if len(labels) > 10:
            raise NotLiftableError("two members have too many counts of each other")
        weights = self._by_label(x, y, labels)
        found: Options = {}
        for code, ups in enumerate(self.counters.ups(sides)):
            one = weights[..., code] if labels else weights[..., 0]
            if np.isfinite(one).any():
                found[ups] = self.plus(found[ups], one) if ups in found else one
        self._refuse_order(a, b, found)
        return found

    def _by_label(self, x: int, y: int, labels: Sequence[tuple[Table, int]]) -> LongArray:
        """The log weights [G, C, C', M] of two elements by what they count for each other."""
        return self.base.units.pair(x, y, labels)

    def _refuse_order(self, a: int, b: int, found: Options) -> None:
        ordered = self.base.rules.ordered
        if a != b and ordered is not None:
            raise NotLiftableError("rules with counts ask for the order of members", ordered)
        for (up, other), weights in found.items() if a == b else ():
            back = found.get((other, up))
            same = back is not None and np.allclose(
                np.exp(weights - weights.max()), np.exp(back.transpose(0, 2, 1) - weights.max()), atol=1e-13
            )
            if not same:
                raise NotLiftableError("rules depend on the order of members", ordered)

    def alike(self, kind: int, first: bool = True) -> IntArray:
        """Numbers of the joint states of an element, equal where nothing but weight tells them apart; without
        ``first`` where its counts begin does not either."""
        base = self.base
        groups, possible = base.groups_of(kind), base.possible(kind)
        size = len(possible)
        keys = [self.accepts[kind], *([self.firsts[kind][:, None].astype(np.float64)] if first else [])]
        keys += [total.of[group].T.astype(np.float64) for total in self.totals.all for group in groups]
        for (a, b), options in self.options.items():
            for weights in options.values():
                high = weights.astype(np.float64)
                for axis in [*([1] if a == kind else []), *([2] if b == kind else [])]:
                    keys.append(np.moveaxis(high, axis, 0).reshape(size, -1))
        rows = np.ascontiguousarray(np.concatenate(keys, axis=1) + 0.0)
        rows[~possible | (self.firsts[kind] == DEAD)] = np.nan
        seen: dict[bytes, int] = {}
        return np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows], dtype=np.int64)

    def between(self, g: int, a: int, b: int) -> list[tuple[Ups, Ups, float]]:
        """What elements of two cells, numbered over all kinds, may share: what it counts, and its weight."""
        kind, other = self.kind_of(a), self.kind_of(b)
        cell, second = self.state(a), self.state(b)
        if (kind, other) in self.options:
            found = [(up, to, w[g, cell, second]) for (up, to), w in self.options[kind, other].items()]
        else:
            options = self.options.get((other, kind), {})
            found = [(up, to, w[g, second, cell]) for (to, up), w in options.items()]
        return [(up, to, float(w)) for up, to, w in found if w > -np.inf]

    def state(self, cell: int) -> int:
        """One of the joint states of unknowns that are a cell, numbered over all kinds."""
        kind = self.kind_of(cell)
        return int(self.sample[kind][cell - self.offset[kind]])

    def kind_of(self, cell: int) -> int:
        """The kind of a cell."""
        return int(np.searchsorted(self.offset, cell, side="right")) - 1

    def tag(self, g: int, group: int, cell: int, used: Sequence[int]) -> int:
        """What an element of a group adds to the totals that are used, in one number."""
        at = int(self.sample[self.base.kind[group]][cell])
        found = 0
        for number in used:
            total = self.totals.all[number]
            found = found * (total.most + 1) + int(total.of[group][g, at])
        return found

    def possible(self, g: int, kind: int, own: FloatArray) -> list[tuple[int, int, float]]:
        """The possible cells of a group: each with its first state and weight."""
        first = self.firsts[kind][self.sample[kind]].tolist()
        return [
            (m, state, float(own[g, m]))
            for m, state in enumerate(first)
            if state != DEAD and np.isfinite(own[g, m])
        ]


class BestCountedCells(CountedCells):
    """See `CountedCells`."""

    best: ClassVar[bool] = True
    plus: ClassVar[np.ufunc] = np.maximum

    def _by_label(self, x: int, y: int, labels: Sequence[tuple[Table, int]]) -> LongArray:
        units = self.base.units
        joint = units.joint(x, y)[0]
        code = units.labelled(x, y, labels)
        ways = range(math.prod(m for _, m in labels))
        best = [np.where(code == label, joint, -np.inf).max(axis=3) for label in ways]
        return np.stack(best, axis=3).astype(np.longdouble)
