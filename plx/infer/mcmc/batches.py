"""Batches of a run: counts collected until every answer is accurate, or to a limit.

The number of batches kept is bounded: when it is full, neighbours are merged; while chains
disagree, the older half is dropped first, so that the burn-in grows with the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Literal

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.rows import BoolArray
from plx.infer.chains import Bridges, Chains, InParts, LostChainsError
from plx.infer.inference import LogZ, Standing
from plx.infer.mcmc.best_world import BestWorld
from plx.infer.mcmc.burn_in import burn_in
from plx.infer.mcmc.diagnostics import Diagnosis, Worth, as_the_worst, diagnose, sd_errors
from plx.infer.mcmc.log_z import OF_LOG_Z, estimate
from plx.infer.mcmc.monitor import Monitor, Movement
from plx.infer.mcmc.samplers import C, Sampler
from plx.infer.options import Clock, Options, Progress
from plx.infer.problem import Problem, Targets
from plx.values import FloatArray

Counts = npt.NDArray[Any]
Status = Literal["done", "limit", "interrupted"]

_FIRST, _FEWEST = 16, 4
"""Draws of the first batches; fewer, but so many, where the time is for less than all batches of them."""

_BYTES = 1 << 28
"""Memory for counts, past which fewer batches are kept (never fewer than 4)."""

_LOOKS = 1 << 13
"""Batches of all chains past which a finer accuracy brings no more."""

_CALL = 0.1
"""Seconds that one call of a sampler's step should take, so that Ctrl-C and reports are prompt."""

_NUMBER = 2e-8
"""Seconds more for each number that a call hands over, several times what that costs."""


def worst(diagnosis: Diagnosis) -> tuple[float, float]:
    """The largest standard error and R-hat; errors of means count in units of max(1, 2 sd)."""
    error = max(float(diagnosis.states.mcse.max(initial=0)), float(scaled_error(diagnosis).max(initial=0)))
    found = diagnosis.states, diagnosis.numbers, diagnosis.ranks
    return error, max(float(one.rhat.max(initial=1)) for one in found)


def scaled_error(diagnosis: Diagnosis) -> FloatArray:
    """Standard errors of the means of numbers, in units of max(1, 2 sd), as 2 sd ≤ 1 for a truth value."""
    mcse, ess = diagnosis.numbers.mcse, diagnosis.numbers.ess
    relative = 0.5 / np.sqrt(np.maximum(ess, 1e-300))  # the error in units of 2 sd
    return np.minimum(mcse, relative)


def _sum(a: Counts, b: Counts, draws: int) -> Counts:
    """Counts of so many draws; small ones become larger where they must."""
    if a.dtype.kind != "u":
        return a + b
    return np.add(a, b, dtype=np.promote_types(np.min_scalar_type(draws), b.dtype))


