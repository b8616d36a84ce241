"""Exact answers by elimination along a junction tree. What it costs is known before the work."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plx.graph.model import GroundModel, GroundRule
from plx.graph.ragged import owners
from plx.graph.sizes import from_bits, size_text
from plx.infer.answers import Nodes, asked_together
from plx.infer.exact.elimination_order import Skeleton, find_order, follow_order, in_order_of_size
from plx.infer.exact.isomorphic import keep_once, only_around
from plx.infer.exact.junction_tree import Beliefs, ImpossibleError, propagate
from plx.infer.exact.limits import JOINT_OPERATIONS, NARROW_BITS, SPLIT_OPERATIONS, ExactBudget
from plx.infer.exact.network import with_scopes
from plx.infer.exact.parted import Parts, Summed, components, tree_sums, whole
from plx.infer.exact.split import split
from plx.infer.exact.tree_draws import TreeDraws, of_variables
from plx.infer.exact.treewidth import least_bits, surely_wider
from plx.infer.exact_plan import Refusal, exact_inference
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import Assignments, Inference
from plx.infer.problem import Problem
from plx.values import FloatArray, IntArray

_AT_MOST = f"(at most {ExactBudget().entries:,.0f} are made)"


@dataclass(frozen=True)
class Cost:
    """What one propagation takes: log₂ of the entries of the largest table and all messages, operations."""

    complete: bool
    table_bits: float
    message_bits: float
    operations: float

    @staticmethod
    def of(tree: Skeleton) -> Cost:
        """The cost of a tree; of the part that there is, where the search for an order gave up."""
        messages = float(np.logaddexp2.reduce(tree.message_bits, initial=-np.inf))
        return Cost(tree.complete, float(tree.bits.max(initial=0.0)), messages, tree.operations)

    @property
    def entry_bits(self) -> float:
        """log₂ of the entries in memory at once: all messages and the largest table."""
        return float(np.logaddexp2(self.table_bits, self.message_bits))


@dataclass(frozen=True)
class JunctionTreePlan:
    """A junction tree for a model, and what it will cost.

    ``apart`` are the sets of targets that no clique holds: each takes a propagation of its own,
    on a tree that eliminates these targets last. ``costs`` are those of all propagations.
    """

    model: GroundModel
    skeleton: Skeleton
    costs: tuple[Cost, ...]
    apart: tuple[Nodes, ...] = ()

    @property
    def complete(self) -> bool:
        """False where the search for an order gave up: the true size is unknown, but larger."""
        return all(cost.complete for cost in self.costs)

    @property
    def table_bits(self) -> float:
        """log₂ of the entries of the largest table."""
        return max(cost.table_bits for cost in self.costs)

    @property
    def entry_bits(self) -> float:
        """log₂ of the entries in memory at once, of 8 bytes each."""
        return max(cost.entry_bits for cost in self.costs)

    @property
    def operations(self) -> float:
        """Table entries touched, about; 10⁹ take some seconds. Infinite past the range of doubles."""
        return sum(cost.operations for cost in self.costs)

    @property
    def memory(self) -> float:
        """Bytes held at once, about; infinite past the range of doubles."""
        return 8.0 * from_bits(self.entry_bits)

    @property
    def reason(self) -> str:
        """In words for people."""
        steps = len(self.skeleton.order)
        return f"eliminated in {steps:,} steps over at most {2.0**self.table_bits:,.0f} states"

    def fits(self, budget: ExactBudget | None = None) -> bool:
        """Whether solving stays within the budget."""
        limit = budget or ExactBudget()
        small = self.entry_bits <= math.log2(limit.entries) and self.operations <= limit.operations
        return self.complete and small

    def scope(self, nodes: Nodes) -> Nodes:
        """The nodes of the network that stand for nodes of the graph."""
        return tuple(self.skeleton.network.node[list(nodes)].tolist())

    def needs(self) -> str:
        """What of a plan that does not fit is too large, with its size."""
        limit = ExactBudget()
        if not self.complete or least_bits(self.model.graph) > math.log2(limit.entries):
            return f"elimination needs {_table(self.model, self.table_bits)}"
        if self.table_bits > math.log2(limit.entries):
            what = f"a table of {size_text(self.table_bits)} entries {_AT_MOST}"
        elif self.entry_bits > math.log2(limit.entries):
            what = f"{size_text(self.entry_bits)} numbers in memory (at most {limit.entries:,.0f} are kept)"
        else:
            size = size_text(math.log2(self.operations))
            what = f"{size} operations (at most {limit.operations:,.0f} are done)"
        return f"elimination needs {what}"

    def couples(self) -> list[GroundRule]:
        """The rules that couple most of the unknowns in the largest clique."""
        return coupling_rules(self.model, self.widest())

    def run(self) -> Inference:
        """All answers, by propagation along the tree."""
        return solve(self.model, self)

    def summed(self) -> tuple[float, Callable[[Nodes], FloatArray]]:
        """The log of the sum over worlds, and the joint distribution of the distinct targets of each query,
        flat in C order. Raises NoWorldError if no world is possible."""
        try:
            return summed(self)
        except ImpossibleError:
            raise contradiction(self.model) from None

    def parts(self) -> Parts:
        """The components of the tree, and the trees of joint queries that need their own."""
        trees = [whole(*_last(self.skeleton, scope), scope) for scope in self.apart]
        every = [*trees, *components(self.skeleton, self.inside())]

        def summed(found: Sequence[Beliefs | None]) -> Summed:
            try:
                log_sum, joints = tree_sums(every, found)
            except ImpossibleError:
                raise contradiction(self.model) from None
            return log_sum, lambda nodes: joints[self.scope(nodes)]

        return Parts(every, summed)

    def inside(self) -> list[Nodes]:
        """What is asked about, in cliques of the tree, by nodes of the network."""
        return sorted({*map(self.scope, asked_together(self.model.queries))} - {(), *self.apart})

    def draw(self, count: int, random: np.random.Generator) -> Assignments:
        """Worlds drawn along the tree, from its roots on. Raises NoWorldError if there is none."""
        network = self.skeleton.network
        try:
            states = TreeDraws(self.skeleton).draw(network.table, count, random)
        except ImpossibleError:
            raise contradiction(self.model) from None
        return of_variables(self.model.graph, network, states, count)

    def widest(self) -> tuple[int, ...]:
        """The nodes of the graph in the largest clique."""
        tree = self.skeleton
        if not len(tree.order):
            return ()
        c = int(tree.bits.argmax())
        axes = tree.axis[tree.axis_start[c] : tree.axis_start[c + 1]]
        return tuple(np.flatnonzero(np.isin(tree.network.node, axes)).tolist())


def coupling_rules(model: GroundModel, nodes: Sequence[int] | IntArray, count: int = 3) -> list[GroundRule]:
    """The rules with most factors over several of some nodes of the graph, those with most first."""
    graph, inside = model.graph, np.zeros(model.graph.n_nodes, dtype=np.int64)
    inside[list(nodes)] = 1
    owner = owners(graph.scope_start)
    met = np.bincount(owner, inside[graph.scope], graph.n_factors)
    for least in (2, 1):
        if (rules := graph.rule_of[met >= least]).size:
            return [model.rules[r] for r, _ in Counter(rules.tolist()).most_common(count)]
    return []


def elimination(problem: Problem) -> JunctionTreePlan | Refusal:
    """The plan for elimination, or why it would take too much."""
    found = measured(problem)
    if isinstance(found, Refusal) or found.fits():
        return found
    return refusal(found)


def refusal(chosen: JunctionTreePlan) -> Refusal:
    """Why a plan takes too much."""
    return Refusal(chosen.needs, chosen.operations if chosen.complete else math.inf, chosen.couples)


def measured(problem: Problem) -> JunctionTreePlan | Refusal:
    """The plan for elimination, which may take too much; refused where that is plain without one."""
    model = problem.model
    if surely_wider(model.graph, math.log2(ExactBudget().entries)):
        every = np.arange(model.graph.n_variables)
        return Refusal(
            lambda: f"elimination needs {_table(model)}", math.inf, lambda: coupling_rules(model, every)
        )
    return plan(model)


def _table(model: GroundModel, tried: float = 0.0) -> str:
    """The least size of the largest table: in any order, or else in those tried, of so many bits."""
    sure = least_bits(model.graph)
    if sure > math.log2(ExactBudget().entries):
        return f"a table of at least {_states_text(sure)} entries, whatever the order {_AT_MOST}"
    return f"a table of over {_states_text(tried)} entries in every order tried {_AT_MOST}"


def _states_text(bits: float) -> str:
    return size_text(bits) if bits < 30 else f"10^{math.floor(bits * math.log10(2))}"


def is_narrow(model: GroundModel) -> bool:
    """Whether the first order that comes to mind is cheap: its cliques have few states."""
    targets = {node for nodes in asked_together(model.queries) for node in nodes}
    return in_order_of_size(split(model.graph, targets), NARROW_BITS)


def plan(model: GroundModel, once: bool = True) -> JunctionTreePlan:
    """Choose an elimination order for a model whose queries have no ``given``.

    ``once``: components that are copies of each other are solved once.
    """
    targets = asked_together(model.queries)
    skeleton = _tree(model, targets, once, in_order=False)
    network = skeleton.network
    if len(network.guide) and not skeleton.operations < SPLIT_OPERATIONS:
        other = _tree(model, targets, once, in_order=True)
        skeleton = min(skeleton, other, key=lambda tree: (not tree.complete, tree.operations))
        network = skeleton.network
    scopes = [tuple(network.node[list(nodes)].tolist()) for nodes in targets if len(nodes) > 1]
    scopes = list(dict.fromkeys(scopes))
    joint = [scope for scope in scopes if skeleton.complete and skeleton.home(scope) < 0]
    if not joint:
        return JunctionTreePlan(model, skeleton, (Cost.of(skeleton),))
    together = find_order(with_scopes(network, scopes))
    if together.complete and together.operations <= JOINT_OPERATIONS + skeleton.operations:
        return JunctionTreePlan(model, together, (Cost.of(together),))
    costs = [Cost.of(skeleton), *(Cost.of(_last(skeleton, scope)[0]) for scope in joint)]
    return JunctionTreePlan(model, skeleton, tuple(costs), tuple(joint))


def _tree(model: GroundModel, targets: Sequence[Nodes], once: bool, in_order: bool) -> Skeleton:
    """A tree for one way to split the wide derived nodes."""
    network = split(model.graph, {node for nodes in targets for node in nodes}, in_order)
    if once:
        network = keep_once(network, (network.node[list(nodes)].tolist() for nodes in targets))
    return find_order(network)


def solve(model: GroundModel, chosen: JunctionTreePlan | None = None) -> Inference:
    """All answers in one propagation (and one for each joint query that needs its own tree).

    `map` queries are left to `best_worlds`: their answers have no worlds.

    Raises:
        PlxError: no world is possible; the rules that clash are named.
    """
    chosen = chosen or plan(model)
    log_sum, joint = chosen.summed()
    return exact_inference(model, chosen.reason, log_sum, joint)


def summed(chosen: JunctionTreePlan) -> tuple[float, Callable[[Nodes], FloatArray]]:
    """The log of the sum over worlds, and the joint distribution of the distinct targets of each query, flat
    in C order. Raises ImpossibleError."""
    log_sum, joints = _propagate(chosen)
    return log_sum, lambda nodes: joints[chosen.scope(nodes)]


def _last(skeleton: Skeleton, scope: Nodes) -> tuple[Skeleton, Nodes]:
    """A tree of the components around some nodes that eliminates these last, so that one clique
    holds them all; and their numbers in it."""
    ordered = skeleton.network._replace(guide=skeleton.order)
    part, inner = only_around(ordered, scope)
    first = part.guide[~np.isin(part.guide, inner)]
    order = np.concatenate([first, inner]).astype(np.int64)
    return follow_order(with_scopes(part, [inner]), order), inner


def _propagate(chosen: JunctionTreePlan) -> tuple[float, dict[Nodes, FloatArray]]:
    """log Z, and the joint distribution of the distinct targets of every query, by nodes of the network."""
    out: dict[Nodes, FloatArray] = {(): np.ones(1)}
    for scope in chosen.apart:
        tree, inner = _last(chosen.skeleton, scope)
        out[scope] = propagate(tree, [inner]).joints[0]
    inside = chosen.inside()
    beliefs = propagate(chosen.skeleton, inside)
    out.update(zip(inside, beliefs.joints, strict=True))
    return beliefs.log_z, out
