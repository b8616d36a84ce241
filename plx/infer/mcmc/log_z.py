"""log Z from sums along temperatures, by a geometric bridge between each two (Meng & Wong 1996, *Simulating
ratios of normalizing constants via a simple identity*, §3).

Z(β') / Z(β) = E_β[exp(d/2 w)] / E_β'[exp(-d/2 w)], where w is the log weight of a world at β = 1 and d = β' -
β. Chains are independent, so the spread of what each adds to the estimate gives its standard error (delta
method): how much draws depend on each other, at one temperature and between them, is in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plx.infer.chains import Bridges, BridgeSums
from plx.infer.inference import LogZ
from plx.infer.mcmc.diagnostics import spread
from plx.values import FloatArray

OF_LOG_Z = 10.0
"""The standard error of log Z may be so many times that of a probability: 0.05 by default, 5 % of Z."""

CHANCE = 3.0
"""Halves of a run that differ by so many standard errors differ by chance."""


def estimate(bridges: Bridges) -> LogZ | None:
    """log Z from all batches that are kept; None where that at β = 0 is not known, or nothing was seen."""
    if bridges.start is None or not bridges.batches:
        return None
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value, error = _bridged(bridges, bridges.batches)
        if not (np.isfinite(value) and np.isfinite(error)):
            return None
        error = float(np.hypot(error, _drift(bridges, error)))
    ess, rhat = _mixing(bridges)
    return LogZ(bridges.start + value, error, ess, rhat)


def _bridged(bridges: Bridges, batches: Sequence[BridgeSums]) -> tuple[float, float]:
    """log Z less that at β = 0, and its standard error between chains, from some batches."""
    above = np.sum([batch.above for batch in batches], axis=0)
    below = np.sum([batch.below for batch in batches], axis=0)
    ratio = np.log(above.mean(axis=1)) - np.log(below.mean(axis=1)) + bridges.step * bridges.middle
    return float(ratio.sum()), _standard_error(above, below)


def _drift(bridges: Bridges, error: float) -> float:
    """By how much the halves of a run differ beyond chance: chains that are on the way all err on one side.

    The difference of two independent halves has twice the standard error of the whole.
    """
    half = len(bridges.batches) // 2
    if not half:
        return 0.0
    first, second = (_bridged(bridges, part)[0] for part in (bridges.batches[:half], bridges.batches[half:]))
    return max(0.0, abs(second - first) - CHANCE * 2 * error)


def _standard_error(above: FloatArray, below: FloatArray) -> float:
    """From what each chain adds to the estimate, to first order."""
    own = above / above.mean(axis=1, keepdims=True) - below / below.mean(axis=1, keepdims=True)
    each = own.sum(axis=0)
    return float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else np.inf


def _mixing(bridges: Bridges) -> tuple[float, float]:
    """The effective size and R-hat of the integral of log weights over the temperatures."""
    rounds = np.array([batch.rounds for batch in bridges.batches])
    means, squares = (
        np.stack([batch.line[power] / batch.rounds for batch in bridges.batches])[..., None]
        for power in (0, 1)
    )
    within = np.maximum(squares - means**2, 0.0)
    found = spread(means, within, int(rounds.mean()), np.ones(1))
    return float(found.ess[0]), float(found.rhat[0])
