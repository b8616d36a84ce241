"""Good worlds by simulated annealing on the Gibbs kernel; no proof that they are the best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.model import GroundModel
from plx.graph.worlds import log_weights, node_states
from plx.infer.exact_scores import CLOSE, ranked
from plx.infer.gibbs.chains import chains_at, sweep
from plx.infer.gibbs.compiled import compile_model
from plx.infer.gibbs.initial_states import initial_states
from plx.infer.inference import World
from plx.infer.options import Clock, Options, Progress
from plx.infer.problem import Problem
from plx.infer.streams import Stream

_STAGES = 60
_SWEEPS = 8
_FIRST, _LAST = 0.2, 30.0
"""Inverse temperatures, from the first stage to the last."""


def anneal(problem: Problem, options: Options, best: int = 1) -> tuple[World, ...]:
    """The ``best`` different worlds of highest weight that were seen, best first, not proven optimal.

    It cools for a number of sweeps, or until the deadline. Raises NoWorldError if no world satisfies every
    hard rule.
    """
    clock = Clock()
    model = problem.model
    plan = compile_model(problem.asking(()))
    states = initial_states(problem, options.seed, options.chains, options.threads)
    chains = chains_at(plan, states, options.seed, options.threads, stream=Stream.ANNEALING)
    seen: dict[bytes, World] = {}
    for stage, heat in enumerate(np.geomspace(_FIRST, _LAST, _STAGES)):
        chains.plan = plan.with_potentials(model.graph.table * heat)
        sweep(chains, _SWEEPS)
        seen = _keep(seen, model, chains.states, best + CLOSE)
        options.progress(Progress("searching for the best world", (stage + 1) / _STAGES, clock.seconds))
        if deadline.over():
            break
    worlds = ranked(model, np.stack([world.states for world in seen.values()], axis=1)) if seen else []
    return tuple(replace(world, optimal=False) for world in worlds[:best])


def _keep(
    seen: dict[bytes, World], model: GroundModel, states: npt.NDArray[np.int32], best: int
) -> dict[bytes, World]:
    """The best worlds of those seen and those where the chains stand."""
    weights = log_weights(model.graph, node_states(model.graph, states))
    for chain in np.argsort(-weights, kind="stable")[: best * 4]:
        world = np.ascontiguousarray(states[:, chain])
        if weights[chain] > -np.inf:
            seen.setdefault(world.tobytes(), World(world, float(weights[chain]), optimal=False))
    ranked = sorted(seen.items(), key=lambda item: -item[1].log_weight)
    return dict(ranked[:best])
