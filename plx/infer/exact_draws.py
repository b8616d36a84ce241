"""Worlds drawn exactly: independent, each with its probability, by the best exact way that draws."""

from __future__ import annotations

import numpy as np

from plx import deadline
from plx.deadline import OutOfTimeError, within
from plx.errors import Diagnostic, PlxError
from plx.graph.assemble import variable_cards
from plx.graph.sizes import joint_bits, size_text
from plx.graph.worlds import log_weights, node_states
from plx.infer.answer_size import MOST_DRAWN
from plx.infer.exact_plan import Drawing, ExactPlan
from plx.infer.exact_run import exactly
from plx.infer.inference import Answer, Assignments, Inference
from plx.infer.options import Clock, Options
from plx.infer.prepared import Prepared
from plx.infer.problem import Problem
from plx.infer.streams import Stream, generator

_TOGETHER = 1 << 23
"""States of nodes that are worked out at once."""


def draw_worlds(ready: Prepared, count: int, options: Options) -> Inference:
    """Draws of what the queries ask for, as one chain; `map` and `logz` have none.

    Raises PlxError if no exact way draws worlds of it, in the time that there is, or if none is possible.
    """
    clock = Clock()
    with within(options.seconds):
        try:
            ways = ready.drawing_ways
            refuse_large(ready.problem.graph.n_variables, count)
            found = exactly(ways, lambda plan: (plan.reason, _drawn(plan, count, options.seed)))
            if found is None:
                worlds = size_text(joint_bits(variable_cards(ready.problem.graph)))
                raise ways.refusal(worlds, options.refused)
            reason, worlds_drawn = found
            answers, weights = _asked(ready.problem, worlds_drawn)
        except OutOfTimeError:
            if options.seconds is None:
                raise
            raise PlxError(not_drawn(options.seconds)) from None
    return Inference(
        "exact",
        reason,
        answers,
        seed=options.seed,
        chains=1,
        draws=count,
        seconds=clock.seconds,
        notes=tuple(ways.given_up),
        log_weights=weights[None] + ready.problem.model.log_constant,
        apart=1,
    )


def not_drawn(seconds: float) -> Diagnostic:
    """The error for draws whose time is over."""
    message = f"no worlds were drawn within {seconds:.3g} seconds"
    hint = "give it more seconds, or keep the draws of a sampler, run(draws=1000)"
    return Diagnostic(message, hint=hint)


def _drawn(plan: ExactPlan, count: int, seed: int) -> Assignments:
    assert isinstance(plan, Drawing)  # the ways have no others
    return plan.draw(count, generator(seed, Stream.DRAWS))


def _asked(problem: Problem, worlds: Assignments) -> tuple[tuple[Answer, ...], np.ndarray]:
    """Of worlds (V, n) the states of what is asked, and the log weights [n]."""
    graph, targets, count = problem.graph, problem.targets, worlds.shape[1]
    kind = np.min_scalar_type(int(np.diff(targets.offset).max(initial=1)) - 1)
    states = np.empty((len(targets.nodes), count), dtype=kind)
    weights = np.empty(count)
    step = max(1, _TOGETHER // max(1, graph.n_nodes))
    for first in range(0, count, step):
        deadline.check()
        here = slice(first, first + step)
        nodes = node_states(graph, worlds[:, here])
        states[:, here], weights[here] = targets.states(graph.card, nodes), log_weights(graph, nodes)
    return tuple(Answer(states=states[t][None]) for t in targets.of_query.tolist()), weights


def refuse_large(unknowns: int, count: int) -> None:
    """Raises PlxError where worlds of so many unknowns would take too much memory."""
    if 4 * unknowns * count > MOST_DRAWN:
        most = MOST_DRAWN // (4 * unknowns)
        message = f"{count:,} worlds of {unknowns:,} unknowns take {4e-9 * unknowns * count:,.1f} GB"
        limit = f"{message}; the limit is {MOST_DRAWN / 1e9:.1f} GB"
        raise PlxError(Diagnostic(limit, hint=f"draw {most:,} at a time, each time with another seed"))
