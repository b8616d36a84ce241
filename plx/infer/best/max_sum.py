"""The most probable worlds, exactly, by max-sum on a junction tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plx.graph.model import GroundModel
from plx.graph.worlds import log_weights, node_states
from plx.infer.exact.elimination import Plan, plan
from plx.infer.exact.elimination_order import Skeleton
from plx.infer.exact.junction_tree import assemble
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import World
from plx.infer.interrupts import waited
from plx.infer.kernels.max_sum import collect_best, trace_best


def map_plan(model: GroundModel) -> Plan:
    """The tree for `map` alone: what queries ask makes it no wider."""
    return plan(replace(model, queries=()), once=False)


def best_worlds(model: GroundModel, count: int = 1, chosen: Plan | None = None) -> tuple[World, ...]:
    """The ``count`` different worlds of highest weight, best first; fewer if no more are possible.

    Needs ``count`` numbers per entry of the messages of the plan. Of worlds that weigh the same
    some are taken.

    Raises:
        PlxError: no world is possible; the rules that clash are named.
    """
    skeleton = _with_one_root((chosen or map_plan(model)).skeleton)
    if not len(skeleton.order):
        return (World(np.empty(0, dtype=np.int32), 0.0),)
    tree, network = assemble(skeleton), skeleton.network
    data = network.table
    messages = np.empty((tree.message_start[-1], count))
    inward = collect_best.sized(count * skeleton.operations)
    if not waited(lambda stop: inward(tree, data, messages, stop), count * tree.entry_start[-1]):
        raise contradiction(model)
    found = int((messages[-1] > -np.inf).sum())
    states = np.empty((found, network.n_nodes), dtype=np.int64)
    for rank in range(found):
        trace_best.sized(count * skeleton.operations)(tree, skeleton.axis, data, messages, rank, states[rank])
    variables = network.node[: model.graph.n_variables]
    worlds = np.ascontiguousarray(states[:, variables].astype(np.int32).T)
    weights = log_weights(model.graph, node_states(model.graph, worlds))
    ranked = sorted(range(found), key=lambda r: -weights[r])
    return tuple(World(worlds[:, r].copy(), float(weights[r])) for r in ranked)


def _with_one_root(skeleton: Skeleton) -> Skeleton:
    """Each root sends its best to the next one, so that the last clique ranks whole worlds."""
    roots = np.flatnonzero(skeleton.parent < 0)
    parent = skeleton.parent.copy()
    parent[roots[:-1]] = roots[1:]
    return replace(skeleton, parent=parent)
