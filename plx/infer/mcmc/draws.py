"""Worlds that chains pass through once a run is over: the states of what is asked, chain by chain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.deadline import OutOfTimeError, within
from plx.errors import PlxError
from plx.graph.queries import with_targets
from plx.graph.worlds import log_weights, node_states
from plx.infer.chains import LostChainsError
from plx.infer.inference import Inference
from plx.infer.mcmc.batches import worst
from plx.infer.mcmc.run import Sampled, sample
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.options import Options, Progress
from plx.infer.problem import Problem
from plx.values import FloatArray

SAMPLER = "gibbs"
"""What draws where a method makes no worlds, or only those of a smaller model."""

_FARTHEST = 64
"""Draws are at most so many sweeps apart."""


@dataclass(frozen=True)
class Drawn:
    """States of targets [targets, chains, draws], log weights of worlds [chains, draws], and the sweeps
    between two draws."""

    states: npt.NDArray[np.unsignedinteger]
    log_weights: FloatArray
    apart: int
    interrupted: bool


def with_draws(problem: Problem, answered: Inference, options: Options, run: Sampled | None) -> Inference:
    """The answers with draws of the chains of ``run``, which stand in the model; None: of `gibbs` chains.

    These run first as long as a run of theirs takes. What there is no time for is absent, and a note says so.
    """
    model = problem.model
    asked = problem.asking(with_targets(model.queries))
    if options.draws is None or not asked.model.queries:
        return answered
    notes = []
    if run is None:
        run = _run(asked, replace(options, samples=None))
        notes.append(f"draws are of {SAMPLER} chains of their own")
    drawn = None if run is None or run.status == "interrupted" else _draw(run, options)
    if run is None or drawn is None:
        late = "there was no time for draws: give the run more --seconds"
        return replace(answered, notes=(*answered.notes, late))
    if (kept := drawn.states.shape[-1]) < options.draws:
        notes.append(f"there was time for {kept:,} of {options.draws:,} draws")
    if run.stuck.any() or worst(run.diagnosis)[1] >= options.rhat:
        notes.append("the chains of the draws have not converged")
    target = iter(run.targets.of_query.tolist())
    return replace(
        answered,
        answers=tuple(
            replace(answer, states=drawn.states[next(target)]) if query.targets else answer
            for query, answer in zip(model.queries, answered.answers, strict=True)
        ),
        log_weights=drawn.log_weights + model.log_constant,
        apart=drawn.apart,
        notes=(*answered.notes, *notes),
        status="interrupted" if drawn.interrupted else answered.status,
    )


def _run(asked: Problem, options: Options) -> Sampled | None:
    """A run until its answers are accurate, in half of the time that is left; None: it is too little."""
    seconds = min(float(Options.seconds or 0), deadline.seconds_left() / 2)
    try:
        with within(seconds):
            return sample(asked, SAMPLERS[SAMPLER], replace(options, seconds=seconds))
    except (OutOfTimeError, PlxError):  # the latter where no first world is found in time
        return None


def _draw(run: Sampled, options: Options) -> Drawn | None:
    """One draw after another, until there are enough, the time is over or Ctrl-C comes; None: none."""
    assert run.standing is not None and options.draws is not None
    graph, apart = run.standing.model.graph, _apart(run)
    every = np.arange(graph.n_variables)
    states: list[npt.NDArray[np.unsignedinteger]] = []
    weights: list[FloatArray] = []
    interrupted = False
    kind = np.min_scalar_type(int(np.diff(run.targets.offset).max(initial=1)) - 1)
    try:
        while len(states) < options.draws and not deadline.over():
            run.step(1, apart)
            nodes = node_states(graph, run.standing.states(every))
            states.append(run.targets.states(graph.card, nodes).astype(kind))
            weights.append(log_weights(graph, nodes))
            if len(states) % 64 == 0:
                options.progress(Progress("drawing worlds", len(states) / options.draws, 0.0))
    except KeyboardInterrupt:
        interrupted = True
    except LostChainsError:  # what there is stays
        pass
    states = states[: len(weights)]
    return Drawn(np.stack(states, -1), np.stack(weights, -1), apart, interrupted) if states else None


def _apart(run: Sampled) -> int:
    """Sweeps that make draws about independent, by the effective size of the worst answer."""
    batches, chains, _ = run.samples.counts.shape
    sweeps = batches * chains * run.samples.draws * run.thin
    size = float(run.diagnosis.states.ess.min(initial=np.inf))
    return int(np.clip(np.ceil(sweeps / max(size, 1.0)), 1, _FARTHEST)) if np.isfinite(size) else 1
