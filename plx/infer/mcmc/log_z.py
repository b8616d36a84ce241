"""log Z from sums along temperatures, by a geometric bridge between each two (Meng & Wong 1996, *Simulating
ratios of normalizing constants via a simple identity*, §3).

Z(β') / Z(β) = E_β[exp(d/2 w)] / E_β'[exp(-d/2 w)], where w is the log weight of a world at β = 1 and d = β' -
β. Chains are independent, so the spread of what each adds to the estimate gives its standard error (delta
method): how much draws depend on each other, at one temperature and between them, is in it.

Temperatures too far apart for that have means that hang on a few draws. There the ratio is only known to lie
between d times the mean of w at the one and at the other, as log Z is convex in β.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from plx.graph.rows import BoolArray
from plx.infer.chains import Bridges, BridgeSums
from plx.infer.inference import LogZ
from plx.infer.mcmc.diagnostics import spread
from plx.values import FloatArray

OF_LOG_Z = 10.0
"""The standard error of log Z may be so many times that of a probability: 0.05 by default, 5 % of Z."""

CHANCE = 3.0
"""Parts of a run that differ by fewer standard errors than this differ by chance."""

ALONE = 1.05
"""Where clusters move, chains with a smaller R-hat have mixed without round trips."""

_ROUNDING = 1e-12

_ALIKE = 1e-9
"""Control variates whose squares are less than this share of the largest add nothing."""

FEW = 5
"""What fewer chains than this have seen is as good as not seen."""

ROUGH = 0.3
"""Where a mean has a relative standard error beyond this, its logarithm does not have it too."""


def estimate(bridges: Bridges) -> LogZ | None:
    """log Z from all batches that are kept; None where that at β = 0 is not known, or nothing was seen.

    Chains that have not mixed err on one side, all alike, so that averaging over them helps little: only
    those count through which a world has come all the way from β = 0. What the halves of the run differ by
    beyond chance is error too, half of what the chains that began hot and cold do, as log Z lies between, and
    what is lacking to the log weight of a known world.
    """
    if bridges.start is None or not bridges.batches:
        return None
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = _slopes(bridges)
        whole = _bridged(bridges, bridges.batches, slope)
        if not np.isfinite(whole).all():
            return None
        hot_or_cold = (~bridges.cold, bridges.cold)
        parts = [_bridged(bridges, bridges.batches, slope, chosen) for chosen in hot_or_cold]
        gap = _beyond_chance(*parts)
        ess, rhat = _mixing(bridges)
        mixed = len(bridges.cold) if bridges.alone and rhat < ALONE else _mixed(bridges)
        unmixed = math.sqrt(len(bridges.cold) / max(1, mixed))
        lacking = max(0.0, bridges.least - bridges.start - whole.value)
        seen = math.hypot(unmixed * whole.error, gap / 2, _drift(bridges, slope))
        error = math.hypot(seen, _unseen(bridges, ess), lacking)
    hot, cold = (bridges.start + part.value for part in parts)
    return LogZ(bridges.start + whole.value, error, ess, rhat, mixed, (hot, cold) if gap else None)


class _Part(NamedTuple):
    """log Z less that at β = 0 by a part of a run, and its standard error."""

    value: float
    error: float


def _unseen(bridges: Bridges, ess: float) -> float:
    """What worlds may weigh that were not drawn, where all that were weigh the same, but in a few chains: the
    error of a probability of which none was, √2/n."""
    above, below = (
        np.sum([getattr(one, name) for one in bridges.batches], axis=0) for name in ("above", "below")
    )
    if bridges.flat or not (_is_constant(above) & _is_constant(below)).any():
        return 0.0
    draws = len(bridges.cold) * sum(batch.rounds for batch in bridges.batches)
    return math.sqrt(2.0) / max(1.0, min(ess, draws) if math.isfinite(ess) else draws)


def _is_constant(sums: FloatArray) -> BoolArray:
    """Where all but a few chains have the same sums."""
    usual = np.median(sums, axis=1, keepdims=True)
    same: BoolArray = (np.abs(sums - usual) > _ROUNDING * usual).sum(axis=1) < FEW
    return same


def _slopes(bridges: Bridges) -> FloatArray:
    """By how much, per temperature, what it adds to log Z exceeds its mean where a control variate is 1
    [controls, T].

    That is regression over the parts that batches and chains are; what is added by both neighbours counts.
    """
    above, below, control = (
        np.stack([getattr(one, name) for one in bridges.batches], axis=-2)
        for name in ("above", "below", "control")
    )
    added = np.zeros(control.shape[1:])
    added[:-1] += above / above.mean(axis=(1, 2), keepdims=True)
    added[1:] -= below / below.mean(axis=(1, 2), keepdims=True)
    added -= added.mean(axis=(1, 2), keepdims=True)
    square = np.einsum("itbc,jtbc->tij", control, control)
    both = np.einsum("itbc,tbc->ti", control, added)
    if not (np.isfinite(square).all() and np.isfinite(both).all()):
        return np.zeros(control.shape[:2])
    slope: FloatArray = (np.linalg.pinv(square, rcond=_ALIKE, hermitian=True) @ both[..., None])[..., 0].T
    return slope


def _bridged(
    bridges: Bridges, batches: Sequence[BridgeSums], slope: FloatArray, chosen: BoolArray | None = None
) -> _Part:
    """What some batches of some chains say, ``slope`` times control variates taken off."""
    mine = slice(None) if chosen is None else chosen
    names = ("above", "below", "total", "control")
    above, below, total, control = (
        np.sum([getattr(one, name) for one in batches], axis=0)[..., mine] for name in names
    )
    if above.shape[1] < 2:
        return _Part(np.nan, np.inf)
    ratio = np.log(above.mean(axis=1)) - np.log(below.mean(axis=1)) + bridges.step * bridges.middle
    rounds = sum(batch.rounds for batch in batches)
    rough = _rough(above) | _rough(below)
    low, high = np.sort(bridges.step * sliding_window_view(total.mean(axis=1) / rounds, 2).T, axis=0)
    ratio = np.where(rough, (low + high) / 2, ratio)
    unknown = float((high - low)[rough].sum())
    off = np.zeros(above.shape[1]) if rough.any() else np.einsum("it,itc->c", slope, control) / len(batches)
    value = float(ratio.sum()) - float(off.mean())
    return _Part(value, math.hypot(_standard_error(above[~rough], below[~rough], off), unknown))


def _mixed(bridges: Bridges) -> int:
    """Through how many chains a world has come from β = 0 to β = 1."""
    trips = np.sum([batch.trips for batch in bridges.batches], axis=0)
    return int(np.count_nonzero(trips))


def _rough(sums: FloatArray) -> BoolArray:
    """Between which temperatures a mean hangs on a few of the chains."""
    error = sums.std(axis=1, ddof=1) / np.sqrt(sums.shape[1])
    rough: BoolArray = ~(error <= ROUGH * sums.mean(axis=1))
    return rough


def _drift(bridges: Bridges, slope: FloatArray) -> float:
    """By how much the halves of a run differ, where that is not by chance."""
    half = len(bridges.batches) // 2
    if not half:
        return 0.0
    parts = bridges.batches[:half], bridges.batches[half:]
    return _beyond_chance(*(_bridged(bridges, part, slope) for part in parts))


def _beyond_chance(one: _Part, other: _Part) -> float:
    """By how much two parts of a run differ; 0 where that may be by chance, or one says nothing."""
    apart = abs(one.value - other.value)
    return apart if apart > CHANCE * math.hypot(one.error, other.error) else 0.0


def _standard_error(above: FloatArray, below: FloatArray, off: FloatArray) -> float:
    """From what each chain adds to the estimate, to first order, less what is taken off [chains]; and of
    logarithms of means the second order, which is not."""
    own = [one / one.mean(axis=1, keepdims=True) for one in (above, below)]
    each = (own[0] - own[1]).sum(axis=0) - off
    bent = sum(float(one.var(axis=1, ddof=1).sum()) for one in own) / 2
    return math.hypot(float(each.std(ddof=1)) / math.sqrt(len(each)), bent / len(each))


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
