"""Burn-in of ladders, in which temperatures are placed: their number by the barrier, their places by
refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plx import deadline
from plx.deadline import within
from plx.graph.rows import BoolArray
from plx.infer.tempering.ladders import Ladders
from plx.infer.tempering.limits import (
    AGREE,
    BYTES,
    CHANCE,
    LONG,
    MOST,
    PART_TUNING,
    PHASES,
    SELDOM,
    SLOW,
    TUNING,
)
from plx.infer.tempering.schedule import barrier, temperatures
from plx.values import FloatArray


@dataclass(frozen=True)
class Tuned:
    """The barrier, the rates at which exchanges are refused and their standard errors, and whether the time
    ended the tuning.

    ``slow`` [T]: where sweeps nearly alone are slow; None: it is not known.
    """

    barrier: float
    refused: FloatArray  # [T - 1]
    error: FloatArray  # [T - 1]
    hurried: bool
    slow: BoolArray | None

    @property
    def apart(self) -> float:
        """By how much the rate that is farthest from their mean differs from it."""
        return float(np.abs(self.refused - self.refused.mean()).max(initial=0.0))

    @property
    def agree(self) -> bool:
        """Whether no rate differs much from their mean, but by chance."""
        far = np.abs(self.refused - self.refused.mean())
        return bool((far <= np.maximum(AGREE, CHANCE * self.error)).all())


def tune(ladders: Ladders) -> Tuned:
    """Run ladders in phases and place their temperatures anew after each, until exchanges are refused equally
    often, or for a share of the time that is left."""
    most = _most(ladders)
    share = PART_TUNING if ladders.often else TUNING
    with within(share * deadline.seconds_left()):
        for rounds in PHASES:
            found = _phase(ladders, rounds)
            if found.hurried or (rounds >= LONG and _is_settled(ladders, found, most)):
                break
            upto = barrier(found.refused)
            ladders.place(temperatures(ladders.beta, upto, most))
        else:
            found = _phase(ladders, LONG)
    ladders.often = False
    ladders.settle(found.slow)
    return found


def _slow(looks: Sequence[FloatArray]) -> BoolArray | None:
    """At which temperatures sweeps nearly alone are slow [T]: all from the hottest such on. None: looks [T,
    ladders], one in each turn, are too few to tell."""
    if len(looks) < 3 * SELDOM:
        return None
    slow: BoolArray = np.logical_or.accumulate(_correlation(np.stack(looks), SELDOM) > SLOW)
    return slow


def _correlation(looks: FloatArray, apart: int) -> FloatArray:
    """Between looks so many turns apart [turns, T, ladders] of the same ladders [T]."""
    off = looks - looks.mean(axis=(0, 2), keepdims=True)
    both = (off[apart:] * off[:-apart]).mean(axis=(0, 2))
    found: FloatArray = both / np.maximum((off**2).mean(axis=(0, 2)), 1e-300)
    return found


def _most(ladders: Ladders) -> int:
    """The most steps that memory allows."""
    worlds = sum(group.state[0].nbytes for group in ladders.groups)
    return int(np.clip(BYTES // max(1, worlds) - 1, 1, MOST))


def _phase(ladders: Ladders, rounds: int) -> Tuned:
    """Rates of refusals in some rounds, the first of which do not count."""
    hurried = False
    looks: list[FloatArray] = []
    for part in (rounds // 4, rounds - rounds // 4):
        ladders.clear()
        looks.clear()
        for _ in range(part):
            ladders.rounds(1, 1)
            looks.append(ladders.weights())
            if deadline.over():
                hurried = True
                break
    tally = ladders.tallies()
    rates = tally.refused / np.maximum(tally.tried, 1)[:, None]
    refused = np.where(tally.tried > 0, rates.mean(axis=1), 0.5)
    error = rates.std(axis=1) / np.sqrt(rates.shape[1])
    return Tuned(
        float(barrier(refused)[-1]), refused, error, hurried, None if ladders.often else _slow(looks)
    )


def _is_settled(ladders: Ladders, found: Tuned, most: int) -> bool:
    """Whether the temperatures may stay as they are."""
    steps = len(temperatures(ladders.beta, barrier(found.refused), most)) - 1
    now = len(ladders.beta) - 1
    return found.agree and abs(steps - now) <= max(1, 0.15 * now)
