"""A run of one sampler, from first states to what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from plx import deadline
from plx.deadline import within
from plx.graph.queries import blocks, singles
from plx.graph.rows import BoolArray
from plx.infer.answers import is_number, numbers, reads_numbers
from plx.infer.gibbs.chains import state_type
from plx.infer.inference import LogZ, Samples, Standing
from plx.infer.kernels.gibbs import kernel
from plx.infer.mcmc.batches import Run, Status
from plx.infer.mcmc.best_world import BestWorld
from plx.infer.mcmc.diagnostics import Diagnosis
from plx.infer.mcmc.monitor import Movement, monitor
from plx.infer.mcmc.samplers import C, Sampler
from plx.infer.options import Clock, Options, Progress
from plx.infer.problem import Problem, Targets
from plx.values import FloatArray


@dataclass(frozen=True)
class Sampled:
    """What a run found, its diagnosis, and why it stopped."""

    samples: Samples
    targets: Targets
    diagnosis: Diagnosis
    status: Status
    movement: Movement | None  # None where a sampler does not say where its chains stand
    sd_mcse: FloatArray  # [targets] standard errors of the standard deviations of numbers
    stuck: BoolArray  # [targets] something that the target depends on keeps chains apart
    missed: bool  # chains may have missed the most probable worlds
    standing: Standing | None  # where the chains stand
    step: Callable[[int, int], object]  # moves them on, so many draws of so many sweeps
    thin: int  # sweeps per draw
    log_z: LogZ | None  # None: the sampler has no estimate


def sample(problem: Problem, sampler: Sampler[C], options: Options, sums: bool = False) -> Sampled:
    """Run a sampler's chains until every answer is accurate, or to a limit, or to Ctrl-C.

    ``sums``: log Z is asked for too. Raises NoWorldError if no state satisfies every hard rule, OutOfTime if
    none is found in time.
    """
    kernel(state_type(problem.graph))  # compiled, where it must be, before the clock starts
    with within(options.seconds):
        return _sample(problem, sampler, options, sums)


def _sample(problem: Problem, sampler: Sampler[C], options: Options, sums: bool) -> Sampled:
    run = _resumed(options) or begin(problem, sampler, options, sums)
    run.spread()
    return finished(run, run.loop())


def _resumed(options: Options) -> Run[Any] | None:
    """A run that another process began, to go on with these options."""
    run: Run[Any] | None = options.resumed
    if run is not None:
        run.options = replace(options, chains=run.options.chains, seed=run.options.seed)
    return run


def begin(
    problem: Problem, sampler: Sampler[C], options: Options, sums: bool = False, chains: C | None = None
) -> Run[C]:
    """Chains at their first states, or those given where they stand. Raises as `sample` does."""
    clock, targets = Clock(), problem.targets
    options.progress(Progress("searching for a first state", 0.0, 0.0))
    if chains is None:
        chains = sampler.init(problem, options.seed, options.chains, options.threads)
    values, thin = state_values(problem), thinning(problem)
    standing = chains.standing()
    watch = None if standing is None else monitor(problem, standing)
    bridges = chains.bridges()
    if sums:
        chains.want_log_z()
    best = None
    if standing is not None and watch is not None and bridges is None:  # ladders look for themselves
        best = BestWorld(problem, standing, watch, options.seed, options.chains)
    kept = options, targets, values, thin, clock
    return Run(problem, sampler, chains, *kept, standing, watch, bridges, sums, best)


def finished(run: Run[C], status: Status) -> Sampled:
    """What a run found that stopped for some reason."""
    run.finish()
    missed = run.missed()
    samples = Samples(
        counts=np.stack(run.batches),
        offset=run.targets.offset,
        draws=run.draws,
        seconds=run.clock.seconds,
        interrupted=status == "interrupted",
        notes=(*run.chains.notes(), *(run.best.notes() if run.best else ()), *run.said, *_notes(status)),
    )
    movement, stuck = run.moved()
    diagnosis = run.diagnosis(movement)
    return Sampled(
        samples,
        run.targets,
        diagnosis,
        status,
        movement,
        run.sd_errors(diagnosis),
        stuck | missed,
        bool(missed.any()) or run.chains.missed(),
        run.standing,
        partial(run.sampler.step, run.chains),
        run.thin,
        run.log_z(),
    )


def state_values(problem: Problem) -> FloatArray:
    """The number that each state of each target stands for, 0 where a target is no number."""
    model, targets = problem.model, problem.targets
    values = np.zeros(int(targets.offset[-1]))
    for at, block in blocks(model.queries):
        begin = targets.offset[:-1][targets.of_query[at]]
        for form, rows in block.rows_by_form():
            if reads_numbers(model.values, block.kind, form.labels):
                free = begin[rows[block.node[rows] >= 0]]
                values[free[:, None] + np.arange(len(form.labels))] = model.values.floats(form.labels)
    for i, query in singles(model.queries):
        t = targets.of_query[i]
        if is_number(model, query) and targets.nodes[t]:
            values[targets.offset[t] : targets.offset[t + 1]] = numbers(model, query)
    return values


def thinning(problem: Problem) -> int:
    """Sweeps per draw, so that recording costs no more than sweeping: 1 to 8."""
    graph, targets = problem.graph, problem.targets
    derived = targets.asked[targets.asked >= graph.n_variables] - graph.n_variables
    work = int(targets.offset[-1] + np.diff(graph.input_start)[derived].sum())
    return min(8, max(1, work // (4 * max(1, graph.n_variables))))


def _notes(status: Status) -> tuple[str, ...]:
    if status == "limit" and deadline.over():
        return ("the clock ended this run, so the same seed may give slightly different answers next time",)
    return ()
