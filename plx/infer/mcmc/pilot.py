"""The choice between samplers by pilot runs: which makes more effective samples in a second.

The usual one begins. If it ends in the time of a pilot, or is about to, it is taken, and nothing is lost.
Else the other one gets as long a pilot, and the better goes on from where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.errors import PlxError
from plx.infer.gibbs.chains import state_type
from plx.infer.kernels.gibbs import kernel
from plx.infer.mcmc.batches import Run, Status
from plx.infer.mcmc.run import Sampled, begin, finished
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.options import Options
from plx.infer.problem import Problem

USUAL, OTHER = "lifted", "tempered"

PILOT = 0.05
"""The share of the time of each pilot; …"""

LONGEST = 2.0
"""… and so many seconds at most."""

AGREE = 1.1
"""With a larger R-hat chains are too far apart to say how many samples they are worth."""


@dataclass(frozen=True)
class Rate:
    """What a pilot tells: effective samples per second of the slowest answer, whether chains agree on it, and
    whether something keeps them apart."""

    agree: bool
    stuck: bool
    rate: float

    def beats(self, usual: Rate) -> bool:
        """Whether to leave the usual sampler: for one that agrees, or where the usual one is stuck."""
        if not (self.agree or usual.agree):
            return usual.stuck
        return (self.agree, self.rate) > (usual.agree, usual.rate)


NOTHING = Rate(False, False, 0.0)
"""Of a pilot that did not come as far as a batch."""


def sample_by_choice(problem: Problem, options: Options) -> tuple[str, str, Sampled]:
    """The sampler that was taken, why (empty: nothing had to be chosen), and its run. Raises as `sample`
    does."""
    kernel(state_type(problem.graph))  # compiled, where it must be, before the clock starts
    seconds = min(LONGEST, PILOT * seconds_left())
    run = begin(problem, SAMPLERS[USUAL], options)
    start = run.clock.seconds
    status = _run_for(run, seconds)
    if status != "limit" or run.enough() or _nearly_done(run, start):
        return _finish(USUAL, "", run, status)
    usual = _rate(run, start)
    other, rate = _other(problem, options, seconds)
    if not rate.beats(usual):
        return _finish(USUAL, _compared(USUAL, usual, OTHER, rate), run)
    if other is None or not rate.agree:  # it may have lacked the time to tune
        other = begin(problem, SAMPLERS[OTHER], options)
    return _finish(OTHER, _compared(OTHER, rate, USUAL, usual), other)


def _run_for(run: Run[Any], seconds: float) -> Status:
    with within(seconds):
        return run.loop()


def _finish(name: str, why: str, run: Run[Any], status: Status = "limit") -> tuple[str, str, Sampled]:
    """Go on with a run, unless it has ended for a reason of its own."""
    if status == "limit" and not run.enough():
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
    return rhat < AGREE and not stuck.any() and needed < seconds_left() / 2


def _rate(run: Run[Any], start: float) -> Rate:
    """Of the batches that a pilot has made since ``start``."""
    if not run.batches:
        return NOTHING
    movement, stuck = run.moved()
    found = run.diagnosis(movement)
    size = min(float(found.states.ess.min(initial=np.inf)), float(found.numbers.ess.min(initial=np.inf)))
    _, rhat = run.worst(movement)
    apart = bool(stuck.any())
    return Rate(rhat < AGREE and not apart, apart, size / max(1e-6, run.clock.seconds - start))


def _other(problem: Problem, options: Options, seconds: float) -> tuple[Run[Any] | None, Rate]:
    """A pilot of the other sampler; None where it does not come as far as a first state."""
    try:
        with within(seconds):
            run = begin(problem, SAMPLERS[OTHER], options)
            start = run.clock.seconds
            run.loop()
    except (OutOfTimeError, PlxError):  # the latter where no world was found in so little time
        return None, NOTHING
    return run, _rate(run, start)


def _compared(name: str, rate: Rate, other: str, less: Rate) -> str:
    """What two pilots found."""
    return f"{name} made {_text(rate)} in a pilot, {other} {_text(less)}"


def _text(rate: Rate) -> str:
    if rate.agree:
        return f"{rate.rate:,.0f} effective samples a second"
    return "none, as its chains are stuck apart" if rate.stuck else "too few to tell"
