"""Members added one by one in their order, in whole numbers; `plx.firstorder.ordered` does it in doubles."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from plx import deadline
from plx.firstorder.base import Base
from plx.firstorder.exact.cells import common
from plx.firstorder.exact.integers import Integer, integer
from plx.firstorder.exact.ratio import ObjectArray, odds
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.totals import Totals

_MOST_STATES = 200_000
"""States that are kept at once."""

_MOST_STEPS = 20_000_000
"""Terms that are added; about a microsecond each, and more where they are long."""

State = tuple[int, tuple[int, ...]]
"""What the next member tells of the last one, and how many members there are of each of the classes that all
later ones, or totals, tell apart."""

Pairs = dict[tuple[int, int], Integer]
"""The weights of cells, numbered over all kinds, of two members of which the first comes first."""


def ruled_odds(totals: Totals, g: int) -> dict[tuple[int, ...], Fraction]:
    """The weight that rules give to the joint values of totals."""
    sizes = totals.sizes(range(totals.ruled))
    values = itertools.product(*map(range, sizes))
    return dict(zip(values, odds(totals.weight[g]).tolist(), strict=True))


class ExactOrder:
    """The sums where the order of members matters; each of them is a group of its own.

    Raises NotLiftableError where totals are not the same for all of a kind.
    """

    def __init__(self, base: Base, totals: Totals) -> None:
        if not totals.same_in_kinds:
            raise NotLiftableError("the order of members matters, and they are counted", base.rules.ordered)
        self.base, self.totals = base, totals
        self._own = [odds(own) for own in base.own]
        self._before, self._near = (
            {pair: odds(weights) for pair, weights in tables.items()} for tables in (base.before, base.next)
        )
        sizes = [self._own[base.kind.index(kind)].shape[1] for kind in range(base.kinds)]
        self._offset = np.cumsum([0, *sizes]).tolist()

    def sum(self, g: int) -> Fraction:
        """The sum at a joint state of what is about no element. Raises NotLiftableError where it takes too
        long."""
        tables = [*self._before.values(), *self._near.values()]
        by_own = common(x for own in self._own for x in own[g].tolist())
        by_pair = common(x for table in tables for x in table[g].ravel().tolist())
        added = self._added(g)
        line = _Line(
            self.base,
            self._pairs(self._before, g, by_pair),
            self._pairs(self._near, g, by_pair),
            by_pair,
            added,
        )
        own = [
            {self._offset[kind] + s: integer(int(x * by_own)) for s, x in enumerate(weights[g].tolist()) if x}
            for kind, weights in zip(self.base.kind, self._own, strict=True)
        ]
        ruled, total = ruled_odds(self.totals, g), Fraction(0)
        n = len(own)
        denominator = by_own**n * by_pair ** (n * (n - 1) // 2)
        for (_, counts), weight in line.states(own).items():
            sums = [0] * self.totals.ruled
            for count, cell in zip(counts, line.sample, strict=True):
                sums = [a + count * b for a, b in zip(sums, added[cell], strict=True)]
            total += ruled[tuple(sums)] * Fraction(int(weight), denominator)
        return total

    def _pairs(self, tables: Mapping[tuple[int, int], ObjectArray], g: int, denominator: int) -> Pairs:
        return {
            (self._offset[a] + i, self._offset[b] + j): integer(int(weight * denominator))
            for (a, b), table in tables.items()
            for i, row in enumerate(table[g].tolist())
            for j, weight in enumerate(row)
        }

    def _added(self, g: int) -> list[tuple[int, ...]]:
        """What each cell adds to the totals that rules ask for."""
        groups = [self.base.kind.index(kind) for kind in range(self.base.kinds)]
        totals = self.totals.all[: self.totals.ruled]
        columns = [np.concatenate([total.of[group][g] for group in groups]).tolist() for total in totals]
        return [tuple(column[cell] for column in columns) for cell in range(self._offset[-1])]


class _Line:
    """The members in their order at a joint state of what is about none, by cells numbered over all kinds.

    ``one`` is the weight of two that say nothing of each other. ``sample`` is a cell of each class.
    """

    def __init__(
        self, base: Base, before: Pairs, near: Pairs, one: int, added: Sequence[tuple[int, ...]]
    ) -> None:
        self._before, self._near, self._one = before, near, integer(one)
        self._order, self._is_near = base.order.tolist(), base.near.tolist()
        cells = range(len(added))
        rows = [(*(before.get((c, d), self._one) for d in cells), *added[c]) for c in cells]
        plain = (*(self._one for _ in cells), *(0 for _ in added[0]))
        self._class, self.sample = _classes(rows, plain)
        beside = (
            [(*(near.get((c, d)) for d in cells), self._class[c]) for c in cells]
            if near
            else [()] * len(cells)
        )
        self._last, self._last_sample = _classes(beside, None)
        columns = [tuple(pairs.get((d, c)) for pairs in (before, near) for d in cells) for c in cells]
        self._alike, self._alike_sample = _classes(
            [(self._class[c], self._last[c], columns[c]) for c in cells], None
        )
        self._powers: dict[tuple[int, int], list[Integer]] = {}

    def states(self, own: Sequence[Mapping[int, Integer]]) -> dict[State, Integer]:
        """The weights of all states in the end, from those of the cells of each member."""
        found: dict[State, Integer] = {(-1, (0,) * len(self.sample)): integer(1)}
        steps = 0
        for place, number in enumerate(self._order):
            merged: dict[int, Integer] = {}
            for cell, weight in own[number].items():
                alike = self._alike_sample[self._alike[cell]]
                merged[alike] = merged.get(alike, 0) + weight
            new: dict[State, Integer] = {}
            for (last, counts), weight in found.items():
                deadline.check()
                for cell, mine in merged.items():
                    if more := self._met(place, last, counts, cell):
                        state = self._with(counts, cell)
                        new[state] = new.get(state, 0) + weight * mine * more
            steps += len(found) * len(merged) * (1 + len(self.sample))
            if len(new) > _MOST_STATES or steps > _MOST_STEPS:
                raise NotLiftableError(
                    "the order of members matters, with too many states for exact rationals"
                )
            found = new
        return found

    def _with(self, counts: tuple[int, ...], cell: int) -> State:
        mine = self._class[cell]
        after = counts if mine < 0 else (*counts[:mine], counts[mine] + 1, *counts[mine + 1 :])
        return self._last[cell], after

    def _met(self, place: int, last: int, counts: tuple[int, ...], cell: int) -> Integer:
        """What a member of a cell shares with all before it."""
        met = [*counts, place - sum(counts)]
        found = integer(1)
        if self._near and self._is_near[place]:
            there = self._last_sample[last]
            met[self._class[there]] -= 1
            found *= self._near[there, cell]
        for mine, n in enumerate(met):
            if n and found:
                found *= self._power(mine, cell, n)
        return found

    def _power(self, mine: int, cell: int, n: int) -> Integer:
        """The weight of n members of a class, and one of a cell after them."""
        powers = self._powers.setdefault((mine, cell), [integer(1)])
        if len(powers) == 1:
            idle = mine == len(self.sample)
            powers.append(self._one if idle else self._before.get((self.sample[mine], cell), self._one))
        while len(powers) <= n:
            powers.append(powers[-1] * powers[1])
        return powers[n]


def _classes(
    keys: Sequence[tuple[object, ...]], plain: tuple[object, ...] | None
) -> tuple[list[int], list[int]]:
    """The class of each cell, of those with equal keys, and a cell of each; -1 where the key is plain."""
    seen: dict[tuple[object, ...], int] = {}
    numbers: list[int] = []
    sample: list[int] = []
    for cell, key in enumerate(keys):
        number = -1 if key == plain else seen.setdefault(key, len(seen))
        numbers.append(number)
        if number == len(sample):
            sample.append(cell)
    return numbers, sample
