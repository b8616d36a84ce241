"""One component of a symmetric core: the log weight of every joint count vector of its families."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.rows import unique_rows
from plx.graph.sizes import joint_bits
from plx.infer.counting.compositions import (
    compositions,
    falling,
    log2_how_many,
    log_multinomial,
    pairs_within,
    weighted_sum,
)
from plx.infer.counting.families import NONE
from plx.infer.counting.odds import Odds
from plx.infer.counting.symmetric_core import Counter, Coupling, SymmetricCore
from plx.values import FloatArray, IntArray

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class Component:
    """Families that factors or counters connect. Arrays over count vectors have one axis per family."""

    core: SymmetricCore
    families: tuple[int, ...]
    counters: tuple[Counter, ...]
    couplings: tuple[Coupling, ...]

    @property
    def log2_vectors(self) -> float:
        """log₂ of the number of joint count vectors."""
        return sum(self._log2_rows(i) for i in self.families)

    def _log2_rows(self, family: int) -> float:
        return log2_how_many(self.blocks(family), self.bits(family))

    def log2_joint(self, taken: dict[int, int]) -> float:
        """log₂ of the entries of the largest array that `joint` makes for so many blocks of each family."""
        weight, largest = self.log2_vectors, 0.0
        for i in self.families:
            rows, states = self._log2_rows(i), taken.get(i, 0) * self.bits(i)
            weight += states - rows
            largest = max(largest, rows + states, weight)
        return largest

    def blocks(self, family: int) -> int:
        return len(self.core.families[family].members)

    def cards(self, family: int) -> list[int]:
        """The numbers of states of the cells of a block."""
        return [int(card) for card in self.core.graph.card[self.core.families[family].members[0]]]

    def bits(self, family: int) -> float:
        """log₂ of the number of joint states of a block."""
        return joint_bits(self.cards(family))

    def size(self, family: int) -> int:
        """The number of joint states of a block."""
        return math.prod(self.cards(family))

    @cached_property
    def counts(self) -> dict[int, IntArray]:
        """The count vectors of each family, shape (vectors, states)."""
        return {i: compositions(self.blocks(i), self.size(i)) for i in self.families}

    @cached_property
    def states(self) -> dict[int, IntArray]:
        """The states of the cells in each joint state of a block, shape (states, cells)."""
        return {
            i: np.stack(np.unravel_index(np.arange(self.size(i)), self.cards(i)), axis=1)
            for i in self.families
        }

    @cached_property
    def log_z(self) -> float:
        weight = self._log_weight
        top = float(weight.max())
        return top + math.log(float(np.exp(weight - top).sum())) if top > -np.inf else -math.inf

    @cached_property
    def _p(self) -> FloatArray:
        return np.asarray(np.exp(self._log_weight - self.log_z))

    def joint(self, taken: dict[int, tuple[int, ...]], counters: Sequence[int] = ()) -> FloatArray:
        """The joint distribution of some blocks and counters.

        ``taken`` are different blocks of each family. The axes are the counters, and then the joint states of
        the blocks, family by family.
        """
        if not counters:
            return self._reduce(self._p, taken)
        index, cards = self.counter_states, [int(self.core.graph.card[node]) for node in counters]
        at = np.ravel_multi_index(np.broadcast_arrays(*(index[node] for node in counters)), cards)
        at = np.broadcast_to(at, self._p.shape)
        if not taken:
            p: FloatArray = np.zeros(math.prod(cards))
            np.add.at(p, at.ravel(), self._p.ravel())
            return p.reshape(cards)
        parts = [self._reduce(np.where(at == g, self._p, 0.0), taken) for g in range(math.prod(cards))]
        return np.stack(parts).reshape(*cards, *parts[0].shape)

    def _reduce(self, weight: FloatArray, taken: dict[int, tuple[int, ...]]) -> FloatArray:
        for i in self.families:
            blocks, odds = taken.get(i, ()), self.odds.get(i)
            counts = self.counts[i]
            seen = odds.seen(counts, blocks) if odds else falling(counts, len(blocks))
            weight = np.tensordot(weight, seen, axes=(0, 0)).astype(np.float64, copy=False)
        return weight

    @cached_property
    def odds(self) -> dict[int, Odds]:
        """The weights of the blocks of families that differ in these."""
        return {i: Odds(self._own(i, own)) for i in self.families if (own := self.core.own[i]) is not None}

    def _own(self, i: int, unary: IntArray) -> FloatArray:
        """The log weights [n, b] of blocks whose cells have these tables [n, w]; the inner ones aside."""
        states, tables = self.states[i], self.core.peeled.tables.tables
        kinds, kind = unique_rows(unary)
        rows = np.zeros((len(kinds), len(states)))
        for row, example in zip(rows, unary[kinds].tolist(), strict=True):
            for p, table in enumerate(example):
                if table >= 0:
                    row += tables[table][states[:, p]]
        return rows[kind]

    @cached_property
    def _log_weight(self) -> FloatArray:
        total: FloatArray = np.zeros([len(self.counts[i]) for i in self.families])
        for i in self.families:
            total = total + self.along(i, self._within(i))
        for (i, j), labels in self.core.between.items():
            if i in self.counts and (labels != NONE).any():
                total = total + self._across(i, j, labels)
        for coupling in self.couplings:
            total = total + self._coupled(coupling)
        return total

    def along(self, family: int, vector: npt.NDArray[T]) -> npt.NDArray[T]:
        """A quantity per count vector of one family, laid along its axis."""
        shape = [1] * len(self.families)
        shape[self.families.index(family)] = -1
        return vector.reshape(shape)

    def _within(self, i: int) -> FloatArray:
        """Multiplicity, the blocks' own factors, and those between two blocks of the family."""
        family, counts, states = self.core.families[i], self.counts[i], self.states[i]
        own = np.zeros(len(states))
        cells = range(len(family.inner))
        for p in cells:
            unary = self.core.unary[i][p]
            if unary is not None and i not in self.odds:
                own = own + unary[states[:, p]]
            for q in cells:
                if p < q and family.inner[p, q] != NONE:
                    own = own + self.core.label(family.inner[p, q])[states[:, p], states[:, q]]
        ways = self.odds[i].logs(counts) if i in self.odds else log_multinomial(counts)
        weight = ways + weighted_sum(counts, own)
        if len(family.members) > 1 and (family.outer != NONE).any():
            s, t, times = pairs_within(counts)
            weight = weight + weighted_sum(times, self._meet(i, i, family.outer)[s, t])
        return weight

    def _meet(self, i: int, j: int, labels: IntArray) -> FloatArray:
        """The log weight of a block of family i in state s and one of family j in state t, [s, t]."""
        total: FloatArray = np.zeros((self.size(i), self.size(j)))
        for p, q in np.argwhere(labels != NONE):
            deadline.check()
            table = self.core.label(labels[p, q])
            total = total + table[np.ix_(self.states[i][:, p], self.states[j][:, q])]
        return total

    def _across(self, i: int, j: int, labels: IntArray) -> FloatArray:
        """What blocks of two families add to each other."""
        table = self._meet(i, j, labels)
        finite = np.where(table > -np.inf, table, 0.0)
        meets = self.counts[i] @ (table == -np.inf).astype(np.int64) @ self.counts[j].T > 0
        weight = np.where(meets, -np.inf, self.counts[i] @ finite @ self.counts[j].T)
        shape = [1] * len(self.families)
        shape[self.families.index(i)], shape[self.families.index(j)] = weight.shape
        if self.families.index(i) > self.families.index(j):
            weight = weight.T
        return weight.reshape(shape)

    @cached_property
    def counter_states(self) -> dict[int, IntArray]:
        """The state of every counter, broadcastable over the count vectors."""
        out: dict[int, IntArray] = {}
        for counter in self.counters:
            total: IntArray = np.zeros([1] * len(self.families), dtype=np.int64)
            for (i, p), share in counter.share.items():
                total = total + self.along(i, self.counts[i] @ share[self.states[i][:, p]])
            for node, share in counter.inputs:
                total = total + share[out[node]]
            out[counter.node] = counter.output[total]
        return out

    def _coupled(self, coupling: Coupling) -> FloatArray:
        index = tuple(self.counter_states[node] for node in coupling.counters)
        if coupling.cell is None:
            return np.asarray(coupling.table[index])
        i, p = coupling.cell
        by_block = coupling.table[self.states[i][:, p]]
        flat = weighted_sum(self.counts[i], by_block.reshape(len(by_block), -1))
        rows = self.along(i, np.arange(len(self.counts[i])))
        return np.asarray(flat.reshape(-1, *by_block.shape[1:])[(rows, *index)])


