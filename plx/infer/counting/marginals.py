"""Exact answers by counting: sums over how many of n interchangeable blocks are in each state.

Unknowns that few factors mention are summed out (`peel`); if what is left falls into families of
interchangeable blocks (`core`), the worlds of n blocks of b joint states are summed over the
C(n + b − 1, b − 1) count vectors instead of over bⁿ worlds. Derived nodes that treat the members of
a family alike are functions of the counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plx import deadline
from plx.graph.model import GroundModel
from plx.graph.node_map import nodes_of
from plx.graph.sizes import from_bits, joint_bits, joint_states, size_text
from plx.infer.answers import asked_together
from plx.infer.counting.histograms import Component, components_of
from plx.infer.counting.limits import JOINT_BITS, LARGEST, MOST_CELLS, MOST_NODES, SMALL
from plx.infer.counting.odds import OddsSize
from plx.infer.counting.symmetric_core import SymmetricCore, find_cores
from plx.infer.exact_plan import Refusal, exact_inference
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import Inference
from plx.infer.limits import CHEAP
from plx.infer.problem import Problem
from plx.values import FloatArray, IntArray


@dataclass(frozen=True)
class CountPlan:
    """A core, and log₂ of how many joint count vectors its components have."""

    model: GroundModel
    core: SymmetricCore
    log2_vectors: float

    @property
    def vectors(self) -> float:
        """How many joint count vectors there are; infinite past the range of doubles."""
        return float(np.rint(from_bits(self.log2_vectors)))

    @property
    def reason(self) -> str:
        """In words for people."""
        blocks = max((len(family.members) for family in self.core.families), default=0)
        what = f"{blocks:,} interchangeable blocks are"
        if any(own is not None for own in self.core.own):
            what = f"{blocks:,} blocks, interchangeable up to weights of their own, are"
        return f"{what} summed over {self.vectors:,.0f} count vectors"

    @property
    def operations(self) -> float:
        """Numbers touched, about: to be compared with those of elimination."""
        counted = 30.0 * self.vectors * max(len(self.core.families), 1) + 50.0 * len(self.model.queries)
        return counted + sum(one.operations for one in self._own)

    @property
    def memory(self) -> float:
        """Bytes held at once, about: numbers per count vector, and the largest joint distribution."""
        own = 8.0 * sum(one.arrays for one in self._own)
        return own + 8.0 * (self.vectors * (len(self.core.counters) + 2) + from_bits(self._joint_bits))

    @cached_property
    def _own(self) -> list[OddsSize]:
        """What the products of the weights of blocks that differ in them take."""
        graph, families = self.core.graph, zip(self.core.families, self.core.own, strict=True)
        rows = [family.members for family, own in families if own is not None]
        return [OddsSize(len(one), from_bits(joint_bits(graph.card[one[0]]))) for one in rows]

    @cached_property
    def _joint_bits(self) -> float:
        """log₂ of the entries of the largest array for a joint distribution that is asked for."""
        asked = asked_together(self.model.queries)
        return max((self.sums.bits(nodes) for nodes in asked if len(nodes) > 1), default=0.0)

    def fits(self, largest: float = LARGEST) -> bool:
        """Whether there are at most so many counts, and the joint distributions asked for fit in memory."""
        few = self.log2_vectors <= math.log2(largest + 0.5) and all(one.whole <= largest for one in self._own)
        return few and self._joint_bits <= JOINT_BITS

    def needs(self) -> str:
        """What of a plan that does not fit is too large."""
        if self.log2_vectors > math.log2(LARGEST + 0.5):
            vectors = size_text(self.log2_vectors)
            return f"counting needs {vectors} count vectors (at most {LARGEST:,.0f} are summed)"
        return "counting needs joint distributions of too many unknowns"

    def run(self) -> Inference:
        """All answers by sums over counts."""
        return count(self)

    @cached_property
    def sums(self) -> Sums:
        """The sums over counts, worked out when they are asked for."""
        return Sums(self.core)


def count_plan(model: GroundModel) -> CountPlan | None:
    """The way to count, or None if the model has no symmetric core.

    Where the core does not fit, or is not cheap, blocks may differ in weights of their own.
    """
    plans = []
    for plan in count_plans(model):
        if plan.operations <= CHEAP and plan.fits():
            return plan
        plans.append(plan)
    return min((p for p in plans if p.fits()), key=lambda p: p.operations, default=next(iter(plans), None))


def count_plans(model: GroundModel) -> Iterator[CountPlan]:
    """The ways to count: with blocks that are wholly alike, and up to weights of their own."""
    nodes = nodes_of(model.queries)
    derived = nodes[nodes >= model.graph.n_variables]
    asked = {node for node in derived.tolist() if _wide(model, node)}
    for core in find_cores(model.graph, asked):
        if len(core.families) <= MOST_CELLS:
            sizes = [component.log2_vectors for component in components_of(core)]
            yield CountPlan(model, core, float(np.logaddexp2.reduce(sizes, initial=-np.inf)))


def counting(problem: Problem) -> CountPlan | Refusal | None:
    """The plan for counting, or why it would take too much; None if nothing is interchangeable."""
    plan = count_plan(problem.model)
    if plan is None or plan.fits():
        return plan
    return Refusal(plan.needs, plan.operations)


def count(plan: CountPlan) -> Inference:
    """All answers by sums over counts; `map` queries get none.

    Raises:
        PlxError: no world is possible.
    """
    sums = plan.sums
    if sums.log_z + plan.model.log_constant == -np.inf:
        raise contradiction(plan.model)

    def joint(nodes: tuple[int, ...]) -> FloatArray:
        deadline.check()
        return sums.joint(nodes)

    return exact_inference(plan.model, plan.reason, sums.log_z, joint)


def _wide(model: GroundModel, node: int) -> bool:
    """A derived node over too many inputs to be summed as a function of their joint distribution."""
    graph = model.graph
    inputs, _ = graph.inputs_of(node - graph.n_variables)
    return bool((inputs >= graph.n_variables).any()) or joint_states(graph.card[inputs]) > SMALL


class Sums:
    """The joint distributions of nodes, by the counts of the blocks that they lie in."""

    def __init__(self, core: SymmetricCore) -> None:
        self._core = core
        self._components = components_of(core)
        self._counters = {counter.node: c for c in self._components for counter in c.counters}
        self._known: dict[object, FloatArray] = {}
        self._group = np.full((2, core.graph.n_variables), -1, dtype=np.int64)
        for r, removed in enumerate(core.peeled.removed):
            self._group[0, removed.variable] = r
            self._group[1, removed.variable] = np.arange(len(removed.variable))

    @cached_property
    def log_z(self) -> float:
        """The logarithm of the sum over all worlds."""
        return self._core.peeled.log_constant + math.fsum(c.log_z for c in self._components)

    def joint(self, nodes: tuple[int, ...]) -> FloatArray:
        """The joint distribution of distinct nodes, flat in C order."""
        if not nodes:
            return np.ones(1)
        needed = self._expand(nodes)
        number = {node: i for i, node in enumerate(needed)}
        key = (tuple(number[node] for node in nodes), tuple(self._kind(node, number) for node in needed))
        if key not in self._known:
            self._known[key] = self._compute(nodes, needed, number)
        return self._known[key]

    def bits(self, nodes: tuple[int, ...]) -> float:
        """log₂ of the entries of the largest array that `joint` makes; infinite if it has too many axes."""
        needed = self._expand(nodes)
        if len(needed) > MOST_NODES:
            return math.inf
        blocks = {block for node in needed if (block := self._block(node))}
        taken = Counter(family for family, _ in blocks)
        sizes = [joint_bits(self._core.graph.card[needed])]
        sizes += [component.log2_joint(taken) for component in self._components]
        return max(sizes)

    def _expand(self, nodes: tuple[int, ...]) -> list[int]:
        """The nodes and all that they depend on, down to the core."""
        seen: dict[int, None] = {}
        stack = list(reversed(nodes))
        while stack:
            node = stack.pop()
            if node not in seen:
                seen[node] = None
                stack += self._parents(node)
        return list(seen)

    def _parents(self, node: int) -> list[int]:
        """What a node that is not of the core is a function of, or was summed out beside."""
        graph = self._core.graph
        if node >= graph.n_variables:
            return [] if node in self._counters else graph.inputs_of(node - graph.n_variables)[0].tolist()
        removed, row = self._group[:, node]
        return [] if removed < 0 else self._core.peeled.removed[removed].others[row].tolist()

    def _kind(self, node: int, number: dict[int, int]) -> tuple[object, ...]:
        """What decides the distribution of a node beside the numbers of those it depends on."""
        graph, core = self._core.graph, self._core
        parents = tuple(number[parent] for parent in self._parents(node))
        if node >= graph.n_variables:
            return (
                ("derived", node)
                if node in self._counters or not parents
                else self._function_kind(node, parents)
            )
        if self._group[0, node] >= 0:
            return ("removed", int(self._group[0, node]), parents)
        family, block = int(core.family_of[node]), int(core.block_of[node])
        first = next(i for other, i in number.items() if self._block(other) == (family, block))
        own = core.own[family]
        return (
            "core",
            family,
            int(core.column_of[node]),
            first,
            b"" if own is None else own[block].tobytes(),
        )

    def _function_kind(self, node: int, parents: tuple[int, ...]) -> tuple[object, ...]:
        graph = self._core.graph
        _, vectors = graph.inputs_of(node - graph.n_variables)
        return ("function", int(graph.output_of[node - graph.n_variables]), vectors.tobytes(), parents)

    def _block(self, node: int) -> tuple[int, int] | None:
        core = self._core
        if node >= core.graph.n_variables or self._group[0, node] >= 0:
            return None
        return int(core.family_of[node]), int(core.block_of[node])

    def _compute(self, nodes: tuple[int, ...], needed: list[int], number: dict[int, int]) -> FloatArray:
        operands: list[object] = []
        for component in self._components:
            operands += self._core_operand(component, needed, number)
        for node in needed:
            parents = [number[parent] for parent in self._parents(node)]
            if node < self._core.graph.n_variables and self._group[0, node] >= 0:
                removed = self._core.peeled.removed[self._group[0, node]]
                operands += [np.exp(removed.conditional), [*parents, number[node]]]
            elif node >= self._core.graph.n_variables and node not in self._counters:
                operands += [self._function(node), [*parents, number[node]]]
        joint = np.einsum(*operands, [number[node] for node in nodes], optimize=True)  # type: ignore[call-overload]
        return np.asarray(joint / joint.sum()).ravel()

    def _core_operand(
        self, component: Component, needed: Sequence[int], number: dict[int, int]
    ) -> list[object]:
        """The joint distribution of what is needed of a component, over those nodes; and their numbers."""
        core = self._core
        counters = [node for node in needed if self._counters.get(node) is component]
        blocks = sorted({b for node in needed if (b := self._block(node)) and b[0] in component.families})
        if not blocks and not counters:
            return []
        taken: dict[int, tuple[int, ...]] = {}
        for family, block in blocks:
            taken[family] = (*taken.get(family, ()), block)
        joint = component.joint(taken, counters)
        cards = [card for family, _ in blocks for card in component.cards(family)]
        joint = joint.reshape(*joint.shape[: len(counters)], *cards)
        cells = [int(v) for family, block in blocks for v in core.families[family].members[block]]
        dropped = tuple(len(counters) + i for i, v in enumerate(cells) if v not in number)
        return [joint.sum(axis=dropped), [number[v] for v in [*counters, *cells] if v in number]]

    def _function(self, node: int) -> FloatArray:
        """1 where the last axis is the function of the others, else 0."""
        graph = self._core.graph
        inputs, vectors = graph.inputs_of(node - graph.n_variables)
        total: IntArray = np.zeros((1,) * len(inputs), dtype=np.int64)
        for i, vector in enumerate(vectors):
            shape = [-1 if j == i else 1 for j in range(len(inputs))]
            total = total + graph.contribution_of(int(vector)).reshape(shape)
        return np.eye(int(graph.card[node]))[graph.output_map(node - graph.n_variables)[total]]
