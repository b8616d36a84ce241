"""log Z at β = 0: the log of the number of worlds that keep every hard rule, where it can be counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.graph.assemble import assemble, factor_batches, reassembled, variable_cards
from plx.graph.derived import derived_of
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.subgraph import subgraph
from plx.infer.exact_choice import exact_way
from plx.infer.hard.counted import counted
from plx.infer.problem import Problem
from plx.infer.tempering.limits import COUNTING
from plx.values import IMPOSSIBLE, ZERO


def log_worlds(problem: Problem) -> float | None:
    """The log of the number of worlds of a model; None where no exact way counts them in time."""
    card = np.log(variable_cards(problem.graph).astype(np.float64))
    if not len(problem.parts.hard_factors):
        return float(card.sum())
    rules, ruled = problem.parts.hard_part
    free = float(np.delete(card, ruled).sum())
    known = counted(rules)
    left = np.setdiff1d(np.arange(rules.n_factors), [f for one in known for f in one.factors])
    found = free + sum(one.log_count for one in known)
    if not len(left):
        return found
    try:
        with within(COUNTING * seconds_left()):
            plan = exact_way(Problem(_counting(problem.model, subgraph(rules, left)[0])))
            rest = plan.run().log_z if plan else None
    except OutOfTimeError:
        return None
    return None if rest is None else found + rest


def _counting(model: GroundModel, rules: FactorGraph) -> GroundModel:
    """The hard rules alone: every world that keeps them weighs 1."""
    batches = (
        batch._replace(tables=np.where(batch.tables == IMPOSSIBLE, IMPOSSIBLE, ZERO))
        for batch in factor_batches(rules)
    )
    part = replace(model, graph=rules, queries=(), constant_weight=ZERO)
    return reassembled(part, assemble(model.values, variable_cards(rules), batches, derived_of(rules)))
