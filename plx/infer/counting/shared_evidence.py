"""Queries with a ``given`` on one count, not conditioned: P(query | given) = P(query, given) / P(given).

Where the model is answered by counting, the joint distribution of a few nodes costs little once the
counts are summed. So a few dozen different ``given`` share one search for the symmetric core of a
model of a million unknowns, which conditioning would repeat for each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plx.graph.model import GroundModel, GroundQuery
from plx.infer.answers import distinct, exact_answer, free_nodes, repeated
from plx.infer.counting.limits import LARGEST, MANY, RAREST
from plx.infer.counting.marginals import CountPlan, Sums, count_plan
from plx.infer.hard.distant import without_distant
from plx.infer.inference import Inference
from plx.infer.options import Clock, Progress, Report, silent
from plx.values import FloatArray

Group = tuple[int, ...]


def answered_together(
    model: GroundModel, groups: Sequence[Group], report: Report = silent, more_than: int = MANY
) -> dict[Group, Inference]:
    """The exact answers to those groups of queries, by position, that one count can answer.

    The queries of a group share a ``given``. What is left out is answered on conditioned models, as
    everything is in models of at most ``more_than`` factors, where that costs little.
    """
    if len(groups) < 2 or model.graph.n_factors <= more_than:
        return {}
    model = without_distant(model)
    clock = Clock()
    report(Progress("looking for interchangeable unknowns", 0.0, 0.0))
    plan = count_plan(model)
    if plan is None or not plan.fits():
        return {}
    sums = plan.sums
    if sums.log_z == -np.inf:
        return {}
    found: dict[Group, Inference] = {}
    for group in groups:
        inference = _answered(plan, sums, group)
        if inference is not None:
            seconds = clock.seconds - sum(done.seconds for done in found.values())
            found[group] = replace(inference, seconds=seconds)
    return found


def _answered(plan: CountPlan, sums: Sums, group: Group) -> Inference | None:
    model, answers = plan.model, []
    for position in group:
        p = _conditional(model, sums, model.queries[position])
        if p is None:
            return None
        answers.append(exact_answer(model, model.queries[position], p))
    log_z = None if model.queries[group[0]].given else sums.log_z + model.log_constant
    return Inference("exact", plan.reason, tuple(answers), log_z=log_z)


def _conditional(model: GroundModel, sums: Sums, query: GroundQuery) -> FloatArray | None:
    """The distribution of a query's free nodes given its ``given``; None if that is not to be had so."""
    free, known = free_nodes(query), tuple(fact.node for fact in query.given)
    nodes = distinct((*free, *known))
    if not query.targets or min(known, default=0) < 0:
        return None
    if sums.bits(nodes) > math.log2(LARGEST):
        return None
    cards = model.graph.card[list(nodes)].tolist()
    joint = sums.joint(nodes).reshape(cards)
    kept = np.zeros(cards, dtype=bool)
    kept[tuple(_states(query, node) for node in nodes)] = True
    joint = np.where(kept, joint, 0.0)
    asked = distinct(free)
    joint = joint.sum(axis=tuple(range(len(asked), len(nodes))))
    total = float(joint.sum())
    if not total > RAREST:
        return None
    return repeated(model, free, joint.ravel() / total)


def _states(query: GroundQuery, node: int) -> slice | int:
    """The states of a node that the ``given`` allows: one of them, or all."""
    states = {fact.state for fact in query.given if fact.node == node}
    return states.pop() if len(states) == 1 else slice(0, 0) if states else slice(None)
