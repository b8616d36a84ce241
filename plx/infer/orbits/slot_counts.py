"""How many unknowns of a slot are in their second state, and what that tells of each and of its leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from plx.graph.rows import BoolArray, unique_rows
from plx.infer.orbits.leaf_conditionals import LeafConditionals
from plx.lift.exchangeable_sets import ExchangeableSet, conditional_bernoulli
from plx.lift.images import MovedCount
from plx.values import FloatArray, IntArray

Entries = tuple[IntArray, IntArray, FloatArray]
"""Pools, the counts that are added to them, and by what weights."""


class SlotCounts:
    """The tallies that are recorded in place of the unknowns of slots."""

    def __init__(self, slots: Sequence[ExchangeableSet], start: IntArray) -> None:
        """``start`` says where the pairs of each unknown begin, [V + 1]."""
        self.slots, self.start = slots, start
        self.slot = np.full(len(start) - 1, -1, dtype=np.int64)  # of each unknown
        self.member = np.zeros(len(start) - 1, dtype=np.int64)  # its place there
        self.covers: BoolArray = np.zeros(int(start[-1]), dtype=bool)  # pairs of slots
        for k, slot in enumerate(slots):
            variable = self._variables(slot)
            self.slot[variable], self.member[variable] = k, np.arange(len(variable))
            self.covers[slot.points] = True
        self.used = np.zeros(len(slots), dtype=bool)
        self._parts: list[tuple[LeafConditionals, IntArray, IntArray]] = []

    def _variables(self, slot: ExchangeableSet) -> IntArray:
        return np.asarray(np.searchsorted(self.start, slot.points[:, 1], side="right")) - 1

    def take(self, found: LeafConditionals, feature: IntArray, first: IntArray) -> IntArray:
        """Take on the features over unknowns of one slot, with their first pools; those left over."""
        slot = self.slot_of(found)[feature]
        inside = slot >= 0
        self.used[slot[inside]] = True
        self._parts.append((found, feature[inside], first[feature[inside]]))
        left: IntArray = feature[~inside]
        return left

    def slot_of(self, found: LeafConditionals) -> IntArray:
        """The slot that all nodes of a feature are in, -1 where there is none, shape (features,)."""
        of = np.append(self.slot, -1)
        slot = np.where(found.nodes >= 0, of[found.nodes], of[found.nodes[:, :1]])
        return np.where((slot == slot[:, :1]).all(axis=1) & (found.nodes[:, 0] >= 0), slot[:, 0], -1)

    def use(self, counted: BoolArray) -> None:
        """Record the slots of these pairs."""
        for k, slot in enumerate(self.slots):
            self.used[k] |= bool(counted[slot.points].any())

    def nodes(self) -> list[MovedCount]:
        """The derived nodes to record, in order of slots."""
        return [self._node(slot) for slot, used in zip(self.slots, self.used, strict=True) if used]

    def _node(self, slot: ExchangeableSet) -> MovedCount:
        variable = self._variables(slot)
        second = slot.points[:, 1] - self.start[variable]
        inputs = ((v, (1 - s, s)) for v, s in zip(variable.tolist(), second.tolist(), strict=True))
        return MovedCount(len(second) + 1, tuple(range(len(second) + 1)), frozenset(inputs))

    def entries(self, offset: IntArray, pool: IntArray, size: IntArray) -> Iterator[Entries]:
        """What the tallies, counted from ``offset`` on, add to pools.

        ``pool`` is the pool of the orbit of each pair, -1 where none is asked for, ``size`` how large
        that orbit is.
        """
        place = np.full(len(self.slots), -1, dtype=np.int64)
        place[self.used] = offset
        for alike in self._alike():
            log_odds = self.slots[alike[0]].log_odds
            points = np.stack([self.slots[k].points for k in alike])  # [slots, n, 2]
            weight = conditional_bernoulli(log_odds) / size[points][..., None]  # [slots, n, 2, n + 1]
            source = place[alike][:, None, None, None] + np.arange(len(log_odds) + 1)
            yield _where(pool[points][..., None], source, weight)
        for found, feature, first in self._parts:
            yield from self._of_features(found, feature, first, place)

    def _alike(self) -> list[list[int]]:
        """The slots in use, those of the same odds together."""
        out: dict[bytes, list[int]] = {}
        for k in np.flatnonzero(self.used).tolist():
            out.setdefault(self.slots[k].log_odds.tobytes(), []).append(k)
        return list(out.values())

    def _of_features(
        self, found: LeafConditionals, feature: IntArray, first: IntArray, place: IntArray
    ) -> Iterator[Entries]:
        nodes = found.nodes[feature]
        slot, member = self.slot[nodes[:, 0]], np.where(nodes >= 0, self.member[nodes], -1)
        odds = np.full(len(self.slots), -1, dtype=np.int64)
        for number, alike in enumerate(self._alike()):
            odds[alike] = number
        # An axis of a table runs backwards where the second state of the slot is the first one there.
        flips = np.zeros(nodes.shape, dtype=np.int64)
        for k in np.flatnonzero(self.used).tolist():
            points = self.slots[k].points
            flipped = self._variables(self.slots[k])[points[:, 1] < points[:, 0]]
            flips |= np.isin(nodes, flipped)
        rows = np.column_stack([odds[slot], found.table[feature], nodes >= 0, flips])
        examples, kind = unique_rows(rows)
        for i, example in enumerate(examples.tolist()):
            mine = np.flatnonzero(kind == i)
            k = int((nodes[example] >= 0).sum())
            table = np.flip(
                found.tables[found.table[feature[example]]],
                tuple(np.flatnonzero(flips[example, :k]).tolist()),
            )
            distinct, tuples = unique_rows(member[mine, :k])
            joint = conditional_bernoulli(self.slots[slot[example]].log_odds, member[mine[distinct], :k])
            chance = np.einsum("mpk,ps->msk", joint, table.reshape(2**k, -1))
            pool = first[mine][:, None, None] + np.arange(chance.shape[1])[:, None]
            source = place[slot[mine]][:, None, None] + np.arange(chance.shape[2])
            yield _where(pool, source, chance[tuples])


def _where(pool: IntArray, source: IntArray, weight: FloatArray) -> Entries:
    """Entries from arrays that broadcast, without those of no pool and of no weight."""
    pool, source, weight = np.broadcast_arrays(pool, source, weight)
    kept = (pool >= 0) & (weight != 0)
    return pool[kept], source[kept], weight[kept]
