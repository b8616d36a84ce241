"""Exact answers where rules make unknowns the pairs of a partition, as `same(x, y)` of records.

The partitions are found from the ground rules (see `plx.infer.hard.partitions`) once what hard rules define
is computed. If each weight is about one pair, sums over partitions go over the subsets of the elements, not
over worlds: see `SetPartitions`. What has nothing to do with pairs is eliminated.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from plx.graph.model import GroundQuery, Target
from plx.graph.sizes import size_text
from plx.graph.subgraph import without_factors
from plx.infer.answers import Nodes, asked_together, distinct, with_maps, worlds_wanted
from plx.infer.exact.elimination import JunctionTreePlan, elimination, summed
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.exact.limits import (
    PARTITION_FACTORS,
    PARTITION_NUMBERS,
    PARTITION_OPERATIONS,
    PARTITION_WORLDS,
)
from plx.infer.exact.pair_sums import PairSums
from plx.infer.exact.relations import relations
from plx.infer.exact_plan import Refusal, exact_inference
from plx.infer.exact_scores import States, Sums, proven, sums_of, told
from plx.infer.hard.contradiction import contradiction
from plx.infer.hard.substitute import Substituted, substitute
from plx.infer.inference import Assignments, Inference, World
from plx.infer.problem import Problem
from plx.values import IMPOSSIBLE, FloatArray, IntArray

_TRIPLES = 4
"""So many rules over three truths make a partition of four elements."""


@dataclass(frozen=True, eq=False)
class PartitionPlan:
    """Relations that are partitions, of a model that computes what hard rules define, and the rest of it."""

    problem: Problem
    computed: Substituted
    pairs: PairSums
    rest: JunctionTreePlan

    @property
    def reason(self) -> str:
        """In words for people."""
        sizes = [one.n for one in self.pairs.relations]
        what = f"{sizes[0]:,} elements"
        if len(sizes) > 1:
            what = f"{len(sizes):,} sets of at most {max(sizes):,} elements"
        return f"the partitions of {what} were summed over, subset by subset"

    @cached_property
    def operations(self) -> float:
        """Table entries read, about."""
        asked = (self._split(nodes)[0] for nodes in _asked(self.problem, self.computed))
        return self.rest.operations + self.pairs.operations(nodes for nodes in asked if nodes)

    @property
    def memory(self) -> float:
        """Bytes held at once, about."""
        return self.rest.memory + max(one.memory for one in self.pairs.relations)

    def run(self) -> Inference:
        """All answers, `map` too where nothing but partitions is to be chosen. Raises NoWorldError."""
        model = self.problem.model
        try:
            log_sum, joint = summed(self.rest)
        except ImpossibleError:
            raise contradiction(model) from None
        free = sum(len(one.nodes) for one in self.pairs.relations) * math.log(2)  # in the rest
        log_sum += self.pairs.log_sum - free + self._moved
        found = exact_inference(model, self.reason, log_sum, lambda nodes: self._joint(nodes, joint))
        wanted = worlds_wanted(model.queries)
        best = max(wanted.values(), default=0)
        if not best or not self._lists(best):
            return found
        worlds, note = told(self._worlds(best), "sums over partitions")
        return with_maps(replace(found, notes=(*found.notes, note)), wanted, worlds)

    def draw(self, count: int, random: np.random.Generator) -> Assignments:
        """Worlds drawn: the partitions block by block. Raises NoWorldError if there is none."""
        states = self.rest.draw(count, random)
        for one, whole, _ in self.pairs.weighed:
            states[one.nodes] = one.states(whole.draw(count, random))
        return self.computed.original(self.problem, states)

    @property
    def _moved(self) -> float:
        """The log weight that is constant in the model that computes, and was not in the other."""
        return self.computed.model.log_constant - self.problem.model.log_constant

    def _joint(self, nodes: Nodes, rest: Callable[[Nodes], FloatArray]) -> FloatArray:
        """The joint distribution of distinct nodes of the model, flat in C order."""
        where, card = self.computed.nodes, self.computed.problem.graph.card
        at = where.node[list(nodes)].tolist()
        on_pairs, others = self._split(distinct([node for node in at if node >= 0]))
        joint = np.multiply.outer(self.pairs.joint(on_pairs), rest(others)).ravel()
        kept = (*on_pairs, *others)
        states = np.unravel_index(np.arange(len(joint)), card[list(kept)].tolist()) if kept else ()
        fixed = where.state[list(nodes)].tolist()
        index = [states[kept.index(a)] if a >= 0 else s for a, s in zip(at, fixed, strict=True)]
        out = np.zeros(self.problem.graph.card[list(nodes)].tolist())
        out[tuple(index)] = joint if kept else joint[0]
        return out.ravel()

    def _split(self, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """Those of some nodes that depend on pairs, and the others."""
        on_pairs = self.pairs.dependent
        return tuple(n for n in nodes if on_pairs[n]), tuple(n for n in nodes if not on_pairs[n])

    def _lists(self, count: int) -> bool:
        """Whether the best worlds can be listed: partitions are all that there is to choose."""
        chosen = sum(len(one.nodes) for one in self.pairs.relations)
        numbers = sum(3.0**one.n for one in self.pairs.relations) * count
        return chosen == self.computed.problem.graph.n_variables and numbers <= PARTITION_NUMBERS

    def _worlds(self, count: int) -> tuple[World, ...]:
        sums = sums_of(self.computed.model)
        return proven(self.problem.model, sums, count, lambda k: self._listed(sums, k), self._lists)

    def _listed(self, sums: Sums, count: int) -> tuple[States, FloatArray]:
        """The best worlds and their sums, in units: the best of one partition for each relation."""
        best: list[tuple[float, tuple[int, ...]]] = [(self._moved / sums.unit, ())]
        found = list[IntArray]()
        for one in self.pairs.relations:
            whole, apart = one.weighed(sums.graph)
            blocks, totals = whole.best(count)
            found.append(one.states(blocks))
            pairs = product(best, enumerate((totals + apart).tolist()))
            best = heapq.nlargest(count, ((total + more, (*at, i)) for (total, at), (i, more) in pairs))
        states = np.zeros((self.computed.problem.graph.n_variables, len(best)), dtype=np.int32)
        for k, one in enumerate(self.pairs.relations):
            states[one.nodes] = found[k][:, [at[k] for _, at in best]]
        return self.computed.original(self.problem, states), np.array([total for total, _ in best])


def partition_plan(problem: Problem) -> PartitionPlan | Refusal | None:
    """The plan where some relation is a partition, or why it cannot be taken; None where there is no such
    relation. Raises OutOfTimeError at the deadline."""
    if not _may_have(problem):
        return None
    computed = substitute(problem, but_assignments=True)
    if computed.model.constant_weight == IMPOSSIBLE:
        return None
    graph = computed.problem.graph
    found, stray = relations(computed.problem.parts)
    if not found:
        return None
    pairs = PairSums(graph, tuple(found))
    asked = _asked(problem, computed)
    if refused := _refused(computed, pairs, stray, asked):
        return refused
    rest = _rest(computed, pairs, asked)
    if isinstance(rest, Refusal):
        return rest
    plan = PartitionPlan(problem, computed, pairs, rest)
    if plan.operations <= PARTITION_OPERATIONS:
        return plan
    size = size_text(math.log2(plan.operations))
    most = f"at most {PARTITION_OPERATIONS:,.0f} are done"
    return Refusal(
        lambda: (
            f"sums over partitions of {max(one.n for one in found)} elements take {size} operations ({most})"
        ),
        plan.operations,
    )


def _may_have(problem: Problem) -> bool:
    """Whether hard rules are about enough triples of truths."""
    graph, hard = problem.graph, problem.parts.hard_factors
    triples = hard[np.diff(graph.scope_start)[hard] == 3]
    scope = graph.scope[graph.scope_start[triples][:, None] + np.arange(3)]
    truths = (graph.card[scope] == 2).all(axis=1) & (scope < graph.n_variables).all(axis=1)
    return int(truths.sum()) >= _TRIPLES and graph.n_factors <= PARTITION_FACTORS


def _asked(problem: Problem, computed: Substituted) -> list[Nodes]:
    """The nodes of the model that computes of which joint distributions are asked for."""
    node = computed.nodes.node
    targets = [node[list(nodes)].tolist() for nodes in asked_together(problem.model.queries)]
    return list(dict.fromkeys(distinct([n for n in nodes if n >= 0]) for nodes in targets))


def _refused(computed: Substituted, pairs: PairSums, stray: IntArray, asked: list[Nodes]) -> Refusal | None:
    """Why sums over partitions do not apply: what is about several pairs at once."""
    model = computed.model
    if len(stray):
        rule = model.rules[int(model.graph.rule_of[stray[0]])]
        return Refusal(
            lambda: f"sums over partitions need rules about one pair each, unlike `{rule.text}`", math.inf
        )
    if not all(pairs.is_apart(node) for nodes in asked for node in nodes):
        return Refusal(lambda: "sums over partitions need queries about pairs alone, or about none", math.inf)
    if max((pairs.partings(nodes) for nodes in asked), default=0) > PARTITION_WORLDS:
        return Refusal(lambda: "sums over partitions need queries about few pairs at once", math.inf)
    return None


def _rest(computed: Substituted, pairs: PairSums, asked: list[Nodes]) -> JunctionTreePlan | Refusal:
    """The plan for all that has nothing to do with pairs; these are left as unknowns of no factor."""
    graph = without_factors(computed.problem.graph, np.concatenate([one.factors for one in pairs.relations]))
    queries = dict.fromkeys(tuple(n for n in nodes if not pairs.dependent[n]) for nodes in asked)
    return elimination(Problem(replace(computed.model, graph=graph, queries=tuple(map(_query, queries)))))


def _query(nodes: Nodes) -> GroundQuery:
    empty = np.empty(0, dtype=np.int64)
    return GroundQuery("joint", "", "", tuple(Target(node, empty) for node in nodes), (), None)