@dataclass
class Run(Generic[C]):
    """The batches so far, each counts of shape (chains, Σ states) from ``draws`` draws.

    It can be pickled, and goes on where it stood.
    """

    problem: Problem
    sampler: Sampler[C]
    chains: C
    options: Options
    targets: Targets
    values: FloatArray
    thin: int
    clock: Clock
    standing: Standing | None
    watch: Monitor | None
    bridges: Bridges | None
    sums: bool
    best: BestWorld | None = None
    batches: list[Counts] = field(default_factory=list)
    partial: Counts | None = None
    partial_draws: int = 0
    draws: int = _FIRST
    speed: float = 0.0  # draws per second; 0: not known yet
    warm: bool = False
    swept: int = 0  # sweeps that each chain has made
    said: tuple[str, ...] = ()  # what happened to it

    def __post_init__(self) -> None:
        numbers = max(1, int(self.targets.offset[-1])) * self.options.chains
        self.call, memory = _CALL + _NUMBER * numbers, numbers * 4
        looks = max(256, min(_LOOKS, int(2 / self.options.accuracy)))
        wanted = max(16, -(-looks // self.options.chains))
        self.most = max(4, min(wanted, _BYTES // memory) // 4 * 4)
        if self.options.samples is not None:
            share = self.options.samples // (self.options.chains * self.most)
            self.draws = max(1, min(_FIRST, share))

    def spread(self) -> None:
        """From here on the processes of a cluster move the chains, where the run is given one."""
        if self.options.cluster is None:
            return
        parted = isinstance(self.chains, InParts)
        if not parted and self.chains.taken(0, 1, 1) is None:
            why = f"the chains of {self.sampler.name} depend on each other"
            self.said = (f"{why}: they stayed in one process",)
            return
        self.chains = self.options.cluster.spread(self.sampler, self.chains, self.options.chains)
        standing = self.chains.standing()
        for one in (self.watch, self.best):
            if one is not None and standing is not None:
                one.standing = standing
        self.standing = standing

    def loop(self) -> Status:
        """Collect batches until there is a reason to stop; may be called again."""
        status: Status | None = "limit" if self.enough() else None
        try:
            while status is None:
                status = self._collect() or self._judge()
                if self.options.keeper is not None:
                    self.options.keeper.keep(self, status is not None)
        except KeyboardInterrupt:
            status = "interrupted"
        except LostChainsError as lost:
            if not self.batches:
                raise
            self.best, status = None, "limit"
            self.said = (str(lost.diagnostics[0].message),)
        return status

    def diagnosis(self, movement: Movement | None) -> Diagnosis:
        """Standard errors and R-hat of all batches kept."""
        pooled = self.chains.pooled()
        worth: Worth = as_the_worst
        if self.watch is not None and movement is not None:
            worth = partial(self.watch.worth, movement)
        return diagnose(self.batches, self.draws, self.targets.offset, self.values, pooled, worth)

    def sd_errors(self, diagnosis: Diagnosis) -> FloatArray:
        """Standard errors of the standard deviations of numbers, of all batches kept."""
        pooled = self.chains.pooled()
        return sd_errors(self.batches, self.draws, self.targets.offset, self.values, pooled, diagnosis)

    def log_z(self) -> LogZ | None:
        """log Z from all batches kept."""
        return None if self.bridges is None else estimate(self.bridges)

    @property
    def _followers(self) -> Iterator[Monitor | Bridges]:
        """What keeps something of each batch besides its counts."""
        return (one for one in (self.watch, self.bridges) if one is not None)

    def moved(self) -> tuple[Movement | None, BoolArray]:
        """How what is watched moves, and per target whether something that it depends on is stuck."""
        if self.watch is None:
            return None, np.zeros(len(self.targets), dtype=bool)
        movement = self.watch.movement()
        return movement, self.watch.stuck(movement, len(self.targets))

    def _collect(self) -> Status | None:
        """One more batch, unless the clock runs out."""
        self.partial, self.partial_draws = None, 0
        while self.partial_draws < self.draws:
            self._step(min(self.draws - self.partial_draws, max(1, int(self.speed * self.call))))
            if not self.batches and self.options.samples is None:
                self.draws = max(self.partial_draws, self._first_draws())
            if self.partial_draws < self.draws and deadline.over():
                return "limit"
        assert self.partial is not None
        self.batches.append(self.partial)
        for one in self._followers:
            one.look()
        return None

    def _first_draws(self) -> int:
        """How many draws the first batches have: what the clock ends is a small part of the run then."""
        expected = min(self.speed * deadline.seconds_left(), float(_FIRST * self.most))
        return min(self.draws, max(_FEWEST, 1 + int(expected / self.most)))

    def _step(self, draws: int) -> None:
        before = self.clock.seconds
        chains: Chains = self.chains
        counts = (
            chains.step(draws, self.thin)
            if isinstance(chains, InParts)
            else self.sampler.step(self.chains, draws, self.thin)
        )
        self.partial_draws += draws
        self.swept += draws * self.thin * self.chains.sweeps()
        self.partial = counts if self.partial is None else _sum(self.partial, counts, self.partial_draws)
        self.speed = draws / max(1e-6, self.clock.seconds - before)

    def finish(self) -> None:
        """At least one batch, and no burn-in among those kept."""
        if not self.warm:
            before = min(len(self.batches), self._before())
            self._drop(self._burn_in((len(self.batches) - before) // 2))
        if self.batches:
            return
        if self.partial is None:
            self._step(1)
        assert self.partial is not None
        self.batches, self.draws = [self.partial], self.partial_draws
        if self.bridges is not None:
            self.bridges.look()

    def _judge(self) -> Status | None:
        """A reason to stop after a whole batch; else make room for more."""
        n = len(self.batches)
        settled = False
        if n == self.most or (n >= self.most // 2 and n % (self.most // 16 * 2 or 2) == 0):
            movement, stuck = self.moved()
            error, rhat = self.worst(movement)
            settled = rhat < self.options.rhat and not stuck.any()
            settled = settled and not (self.warm and self.missed().any())
            self._report(error)
            if settled and self.warm and error < self.options.accuracy:
                return "done"
        if self.enough() or deadline.over():
            return "limit"
        if n == self.most:
            self._make_room(settled)
        return None

    def missed(self) -> BoolArray:
        """Per target whether chains may have missed the most probable worlds that it depends on."""
        if self.best is None:
            return np.zeros(len(self.targets), dtype=bool)
        return self.best.looked(self.swept)

    def worst(self, movement: Movement | None) -> tuple[float, float]:
        """The largest standard error and R-hat of what is asked for."""
        error, rhat = worst(self.diagnosis(movement))
        found = self.log_z() if self.sums else None
        return (error, rhat) if found is None else (max(error, found.mcse / OF_LOG_Z), max(rhat, found.rhat))

    def enough(self) -> bool:
        """Whether there are as many draws as were asked for."""
        kept = len(self.batches) * self.draws * self.options.chains
        return self.options.samples is not None and self.warm and kept >= self.options.samples

    def _make_room(self, settled: bool) -> None:
        """Merge pairs of batches; before, the first time drop the burn-in, then the older half while chains
        disagree."""
        if not self.warm:
            self._drop(self._burn_in(self.most // 2))
        elif not settled:
            self._drop(self.most // 2)
        self.warm = True
        for one in self._followers:
            one.merge()
        self.draws *= 2
        pairs = zip(self.batches[::2], self.batches[1::2], strict=True)
        self.batches = [_sum(a, b, self.draws) for a, b in pairs]

    def _before(self) -> int:
        """As how many batches chains moved before they were counted."""
        return self.chains.rounds_before() // (self.draws * self.thin)

    def _burn_in(self, most: int) -> int:
        """Batches to drop: half of all there was, with what the chains did before they were counted; fewer
        where it is seen that nothing drifts."""
        return most if self.bridges is None else burn_in(self.bridges, self._before(), most)

    def _drop(self, batches: int) -> None:
        """Forget the first batches."""
        self.batches = self.batches[batches:]
        for one in self._followers:
            one.drop(batches)

    def _report(self, error: float) -> None:
        seconds = self.clock.seconds
        done = min(1.0, (self.options.accuracy / error) ** 2) if error > 0 else 1.0
        if self.options.seconds is not None:
            done = max(done, min(1.0, seconds / self.options.seconds))
        self.options.progress(Progress("sampling" if self.warm else "warming up", done, seconds, error))
