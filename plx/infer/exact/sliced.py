"""Elimination in slices: some unknowns are fixed to each of their joint states in turn, the rest is summed.

What fixed unknowns leave is narrower: s of two states divide memory by up to 2^s, for 2^s propagations
(cutset conditioning: Pearl, Probabilistic reasoning in intelligent systems, 1988, §4.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from plx import deadline
from plx.graph.model import GroundModel
from plx.graph.ragged import owners, starts
from plx.graph.rows import BoolArray
from plx.graph.sizes import from_bits
from plx.graph.worlds import run_strides
from plx.infer.answers import Nodes, asked_together
from plx.infer.exact.drawing import drawn
from plx.infer.exact.elimination import Cost, JunctionTreePlan
from plx.infer.exact.elimination_order import Skeleton
from plx.infer.exact.junction_tree import Beliefs, ImpossibleError, Propagation
from plx.infer.exact.limits import MOST_SENT, SLICED_OPERATIONS, SLICES, WORTH_SENDING, ExactBudget
from plx.infer.exact.parted import Parts, Summed
from plx.infer.exact.tree_draws import TreeDraws, of_variables
from plx.infer.exact_plan import exact_inference
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import Assignments, Inference
from plx.numerals import counted
from plx.values import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SlicedPlan:
    """A tree in which nodes that are fixed have one state; ``whole`` is the plan that does not fit."""

    model: GroundModel
    whole: JunctionTreePlan
    fixed: tuple[int, ...]  # nodes of the network
    tree: Skeleton

    @property
    def slices(self) -> int:
        """Joint states of the fixed nodes."""
        return math.prod(self.whole.skeleton.network.card[list(self.fixed)].tolist())

    @property
    def reason(self) -> str:
        """In words for people."""
        cost = Cost.of(self.tree)
        steps = (
            f"eliminated in {len(self.tree.order):,} steps over at most {2.0**cost.table_bits:,.0f} states"
        )
        if not self.fixed:
            return steps
        return f"{steps}, for each of {self.slices:,} joint states of {counted(len(self.fixed), 'unknown')}"

    @property
    def operations(self) -> float:
        """Table entries touched, about."""
        return self.slices * self.tree.operations

    @property
    def memory(self) -> float:
        """Bytes held at once, about."""
        return 8.0 * from_bits(Cost.of(self.tree).entry_bits)

    def run(self) -> Inference:
        """All answers. Raises NoWorldError, and OutOfTimeError at the deadline."""
        log_sum, joint = self.summed()
        return exact_inference(self.model, self.reason, log_sum, joint)

    def summed(self) -> Summed:
        """As that of `JunctionTreePlan`, added up over the slices."""
        return self._joined([self._part(0, self.slices).found()])

    def parts(self) -> Parts:
        """Ranges of the slices."""
        size = math.ceil(max(WORTH_SENDING / self.tree.operations, self.slices / MOST_SENT))
        begin = range(0, self.slices, size)
        return Parts([self._part(at, min(at + size, self.slices)) for at in begin], self._joined)

    def _part(self, first: int, last: int) -> SlicePart:
        return SlicePart(self.tree, self.whole.skeleton, self.fixed, self._scopes, first, last)

    @property
    def _scopes(self) -> list[Nodes]:
        """What is asked about, by nodes of the network."""
        return sorted({*map(self.whole.scope, asked_together(self.model.queries))} - {()})

    def _joined(self, found: Sequence[SliceSums]) -> Summed:
        """The sums of all ranges. Raises NoWorldError."""
        top = max(part.top for part in found)
        if top == -math.inf:
            raise contradiction(self.model)
        scale = [math.exp(part.top - top) for part in found]
        mass = sum(part.mass * factor for part, factor in zip(found, scale, strict=True))
        joints: dict[Nodes, FloatArray] = {(): np.ones(1)}
        for i, scope in enumerate(self._scopes):
            summed = sum(part.sums[i] * factor for part, factor in zip(found, scale, strict=True))
            joints[scope] = np.asarray(summed / mass).ravel()
        return top + math.log(mass), lambda nodes: joints[self.whole.scope(nodes)]

    def draw(self, count: int, random: np.random.Generator) -> Assignments:
        """Worlds of the slices: how many are of each is drawn first. Raises as ``run``."""
        network = self.whole.skeleton.network
        tree, slices = self._slices()
        draws = TreeDraws(tree)
        logs = np.full(self.slices, -np.inf)
        for i, (_, tables) in enumerate(slices()):
            with suppress(ImpossibleError):
                logs[i] = draws.log_z(tables)
        if logs.max() == -np.inf:
            raise contradiction(self.model)
        per_slice = np.bincount(drawn(logs, count, random), minlength=len(logs))
        parts = []
        for (states, tables), n in zip(slices(), per_slice.tolist(), strict=True):
            if n:
                found = draws.draw(tables, n, random)
                for node, state in states.items():
                    found[node] = np.full(n, state)
                parts.append(of_variables(self.model.graph, network, found, n))
        return np.concatenate(parts, axis=1)[:, random.permutation(count)]

    def _slices(self) -> tuple[Skeleton, Callable[[], Iterator[Slice]]]:
        """The tree, and all slices."""
        return _slices(self.tree, self.whole.skeleton, self.fixed, 0, self.slices)


Slice = tuple[dict[int, int], FloatArray]
"""The states of the fixed nodes, and the tables for them."""


class SliceSums(NamedTuple):
    """Sums over slices, all of them times exp(-top): of probability, and of each scope."""

    top: float
    mass: float
    sums: list[FloatArray]


@dataclass(frozen=True, eq=False)
class SlicePart:
    """Slices ``first`` to ``last - 1`` of a plan, and the scopes that are asked about."""

    tree: Skeleton
    whole: Skeleton
    fixed: tuple[int, ...]
    scopes: list[Nodes]
    first: int
    last: int

    @property
    def operations(self) -> float:
        """Table entries touched, about."""
        return (self.last - self.first) * self.tree.operations

    def found(self) -> SliceSums:
        """The sums over these slices; ``top`` is -inf where no world is possible."""
        top, mass = -math.inf, 0.0
        sums = [np.zeros(self.whole.network.card[list(scope)]) for scope in self.scopes]
        for states, beliefs in self._propagated():
            before = math.exp(top - max(top, beliefs.log_z))
            top = max(top, beliefs.log_z)
            mine = math.exp(beliefs.log_z - top)
            mass = mass * before + mine
            for scope, summed, joint in zip(self.scopes, sums, beliefs.joints, strict=True):
                summed *= before
                at = tuple(states.get(node, slice(None)) for node in scope)
                summed[at] += mine * joint.reshape(np.shape(summed[at]))
        return SliceSums(top, mass, sums)

    def _propagated(self) -> Iterator[tuple[dict[int, int], Beliefs]]:
        """The states of the fixed nodes, and what the tree gives for them, where a world is possible."""
        tree, slices = _slices(self.tree, self.whole, self.fixed, self.first, self.last)
        propagation = Propagation(tree, self.scopes)
        for states, tables in slices():
            with suppress(ImpossibleError):
                yield states, propagation.run(tables)


def _slices(
    given: Skeleton, whole: Skeleton, fixed: tuple[int, ...], first: int, last: int
) -> tuple[Skeleton, Callable[[], Iterator[Slice]]]:
    """The tree for slices, and a range of them."""
    card, table = whole.network.card, whole.network.table
    tree, entry, offset = _restricted(given, whole, fixed)
    sizes = np.diff(np.append(tree.network.table_at, len(entry)))

    def slices() -> Iterator[Slice]:
        for joint in islice(product(*(range(int(card[node])) for node in fixed)), first, last):
            deadline.check()
            here = entry + np.repeat(offset @ np.array(joint, dtype=np.int64), sizes)
            yield dict(zip(fixed, joint, strict=True)), table[here]

    return tree, slices


def _restricted(
    tree: Skeleton, whole: Skeleton, fixed: tuple[int, ...]
) -> tuple[Skeleton, IntArray, IntArray]:
    """The tree over tables of slices, one by one; of each entry of these the place in the table of the whole
    network in the first slice; and how far a state of each fixed node moves it, shape (factors, fixed)."""
    network, card = whole.network, tree.network.card
    strides = run_strides(network.card[network.scope], network.scope_start)
    offset = np.zeros((network.n_factors, len(fixed)), dtype=np.int64)
    owner = owners(network.scope_start)
    for i, node in enumerate(fixed):
        at = np.flatnonzero(network.scope == node)
        offset[owner[at], i] = strides[at]
    entry = []
    for f in range(network.n_factors):
        rows = slice(int(network.scope_start[f]), int(network.scope_start[f + 1]))
        place = np.zeros(1, dtype=np.int64)
        for node, stride in zip(network.scope[rows].tolist(), strides[rows].tolist(), strict=True):
            place = (place[:, None] + stride * np.arange(card[node])).ravel()
        entry.append(network.table_at[f] + place)
    size = starts([len(places) for places in entry])
    sliced = tree.network._replace(table_at=size[:-1], table=np.zeros(size[-1]))
    return replace(tree, network=sliced), np.concatenate([*entry, np.empty(0, dtype=np.int64)]), offset


def sliced(model: GroundModel, whole: JunctionTreePlan) -> SlicedPlan | None:
    """The plan in slices where a tree that is known does not fit; None if that takes too long, too."""
    if not whole.complete or whole.apart:
        return None
    skeleton, fixed, limit = whole.skeleton, list[int](), ExactBudget()
    free = np.asarray(skeleton.network.times == 1)
    free[skeleton.network.family] = False
    tree = skeleton
    while Cost.of(tree).entry_bits > math.log2(limit.entries):
        deadline.check()
        node = _widest(tree, free)
        if node < 0 or len(fixed) >= SLICES:
            return None
        fixed.append(node)
        card = tree.network.card.copy()
        card[node] = 1
        tree = replace(tree, network=tree.network._replace(card=card))
    found = SlicedPlan(model, whole, tuple(fixed), tree)
    return found if found.operations <= SLICED_OPERATIONS else None


def _widest(tree: Skeleton, free: BoolArray) -> int:
    """The free node that takes most of the tables when it is fixed; -1 if none is free."""
    weight: FloatArray = np.exp2(tree.bits - tree.bits.max(initial=0.0))
    size = tree.network.card[tree.axis]
    saved = np.bincount(tree.axis, np.repeat(weight, np.diff(tree.axis_start)) * (1 - 1 / size), len(free))
    saved[~free] = 0.0
    return int(saved.argmax()) if saved.max(initial=0.0) > 0 else -1
