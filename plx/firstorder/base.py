"""Elements in groups, and the log weights of the states of one of each group and of pairs of each kind."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from plx.firstorder.limits import MOST_GROUPS
from plx.firstorder.local import Local
from plx.firstorder.refusal import NotLiftableError
from plx.firstorder.rules import Rules
from plx.firstorder.units import LongArray, Units
from plx.values import IntArray

_CHUNK = 32
"""Elements whose unknowns are laid out together."""


class Base:
    """Elements of one *kind* differ in nothing that pairs depend on, those of one *group* in nothing at all.

    ``count`` [groups] and ``first`` [groups] are how many there are and one of them; ``kind`` [groups] is
    theirs. Raises NotLiftableError where there are too many, or their order matters.
    """

    least_alike: ClassVar[bool] = True
    """Whether two members must be alike, as there is nothing to gain otherwise."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
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
        _, places, counts = np.unique(self.group_of, return_index=True, return_counts=True)
        self.first: list[int] = ids[places].tolist()
        self.count: list[int] = counts.tolist()
        self.kind: list[int] = self.kind_of[places].tolist()
        self.parts = [part for part in rules.parts if not part.counts]
        here = sorted({*(e for pair in self.samples for e in pair), *rules.named})
        self.units = Units(Local(rules, here), self.parts)
        self.alone = self.units.alone()
        self.units_of = self._units_of(set(here))
        self.own = [units.own(e) for units, e in zip(self.units_of, self.first, strict=True)]
        self.pairs = self._pairs()

    @property
    def states(self) -> int:
        """Joint states of the unknowns that are about no element."""
        return self.units.global_size

    def group(self, element: int) -> int:
        """The group of an element."""
        return int(self.group_of[self.rules.universe.position(np.array([element]))[0]])

    def _units_of(self, here: set[int]) -> list[Units]:
        """Where the first element of each group is laid out."""
        found = {e: self.units for e in self.first if e in here}
        waiting = [e for e in self.first if e not in here]
        for low in range(0, len(waiting), _CHUNK):
            some = waiting[low : low + _CHUNK]
            units = Units(Local(self.rules, sorted({*some, *self.rules.named})), self.parts)
            found.update(dict.fromkeys(some, units))
        return [found[e] for e in self.first]

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
                    self._refuse_order(found[a, b], found[a, b].transpose(0, 2, 1))
                elif self.rules.ordered is not None:
                    self._refuse_order(found[a, b], self.units.pair(mine[-1], others[0])[..., 0])
        return found

    def _refuse_order(self, weights: LongArray, other: LongArray) -> None:
        """What two elements say of each other must be the same whichever comes first."""
        finite = np.isfinite(weights)
        same = np.array_equal(finite, np.isfinite(other)) and np.allclose(
            weights[finite], other[finite], rtol=1e-13, atol=1e-13
        )
        if not same:
            raise NotLiftableError("rules depend on the order of members", self.rules.ordered)


def _ends(rules: Rules, members: IntArray) -> list[int]:
    """The first and the last of some elements in the order of their type; one alone once."""
    rank = rules.universe.rank(members)
    ends = dict.fromkeys([int(members[rank.argmin()]), int(members[rank.argmax()])])
    return list(ends)
