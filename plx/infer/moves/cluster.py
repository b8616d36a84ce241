"""Cluster moves: Swendsen & Wang 1987, for factors of any sort (Barbu & Zhu 2005, *Generalizing Swendsen-Wang
to sampling arbitrary posterior probabilities*).

Every mobile unknown has a partner state, another in each turn (Wolff 1989; Wang, Swendsen & Kotecký 1989),
and stays or goes over to it. A factor over two of them is then one over two bits: it pulls at both ends, and
couples them by J = (e00 + e11 - e01 - e10) / 4 where 0 is to stay. If J > 0 it is a bond with probability
1 - exp(-2 J); what bonds tie together stays or goes as one, and given the bonds these are independent, with
the sum of all pulls for log odds (Edwards & Sokal 1988). That is exact for any factors: where they want that
states differ, or fight each other, clusters are merely of less use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from plx.graph.rows import BoolArray
from plx.infer.gibbs.chains import ChainBlock, state_type
from plx.infer.gibbs.compiled import CompiledModel
from plx.infer.kernels.clusters import Couplings, Expected, Flips, kernel
from plx.infer.kernels.random import BITS
from plx.infer.moves.couplings import Ends, Kinds, couplings, ends
from plx.infer.moves.gauge import Gauge, gauge, influence, wished
from plx.infer.moves.limits import ENTRIES, FRUSTRATED, INFLUENCE
from plx.infer.moves.mobile import mobile_set, movable
from plx.infer.problem import Parts, Problem
from plx.values import FloatArray, IntArray

_WORD = 2**64 - 1

_NOTHING = Expected(np.empty(0, dtype=np.int32), *(np.empty(0) for _ in range(4)))


@dataclass(frozen=True)
class Clusters:
    """Mobile unknowns and what couples them. ``names`` [classes, K] and ``card`` [classes] say which states
    can be partners, ``label`` [M] of which class each unknown is."""

    state: str
    arrays: Couplings
    kinds: Kinds
    names: IntArray
    card: IntArray
    label: IntArray
    gauge: Gauge

    @property
    def turns(self) -> int:
        """How many choices of partners there are."""
        most = int(self.card.max(initial=2))
        return 1 if most == 2 else int(min(most, max(4, ENTRIES // max(1, len(self.kinds.entry)))))

    def promising(self, beta: float = 1.0) -> bool:
        """Whether much is coupled at an inverse temperature, and little of that in vain."""
        return self.gauge.influence(beta) >= INFLUENCE and self.gauge.frustrated <= FRUSTRATED

    def flips(self, table: FloatArray, shift: int) -> Flips:
        """What the kernel reads for one choice of partners: names n and (shift - n) mod K are partners."""
        partner, kinds = self._partners(shift), self.kinds
        bond, first, second = _bonds(*self._corners(table, partner))
        count = len(self.arrays.kind_start) - 1
        pulled = (first != 0) | (second != 0)
        return Flips(
            class_of=np.require(self.label, np.int32, ("C", "W")),
            partner=np.require(partner, np.int32, ("C", "W")),
            binds=(np.bincount(kinds.kind, weights=bond > 0, minlength=count) > 0).astype(np.uint8),
            pulls=(np.bincount(kinds.kind, weights=pulled, minlength=count) > 0).astype(np.uint8),
            threshold=np.minimum(np.ceil(bond * 2.0**BITS), 2.0**BITS - 1).astype(np.int32),
            first=first,
            second=second,
        )

    def expected(self, table: FloatArray, shift: int) -> Expected:
        """What the kernel compares with what it expects: the factors to which ``table`` gives weight."""
        corners = self._corners(table, self._partners(shift))
        varies = np.logical_or.reduce([corner != corners[0] for corner in corners[1:]])
        chosen = np.bincount(self.kinds.kind, weights=varies, minlength=len(self.arrays.kind_start) - 1) > 0
        return Expected(np.flatnonzero(chosen[self.arrays.kind]).astype(np.int32), *corners)

    def _corners(self, table: FloatArray, partner: IntArray) -> list[FloatArray]:
        """What the entries of kinds weigh if their ends stay, the first one goes, the second one, or both."""
        kinds = self.kinds
        first, second = (
            np.where(kinds.label[end] >= 0, partner[kinds.label[end], kinds.state[end]] - kinds.state[end], 0)
            * kinds.stride[end]
            for end in (0, 1)
        )
        return [table[kinds.entry + step] for step in (0, first, second, first + second)]

    def _partners(self, shift: int) -> IntArray:
        """The partner of each state of each class [classes, K]."""
        card = self.card[:, None]
        name = np.where(card == 2, 1 - self.names, (shift - self.names) % card)
        partner = np.zeros_like(self.names)
        for c, size in enumerate(self.card.tolist()):
            state = np.argsort(self.names[c, :size])
            partner[c, :size] = state[name[c, :size]]
        return partner


def _bonds(e00: FloatArray, e10: FloatArray, e01: FloatArray, e11: FloatArray) -> tuple[FloatArray, ...]:
    """Probabilities of bonds, and pulls at both ends, from what a factor weighs if its ends stay (0) or go.

    Impossible entries: what can go together alone is a bond; where that cannot be either, an end that cannot
    go alone stays, and both stay if each might go alone.
    """
    none = np.full(len(e00), -np.inf)
    with np.errstate(invalid="ignore"):
        coupled, alone = (e00 + e11) - (e01 + e10), np.isfinite(e10) & np.isfinite(e01)
        bond = -np.expm1(-np.maximum(coupled, 0.0) / 2)
        first, second = (e10 - e00 + e11 - e01) / 2, (e01 - e00 + e11 - e10) / 2
        together = np.isfinite(e11)
        tied = together & ~alone
        bond = np.where(tied, 1.0, np.where(together, bond, 0.0))
        first = np.where(tied, e11 - e00, first)
        second = np.where(tied, 0.0, second)
        first = np.where(together, first, np.where(np.isfinite(e10) & ~alone, e10 - e00, none))
        second = np.where(together, second, np.where(np.isfinite(e01) & ~alone, e01 - e00, none))
    met = np.isfinite(e00)
    return np.where(met, bond, 0.0), np.where(met, first, 0.0), np.where(met, second, 0.0)


@dataclass
class ClusterMove:
    """Cluster moves by the potentials ``table``; what the kernel reads is made when it is first needed.

    ``watched``: another table, of what is compared with what it is expected to be given the bonds.
    """

    sets: tuple[Clusters, ...]
    table: FloatArray
    watched: FloatArray | None = None
    made: dict[tuple[int, int], Flips] = field(default_factory=dict)
    expected: dict[tuple[int, int], Expected] = field(default_factory=dict)

    def __call__(
        self, block: ChainBlock, random: npt.NDArray[np.uint32], turn: int, excess: FloatArray | None = None
    ) -> None:
        """Move lanes; the sets of unknowns take turns, and so do partners.

        To ``excess`` [C] is added by how much what is watched weighs more after the move than it is expected
        to given the bonds, which has mean 0.
        """
        which = turn % len(self.sets)
        one = self.sets[which]
        key = which, _scattered(turn) % one.turns
        if key not in self.made:
            self.made[key] = one.flips(self.table, key[1])
        compared = _NOTHING
        if excess is not None and self.watched is not None:
            if key not in self.expected:
                self.expected[key] = one.expected(self.watched, key[1])
            compared = self.expected[key]
        out = np.zeros(block.state.shape[1]) if excess is None else excess
        with np.errstate(over="ignore"):
            kernel(one.state)(one.arrays, self.made[key], compared, block.state, block.level, random, out)


def _scattered(turn: int) -> int:
    """A number that looks random, the same for all chains: partners in order lead to near names alone."""
    z = (turn + 1) * 0x9E3779B97F4A7C15 & _WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    return (z ^ (z >> 27)) >> 32


def is_coupled(problem: Problem) -> bool:
    """Whether unknowns that may move are coupled so strongly that clusters may be worth a try."""
    free = movable(problem.parts)
    found = _ends(problem.parts, mobile_set(problem.parts, free, np.zeros_like(free)))
    return influence(wished(problem.graph, found), len(found.mobile), 1.0) >= INFLUENCE


def cluster_sets(plan: CompiledModel) -> tuple[Clusters, ...]:
    """The sets of unknowns that move in clusters, those with most couplings first; none if no factor couples
    two unknowns."""
    return tuple(_sets(plan))


def _sets(plan: CompiledModel) -> Iterator[Clusters]:
    parts = plan.problem.parts
    free = movable(parts)
    chosen = mobile_set(parts, free, np.zeros_like(free))
    yield from _clusters(plan, chosen)
    if (free & ~chosen).any():
        yield from _clusters(plan, mobile_set(parts, free, ~chosen))


def _clusters(plan: CompiledModel, chosen: BoolArray) -> Iterator[Clusters]:
    graph = plan.graph
    found = _ends(plan.problem.parts, chosen)
    if not found.pairs.any():
        return
    named = gauge(graph, found)
    card = graph.card[found.mobile].astype(np.int64)
    classes, label = np.unique(np.column_stack([card, named.names]), axis=0, return_inverse=True)
    label = label.ravel()
    arrays, kinds = couplings(graph, plan.rows, found, label)
    yield Clusters(state_type(graph), arrays, kinds, classes[:, 1:], classes[:, 0], label, named)


def _ends(parts: Parts, chosen: BoolArray) -> Ends:
    """The factors about the chosen variables that have two states or more."""
    return ends(parts, chosen & (parts.graph.card[: parts.graph.n_variables] > 1))
