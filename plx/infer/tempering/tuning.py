"""Burn-in of ladders, in which temperatures are placed: their number by the barrier, their places by
refusals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx import deadline
from plx.deadline import within
from plx.infer.tempering.ladders import Ladders
from plx.infer.tempering.limits import AGREE, BYTES, LONG, MOST, PHASES, TUNING
from plx.infer.tempering.schedule import barrier, temperatures
from plx.values import FloatArray


@dataclass(frozen=True)
class Tuned:
    """The barrier, the rates at which exchanges are refused, and whether the time ended the tuning."""

    barrier: float
    refused: FloatArray  # [T - 1]
    hurried: bool

    @property
    def apart(self) -> float:
        """By how much the rate that is farthest from their mean differs from it."""
        return float(np.abs(self.refused - self.refused.mean()).max(initial=0.0))


def tune(ladders: Ladders) -> Tuned:
    """Run ladders in phases and place their temperatures anew after each, until exchanges are refused equally
    often, or for a share of the time."""
    most = _most(ladders)
    with within(TUNING * deadline.seconds_left()):
        for rounds in PHASES:
            found = _phase(ladders, rounds)
            if found.hurried or (rounds >= LONG and _is_settled(ladders, found, most)):
                break
            upto = barrier(found.refused)
            ladders.place(temperatures(ladders.beta, upto, most))
        else:
            found = _phase(ladders, LONG)
    ladders.settle()
    return found


def _most(ladders: Ladders) -> int:
    """The most steps that memory allows."""
    worlds = sum(group.state[0].nbytes for group in ladders.groups)
    return int(np.clip(BYTES // max(1, worlds) - 1, 1, MOST))


def _phase(ladders: Ladders, rounds: int) -> Tuned:
    """Rates of refusals in some rounds, the first of which do not count."""
    hurried = False
    for part in (rounds // 4, rounds - rounds // 4):
        ladders.clear()
        for _ in range(part):
            ladders.rounds(1, 1)
            if deadline.over():
                hurried = True
                break
    tally = ladders.tallies()
    tried = tally.tried * tally.refused.shape[1]
    refused = tally.refused.sum(axis=1) / np.maximum(tried, 1)
    refused = np.where(tried > 0, refused, 0.5)
    return Tuned(float(barrier(refused)[-1]), refused, hurried)


def _is_settled(ladders: Ladders, found: Tuned, most: int) -> bool:
    """Whether the temperatures may stay as they are."""
    steps = len(temperatures(ladders.beta, barrier(found.refused), most)) - 1
    now = len(ladders.beta) - 1
    return found.apart <= AGREE and abs(steps - now) <= max(1, 0.15 * now)
