"""Elements in groups, and the log weights of the states of one of each group and of pairs of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from plx.firstorder.limits import MOST_GROUPS
from plx.firstorder.local import Local
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.rules import Rules
from plx.firstorder.units import LongArray, Units
from plx.graph.rows import BoolArray
from plx.values import FloatArray, IntArray

_CHUNK = 32
"""Elements whose unknowns are laid out together."""

_KEPT = 64
"""Layouts that are kept for queries."""


Laid = tuple[Units, int, int]
"""Two elements, and where they are laid out."""


class Base:
    """Elements of one *kind* differ in nothing that pairs depend on, those of one *group* in nothing at all.

    ``count`` [groups] and ``first`` [groups] are how many there are and one of them; ``kind`` [groups] is
    theirs. ``before`` is not empty where the order of elements matters: then each is a group of its own.
    ``next`` is not empty where it also matters whether two are next to each other.
    Raises NotLiftableError where there are too many kinds.
    """

    least_alike: ClassVar[bool] = True
    """Whether two members must be alike, as there is nothing to gain otherwise."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._asked: dict[tuple[int, ...], Units] = {}
        ids = rules.universe.ids
        self.kind_of, self.group_of = rules.marks.groups()
        self.kinds = int(self.kind_of.max(initial=-1)) + 1
        if self.kinds > MOST_GROUPS:
            raise NotLiftableError(
                f"rules and observations tell {self.kinds:,} kinds of members apart "
                f"(at most {MOST_GROUPS:,} are taken)"
            )
        order = np.argsort(self.kind_of, kind="stable")
        starts = np.searchsorted(self.kind_of[order], np.arange(self.kinds))
        ends = np.append(starts[1:], len(order))
        if self.least_alike and self.kinds == len(ids):
            raise NotLiftableError("no two members of a type are alike")
        members = [ids[order[low:high]] for low, high in zip(starts, ends, strict=True)]
        self.samples = [_ends(rules, some) for some in members]
        self.parts = [part for part in rules.parts if not part.counts]
        here = sorted({*(e for pair in self.samples for e in pair), *rules.named})
        self.units = Units(Local(rules, here), self.parts)
        self.alone = self.units.alone()
        self.before: dict[tuple[int, int], LongArray] = {}
        self.next: dict[tuple[int, int], LongArray] = {}
        self.pairs = self._pairs()
        _, places, counts = np.unique(self.group_of, return_index=True, return_counts=True)
        self.first: list[int] = ids[places].tolist()
        self.count: list[int] = counts.tolist()
        self.kind: list[int] = self.kind_of[places].tolist()
        self.units_of = self._units_of(set(here))
        self.own = [units.own(e) for units, e in zip(self.units_of, self.first, strict=True)]
        if self.before:
            self.each_apart()
        self.links = self._links()

    def asked(self, elements: Sequence[int]) -> Units:
        """Where some elements, and those that rules name, are laid out with all evidence; queries about the
        same ones share it."""
        here = tuple(sorted({*elements, *self.rules.named}))
        if here not in self._asked:
            if len(self._asked) >= _KEPT:
                self._asked.clear()
            self._asked[here] = Units(Local(self.rules, here, linked=True), self.parts)
        return self._asked[here]

    @property
    def states(self) -> int:
        """Joint states of the unknowns that are about no element."""
        return self.units.global_size

    def group(self, element: int) -> int:
        """The group of an element."""
        return int(self.group_of[self.rules.universe.position(np.array([element]))[0]])

    def groups_of(self, kind: int) -> list[int]:
        """The numbers of the groups of a kind."""
        return [number for number, of in enumerate(self.kind) if of == kind]

    def possible(self, kind: int) -> BoolArray:
        """Which joint states some element of a kind can have, shape (states of the kind,)."""
        size = self.units.cells(self.samples[kind][0])[0]
        possible: BoolArray = np.zeros(size, dtype=bool)
        for group in self.groups_of(kind):
            possible |= np.isfinite(self.own[group]).any(axis=0)
        return possible

    def _units_of(self, here: set[int]) -> list[Units]:
        """Where the first element of each group is laid out."""
        found = {e: self.units for e in self.first if e in here}
        waiting = [e for e in self.first if e not in here]
        for low in range(0, len(waiting), _CHUNK):
            some = waiting[low : low + _CHUNK]
            units = Units(Local(self.rules, sorted({*some, *self.rules.named})), self.parts)
            found.update(dict.fromkeys(some, units))
        return [found[e] for e in self.first]

    def same(self, weights: LongArray, other: LongArray) -> bool:
        """Whether two tables of log weights are equal, but for what is rounded off."""
        return same(weights, other)

    def _pairs(self) -> dict[tuple[int, int], LongArray]:
        """The log weights [G, C, C'] of the cells of two elements, by their kinds."""
        found = {}
        for a in range(self.kinds):
            for b in range(a, self.kinds):
                mine, others = self.samples[a], self.samples[b]
                if a == b and len(mine) < 2:
                    continue
                found[a, b] = self.units.pair(mine[0], others[-1])[..., 0]
                if a == b:
                    apart = not self.same(found[a, b], found[a, b].transpose(0, 2, 1))
                else:
                    apart = self.rules.ordered is not None and not self.same(
                        found[a, b], self.units.pair(mine[-1], others[0])[..., 0]
                    )
                if apart and not self.before:
                    self.before = self._before()
        if self.rules.successor is not None:
            self._set_next()
        return found

    def _set_next(self) -> None:
        """Set what elements next to each other share, if that is not what all others do."""
        before = self.before or self._before()
        found = {pair: units.pair(x, y)[..., 0] for pair, (units, x, y) in self.neighbours.items()}
        if not all(self.same(weights, before[pair]) for pair, weights in found.items()):
            self.before, self.next = before, found

    @cached_property
    def neighbours(self) -> dict[tuple[int, int], Laid]:
        """By two kinds, two integers of which the second is the first plus 1, and where they are laid out."""
        ids, here = self.rules.universe.ids, set(self.units.local.elements)
        order, near = self.order, self.near
        found: dict[tuple[int, int], Laid] = {}
        for i in np.flatnonzero(near).tolist():
            pair = int(self.kind_of[order[i - 1]]), int(self.kind_of[order[i]])
            if pair not in found:
                x, y = int(ids[order[i - 1]]), int(ids[order[i]])
                laid = self.units
                if not {x, y} <= here:
                    laid = Units(Local(self.rules, sorted({x, y, *self.rules.named})), self.parts)
                found[pair] = laid, x, y
        return found

    @cached_property
    def near(self) -> BoolArray:
        """Of each place in the order of elements, whether what stands there is that before it plus 1."""
        numbers = self.rules.universe.numbers[self.order]
        return np.concatenate([[False], np.diff(numbers) == 1])

    def _before(self) -> dict[tuple[int, int], LongArray]:
        """The log weights [G, C, C'] of the cells of two elements of which the first comes first."""
        return {pair: units.pair(x, y)[..., 0] for pair, (units, x, y) in self.in_order.items()}

    @property
    def in_order(self) -> dict[tuple[int, int], Laid]:
        """By two kinds, elements of them of which the first comes first, as far from each other as can be."""
        found = {}
        place = np.argsort(self.order)
        for a in range(self.kinds):
            for b in range(self.kinds):
                x, y = self.samples[a][0], self.samples[b][-1]
                first, second = self.rules.universe.position(np.array([x, y]))
                if place[first] < place[second]:
                    found[a, b] = self.units, x, y
        return found

    @property
    def largest(self) -> float:
        """The largest finite log weight of an element or a pair, either sign."""
        tables: list[LongArray | FloatArray] = [*self.own, *self.pairs.values()]
        return max(float(np.abs(table[np.isfinite(table)]).max(initial=0.0)) for table in tables)

    @property
    def order(self) -> IntArray:
        """The positions of all elements among their ids, in the order of their types; integers come last."""
        universe = self.rules.universe
        return np.lexsort([universe.rank(universe.ids), ~np.isnan(universe.numbers)])

    def each_apart(self) -> None:
        """Make every element a group of its own, as its place in the order matters."""
        ids = self.rules.universe.ids
        of = self.group_of.tolist()
        self.own, self.units_of = [self.own[group] for group in of], [self.units_of[group] for group in of]
        self.first, self.count = [self.first[group] for group in of], [1] * len(ids)
        self.kind = self.kind_of.tolist()
        self.group_of = np.arange(len(ids))

    def _links(self) -> dict[tuple[int, int], LongArray]:
        """By two groups of one element each that evidence joins: the log weights [G, C, C'], relative to
        those of all others of their kinds."""
        rules = self.rules
        if not rules.sparse or self.before:
            return {}
        rows = [facts.index[rules.linked(facts)] for facts in rules.facts]
        inside = [row[rules.universe.holds(row)].tolist() for some in rows for row in some]
        joined = sorted({(min(pair), max(pair)) for pair in inside})
        found = {}
        for low in range(0, len(joined), _CHUNK // 2):
            some = joined[low : low + _CHUNK // 2]
            here = sorted({e for pair in some for e in pair} | rules.named)
            units = Units(Local(rules, here, linked=True), self.parts)
            for x, y in some:
                a, b = self.group(x), self.group(y)
                weights = units.pair(x, y)[..., 0]
                kinds = self.kind[a], self.kind[b]
                usual = self.pairs.get(kinds)
                if usual is None:
                    usual = self.pairs[kinds[::-1]].transpose(0, 2, 1)
                finite = np.isfinite(weights)
                found[a, b] = np.where(finite, weights - np.where(finite, usual, 0.0), -np.inf)
        return found


def same(weights: LongArray, other: LongArray) -> bool:
    """Whether what two elements say of each other is the same whichever comes first."""
    finite = np.isfinite(weights)
    return np.array_equal(finite, np.isfinite(other)) and np.allclose(
        weights[finite], other[finite], rtol=1e-13, atol=1e-13
    )


def _ends(rules: Rules, members: IntArray) -> list[int]:
    """The first and the last of some elements in the order of their type; one alone once."""
    rank = rules.universe.rank(members)
    ends = dict.fromkeys([int(members[rank.argmin()]), int(members[rank.argmax()])])
    return list(ends)
