"""The most probable worlds, exactly, by max-sum on a junction tree."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plx.graph.model import GroundModel
from plx.infer.exact.elimination import JunctionTreePlan, plan
from plx.infer.exact.elimination_order import Skeleton
from plx.infer.exact.junction_tree import assemble
from plx.infer.exact.limits import ExactBudget
from plx.infer.exact_scores import States, Sums, proven, sums_of
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import World
from plx.infer.interrupts import waited
from plx.infer.kernels.max_sum import collect_best, trace_best
from plx.values import FloatArray


@dataclass(frozen=True)
class MapPlan:
    """The tree for `map` alone, over the tables in their unit: what queries ask makes it no wider."""

    sums: Sums
    tree: JunctionTreePlan

    def fits(self, count: int) -> bool:
        """Whether so many worlds can be found on the tree: each takes as much as an answer."""
        limit = ExactBudget()
        return self.tree.fits(ExactBudget(limit.entries / count, limit.operations / count))


def map_plan(model: GroundModel) -> MapPlan:
    """The plan for the most probable worlds of a model."""
    sums = sums_of(model)
    return MapPlan(sums, plan(replace(model, graph=sums.graph, queries=()), once=False))


def best_worlds(model: GroundModel, count: int = 1, chosen: MapPlan | None = None) -> tuple[World, ...]:
    """The ``count`` different worlds of highest weight, best first; fewer if no more are possible.

    Needs ``count`` numbers per entry of the messages of the plan. Of worlds that weigh the same
    some are taken. A world that rounding does not let prove best has a bound.

    Raises:
        PlxError: no world is possible; the rules that clash are named.
    """
    chosen = chosen or map_plan(model)
    skeleton = _with_one_root(chosen.tree.skeleton)
    if not len(skeleton.order):
        return (World(np.empty(0, dtype=np.int32), 0.0),)
    return proven(model, chosen.sums, count, lambda k: _largest_sums(model, skeleton, k), chosen.fits)


def _largest_sums(model: GroundModel, skeleton: Skeleton, count: int) -> tuple[States, FloatArray]:
    """The worlds of the ``count`` largest sums, (V, n), and these sums, largest first."""
    tree, network = assemble(skeleton), skeleton.network
    data = network.table
    messages = np.empty((tree.message_start[-1], count))
    inward = collect_best.sized(count * skeleton.operations)
    if not waited(lambda stop: inward(tree, data, messages, stop), count * tree.entry_start[-1]):
        raise contradiction(model)
    totals = messages[-1][messages[-1] > -np.inf]
    states = np.empty((len(totals), network.n_nodes), dtype=np.int64)
    for rank in range(len(totals)):
        trace_best.sized(count * skeleton.operations)(tree, skeleton.axis, data, messages, rank, states[rank])
    variables = network.node[: model.graph.n_variables]
    return np.ascontiguousarray(states[:, variables].astype(np.int32).T), totals


def _with_one_root(skeleton: Skeleton) -> Skeleton:
    """Each root sends its best to the next one, so that the last clique ranks whole worlds."""
    roots = np.flatnonzero(skeleton.parent < 0)
    parent = skeleton.parent.copy()
    parent[roots[:-1]] = roots[1:]
    return replace(skeleton, parent=parent)