def components_of(core: SymmetricCore) -> list[Component]:
    """The components of a core; counters connect all families that they count."""
    group = {("family", i): {("family", i)} for i in range(len(core.families))}
    group |= {("counter", c.node): {("counter", c.node)} for c in core.counters}

    def join(members: list[tuple[str, int]]) -> None:
        if all(group[m] is group[members[0]] for m in members):
            return
        deadline.check()
        whole = set().union(*(group[m] for m in members))
        for m in whole:
            group[m] = whole

    for (i, j), labels in core.between.items():
        if (labels != NONE).any():
            join([("family", i), ("family", j)])
    for counter in core.counters:
        inputs = [("counter", node) for node, _ in counter.inputs]
        join([("counter", counter.node), *inputs, *(("family", i) for i, _ in counter.share)])
    for coupling in core.couplings:
        cell = [("family", coupling.cell[0])] if coupling.cell else []
        join([*cell, *(("counter", node) for node in coupling.counters)])
    out = []
    for whole in {id(g): g for g in group.values()}.values():
        families = tuple(sorted(i for kind, i in whole if kind == "family"))
        counters = tuple(c for c in core.counters if ("counter", c.node) in whole)
        couplings = tuple(c for c in core.couplings if c.counters and ("counter", c.counters[0]) in whole)
        out.append(Component(core, families, counters, couplings))
    return out
