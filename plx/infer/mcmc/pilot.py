"""The choice between samplers by pilot runs: which makes more effective samples in a second.

The usual one begins. If it ends in the time of a pilot, or is about to, it is taken, and nothing is lost.
Else those that may do better get as long a pilot each, and the best goes on from where it stands. Samplers
that move the usual one's chains in more ways go on from where these stand, and then the usual one has another
pilot: chains that begin alike may seem to agree, and do not once they are where they should be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from plx.deadline import OutOfTimeError, over, seconds_left, within
from plx.errors import PlxError
from plx.infer.gibbs.chains import state_type
from plx.infer.kernels.gibbs import kernel
from plx.infer.mcmc.batches import Run, Status
from plx.infer.mcmc.run import Sampled, begin, finished
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.options import Options
from plx.infer.problem import Problem

USUAL, LAST, PLAIN = "lifted", "tempered", "gibbs"
"""The sampler that begins, the one that is tried where none that was tried before agrees, and the one that is
set up soonest."""

SETTING_UP = 1e-5
"""Seconds that the usual sampler takes to be set up for an unknown or a factor of a large model, at most."""

UPDATE = 1e-8
"""Seconds that an update of an unknown takes, at most."""

PILOTS = 0.1
"""The share of the time of all pilots together; …"""

LONGEST = 2.0
"""… and so many seconds of one at most."""

AGREE = 1.1
"""With a larger R-hat chains are too far apart to say how many samples they are worth."""

LOST = 1.5
"""Chains that moves of many unknowns leave so far apart are stuck."""

CLEARLY = 2.0
"""Where chains of none agree, one that makes so many times as many samples, as far as is known, is better."""


def with_more_moves(problem: Problem) -> tuple[str, ...]:
    """The samplers that move the usual one's chains in more ways, and apply."""
    from plx.infer.moves.cluster import is_coupled
    from plx.infer.moves.forest import is_tied

    return tuple(name for name, applies in (("cluster", is_coupled), ("trees", is_tied)) if applies(problem))


@dataclass(frozen=True)
class Rate:
    """What a pilot tells: effective samples per second of the slowest answer, whether chains agree on it, and
    whether something keeps them apart."""

    agree: bool
    stuck: bool
    rate: float
    missed: bool = False  # the most probable worlds

    def beats(self, usual: Rate) -> bool:
        """Whether to leave the usual sampler: for one that agrees, or where the usual one is stuck."""
        if not (self.agree or usual.agree):
            return usual.stuck or self.rate > CLEARLY * usual.rate
        return (self.agree, self.rate) > (usual.agree, usual.rate)


NOTHING = Rate(False, False, 0.0)
"""Of a pilot that did not come as far as a batch."""


@dataclass(frozen=True)
class Trial:
    """A pilot; ``run`` is None where it did not come as far as a first state, ``over`` where it is done or
    about to be."""

    name: str
    run: Run[Any] | None
    rate: Rate
    status: Status = "limit"
    over: bool = False

    @property
    def speaks(self) -> bool:
        """Whether it says something for the sampler; the last one needs no word where others are stuck."""
        return self.name == LAST or (self.rate.rate > 0 and not self.rate.stuck)

    def __str__(self) -> str:
        """What it found."""
        if self.rate.agree:
            return f"{self.name} {self.rate.rate:,.0f} effective samples a second"
        if self.rate.missed:
            return f"{self.name} none, as its chains miss the most probable world"
        return f"{self.name} " + (
            "none, as its chains are stuck apart" if self.rate.stuck else "too few to tell"
        )


def sample_by_choice(problem: Problem, options: Options) -> tuple[str, str, Sampled]:
    """The sampler that was taken, why (empty: nothing had to be chosen), and its run. Raises as `sample`
    does."""
    kernel(state_type(problem.graph))  # compiled, where it must be, before the clock starts
    if _hurried(problem, options):
        return _finish(PLAIN, "others take longer to set up", begin(problem, SAMPLERS[PLAIN], options))
    names = with_more_moves(problem)
    seconds = min(LONGEST, PILOTS / (2 + len(names) + bool(names)) * seconds_left())
    run = begin(problem, SAMPLERS[USUAL], options)
    first = _trial(USUAL, run, seconds)
    if first.over or over():
        return _finish(USUAL, "", run, first.status)
    trials = list(_trials(problem, names, options, seconds, first))
    best = trials[0]
    for trial in trials[1:]:
        best = trial if trial.speaks and trial.rate.beats(best.rate) else best
    why = _compared(best, trials)
    if best.run is None or (best.name == LAST and not best.rate.agree):  # it may have lacked the time to tune
        return _finish(best.name, why, begin(problem, SAMPLERS[best.name], options))
    return _finish(best.name, why, best.run, best.status)


