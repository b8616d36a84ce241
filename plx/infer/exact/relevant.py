"""Queries answered in groups, each on the unknowns that matter to it.

Where tables are conditional distributions, a query needs the unknowns that its own depend on, and no others
(Shachter 1986, *Evaluating influence diagrams*). One tree for all queries about a network can be far wider
than those for a few of them each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from plx import deadline
from plx.graph.barren import Distributions, leaves, without_barren
from plx.graph.model import FactorGraph, GroundModel, GroundQuery
from plx.graph.ragged import starts
from plx.graph.subgraph import below
from plx.infer.answers import Nodes, asked_together, distinct, free_nodes
from plx.infer.exact.elimination import JunctionTreePlan, measured, refusal
from plx.infer.exact.limits import APART_TARGETS, NARROW_FACTORS, SLICED_OPERATIONS, TOGETHER_OPERATIONS
from plx.infer.exact.parted import Parts, Summed
from plx.infer.exact.sliced import SlicedPlan, sliced
from plx.infer.exact_plan import Refusal, exact_inference
from plx.infer.inference import Inference
from plx.infer.problem import Problem
from plx.numerals import counted
from plx.values import FloatArray

Asked = tuple[Nodes, GroundQuery]
"""Distinct nodes, and a query about them."""


@dataclass(frozen=True, eq=False)
class Group:
    """Targets that are summed for together: their nodes in the whole model, and the plan for the part of it
    that they need, whose queries are about them in this order."""

    targets: tuple[Nodes, ...]
    plan: JunctionTreePlan | SlicedPlan

    def summed(self) -> tuple[float, dict[Nodes, FloatArray]]:
        """log Z, and the joint distribution of each target. Raises NoWorldError."""
        return self.told(*self.plan.summed())

    def told(
        self, log_sum: float, joint: Callable[[Nodes], FloatArray]
    ) -> tuple[float, dict[Nodes, FloatArray]]:
        """As `summed`, from the sums of the plan."""
        own = (distinct(free_nodes(query)) for query in self.plan.model.queries)
        joints = {nodes: joint(mine) for nodes, mine in zip(self.targets, own, strict=True)}
        return log_sum + self.plan.model.log_constant, joints


@dataclass(frozen=True, eq=False)
class RelevantPlan:
    """Groups of targets, each with a plan of its own; every target is in one of them."""

    model: GroundModel
    groups: tuple[Group, ...]

    @property
    def reason(self) -> str:
        """In words for people."""
        widest = max(self.groups, key=lambda group: group.plan.operations)
        return (
            f"answered in {counted(len(self.groups), 'group')} of queries, each on the unknowns that matter"
            f" to it; the largest {widest.plan.reason}"
        )

    @property
    def operations(self) -> float:
        """Table entries touched, about, by all groups."""
        return operations(self.groups)

    @property
    def memory(self) -> float:
        """Bytes held at once, about: groups come one after the other."""
        return max(group.plan.memory for group in self.groups)

    def run(self) -> Inference:
        """All answers. Raises NoWorldError, and OutOfTimeError at the deadline."""
        log_z, joints = 0.0, dict[Nodes, FloatArray]({(): np.ones(1)})
        for group in self.groups:
            deadline.check()
            log_z, found = group.summed()
            joints |= found
        return exact_inference(self.model, self.reason, log_z - self.model.log_constant, joints.__getitem__)

    def parts(self) -> Parts:
        """The parts of all groups."""
        own = [group.plan.parts() for group in self.groups]
        start = starts([len(parts.parts) for parts in own]).tolist()

        def summed(found: Sequence[Any]) -> Summed:
            log_z, joints = 0.0, dict[Nodes, FloatArray]({(): np.ones(1)})
            for group, parts, (first, last) in zip(self.groups, own, pairwise(start), strict=True):
                log_z, mine = group.told(*parts.summed(found[first:last]))
                joints |= mine
            return log_z - self.model.log_constant, joints.__getitem__

        return Parts([part for parts in own for part in parts.parts], summed)


def relevant(problem: Problem, whole: float) -> RelevantPlan | None:
    """The plan in groups, where it takes fewer than ``whole`` operations; None otherwise.

    Raises OutOfTimeError at the deadline.
    """
    model, asked = problem.model, _asked(problem.model)
    if not 1 < len(asked) <= APART_TARGETS or problem.graph.n_factors > NARROW_FACTORS:
        return None
    needed = _needed(problem.graph, [nodes for nodes, _ in asked])
    if len(set(needed)) == 1:
        return None
    always = measured(Problem(without_barren(replace(model, queries=()))))
    if not isinstance(always, JunctionTreePlan) or not always.fits() or always.operations > whole / 2:
        return None
    order = sorted(range(len(asked)), key=lambda i: needed[i].bit_count())
    groups = _groups(model, [asked[i] for i in order], min(whole, SLICED_OPERATIONS))
    return None if groups is None or len(groups) == 1 else RelevantPlan(model, tuple(groups))


def eliminated(problem: Problem) -> JunctionTreePlan | SlicedPlan | RelevantPlan | Refusal:
    """The plan for elimination: of the whole, or where that takes much in slices or in groups of queries,
    whichever is cheaper; or what it would take. Raises OutOfTimeError at the deadline."""
    found = measured(problem)
    if isinstance(found, Refusal):
        return relevant(problem, math.inf) or found
    whole = found if found.fits() else sliced(problem.model, found)
    if whole and whole.operations <= TOGETHER_OPERATIONS:
        return whole
    groups = relevant(problem, whole.operations if whole else math.inf)
    return groups or whole or refusal(found)


def operations(groups: Sequence[Group]) -> float:
    """Table entries touched by these groups, about."""
    return sum(group.plan.operations for group in groups)


def _groups(model: GroundModel, asked: Sequence[Asked], most: float) -> list[Group] | None:
    """The cheapest groups for some queries, those that need least first, by halves; None where none takes at
    most so many operations."""
    deadline.check()
    whole = _group(model, asked)
    if whole and whole.plan.operations <= min(most, TOGETHER_OPERATIONS):
        return [whole]
    most = min(most, whole.plan.operations) if whole else most
    if len(asked) > 1 and (halves := _halves(model, asked, most)):
        return halves
    return [whole] if whole and whole.plan.operations <= most else None


def _halves(model: GroundModel, asked: Sequence[Asked], most: float) -> list[Group] | None:
    middle = len(asked) // 2
    later = _groups(model, asked[middle:], most)
    if later is None:
        return None
    first = _groups(model, asked[:middle], most - operations(later))
    return None if first is None else [*first, *later]


def _group(model: GroundModel, asked: Sequence[Asked]) -> Group | None:
    """All of some targets as one group; None where that does not fit, in slices neither."""
    part = without_barren(replace(model, queries=tuple(query for _, query in asked)))
    found = measured(Problem(part))
    if not isinstance(found, JunctionTreePlan):
        return None
    plan = found if found.fits() else sliced(part, found)
    return None if plan is None else Group(tuple(nodes for nodes, _ in asked), plan)


def _asked(model: GroundModel) -> list[Asked]:
    """The distinct nodes that queries are about, and one query about each; none is decided."""
    nodes, found = set(asked_together(model.queries)) - {()}, dict[Nodes, GroundQuery]()
    if len(nodes) > APART_TARGETS:
        return []
    for query in model.queries:
        if (mine := distinct(free_nodes(query))) in nodes:
            found.setdefault(mine, query)
    return list(found.items())


def _needed(graph: FactorGraph, targets: Sequence[Nodes]) -> list[int]:
    """Of each target the set, as bits, of unknowns that it needs and that not every query needs."""
    found = leaves(Distributions(graph), np.zeros(graph.n_nodes, dtype=bool))
    needs = [0] * graph.n_variables

    def of(nodes: Sequence[int]) -> int:
        bits = 0
        for node in nodes:
            inner = [node]
            if node >= graph.n_variables:
                inner = np.flatnonzero(below(graph, np.array([node]))[: graph.n_variables]).tolist()
            for variable in inner:
                bits |= needs[variable]
        return bits

    for variable, factor in zip(found.variable[::-1].tolist(), found.factor[::-1].tolist(), strict=True):
        needs[variable] = 1 << variable
        if factor >= 0:
            scope = graph.scope[graph.scope_start[factor] : graph.scope_start[factor + 1]]
            needs[variable] |= of(scope[scope != variable].tolist())
    return [of(nodes) for nodes in targets]