def _hurried(problem: Problem, options: Options) -> bool:
    """Whether setting up other samplers would take more than the time there is, or, in a large model, than
    as many samples as are asked for."""
    graph = problem.graph
    setting_up = SETTING_UP * (graph.n_variables + graph.n_factors)
    sampling = inf if options.samples is None else UPDATE * options.samples * graph.n_variables
    return seconds_left() < setting_up or (setting_up > LONGEST and sampling < setting_up)


def _run_for(run: Run[Any], seconds: float) -> Status:
    with within(seconds):
        return run.loop()


def _finish(name: str, why: str, run: Run[Any], status: Status = "limit") -> tuple[str, str, Sampled]:
    """Go on with a run, unless it has ended for a reason of its own."""
    if status == "limit" and not run.enough():
        run.spread()
        status = run.loop()
    return name, why, finished(run, status)


def _nearly_done(run: Run[Any], start: float) -> bool:
    """Whether chains agree, and half of the time left is enough, as errors fall with its square root."""
    if not run.batches:
        return False
    movement, stuck = run.moved()
    error, rhat = run.worst(movement)
    took = run.clock.seconds - start
    needed = took * (error / run.options.accuracy) ** 2
    soon = rhat < AGREE and not stuck.any() and needed < seconds_left() / 2
    return soon and not run.missed().any()


def _rate(run: Run[Any], start: float) -> Rate:
    """Of the batches that a pilot has made since ``start``."""
    if not run.batches:
        return NOTHING
    movement, stuck = run.moved()
    found = run.diagnosis(movement)
    size = min(float(found.states.ess.min(initial=np.inf)), float(found.numbers.ess.min(initial=np.inf)))
    _, rhat = run.worst(movement)
    apart, agree = bool(stuck.any()), rhat < AGREE
    missed = agree and not apart and bool(run.missed().any())
    if not agree:  # a chain of n independent draws has an R-hat of √(1 + 1/n)
        size = run.options.chains / (rhat**2 - 1)
    rate = size / max(1e-6, run.clock.seconds - start)
    return Rate(agree and not (apart or missed), apart or missed, rate, missed)


def _trial(name: str, run: Run[Any], seconds: float) -> Trial:
    """Run so long."""
    start = run.clock.seconds
    status = _run_for(run, seconds)
    over = status != "limit" or run.enough() or _nearly_done(run, start)
    rate = _rate(run, start)
    if name not in (USUAL, LAST) and run.batches and run.worst(run.moved()[0])[1] > LOST:
        rate = replace(rate, stuck=True)
    return Trial(name, run, rate, status, over)


def _trials(
    problem: Problem, names: tuple[str, ...], options: Options, seconds: float, usual: Trial
) -> Iterator[Trial]:
    """Pilots, the usual one's first, up to one that is as good as done."""
    found = []
    for name in names:
        found.append(_pilot(problem, name, options, seconds, usual.run))
        if found[-1].over:
            break
    if found:
        usual = _pilot(problem, USUAL, options, seconds, usual.run)
    yield usual
    yield from found
    if not (any(trial.rate.agree for trial in found) or over()):
        yield _pilot(problem, LAST, options, seconds)


def _pilot(
    problem: Problem, name: str, options: Options, seconds: float, usual: Run[Any] | None = None
) -> Trial:
    """The pilot of a sampler, of its own chains or of the usual one's."""
    sampler = SAMPLERS[name]
    try:
        with within(seconds):
            chains = None
            if usual is not None:
                chains = sampler.onto(usual.chains, options.seed) if sampler.onto else usual.chains
            return _trial(name, begin(problem, sampler, options, chains=chains), seconds)
    except (OutOfTimeError, PlxError):  # the latter where no world was found in so little time
        return Trial(name, None, NOTHING)


def _compared(best: Trial, trials: list[Trial]) -> str:
    """What the pilots found, the best one first."""
    rest = sorted((one for one in trials if one is not best), key=lambda one: -one.rate.rate)
    first, *others = (str(one) for one in (best, *rest))
    made = first.replace(f"{best.name} ", f"{best.name} made ", 1)
    return f"{made} in a pilot, {', '.join(others)}"
