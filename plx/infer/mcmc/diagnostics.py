"""Estimates with their standard errors, effective sample sizes and split R-hat, for all targets at once.

Standard errors come from the spread of independent chains, or of batches where chains are few.
R-hat is the split potential scale reduction of Gelman et al., Bayesian Data Analysis, 3rd ed.,
section 11.4, on the indicator of each state and on the value of each number, of which ranks, folded ranks and
tails are looked at too (`plx.infer.mcmc.ranks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.graph.ragged import owners, segments, starts
from plx.graph.rows import BoolArray
from plx.infer.answers import power_of_two
from plx.infer.mcmc.ranks import scores
from plx.values import FloatArray, IntArray

_CHUNK = 1 << 22
"""Numbers that a step may hold at once."""

_NEAR = 1 << 20
"""Counts that are worked on at once: few enough to stay near."""

_MANY = 16
"""With so many chains their means alone give a good standard error."""

_FEW = 4
"""Pieces of fewer draws say nothing; R-hat is infinite then."""

_RARE = 8
"""A state of which so few independent visits were seen is rare."""

_SAME = 1.0
"""The R-hat of what is the same in all pieces of all chains, up to rounding, which is at most …"""

_ROUNDING = 1e-24
"""… this variance."""

Worth = Callable[[FloatArray], FloatArray]
"""From the effective sizes of targets [targets], infinite where one never changed, how many independent draws
each is worth where its own do not tell."""

_HALVES = 8
"""R-hat compares at least this many pieces of chains, where there are enough batches."""


@dataclass(frozen=True)
class Spread:
    """Estimates of some expectations; every array has one entry per expectation."""

    mean: FloatArray
    mcse: FloatArray
    ess: FloatArray
    rhat: FloatArray


_NOTHING = Spread(*(np.empty(0),) * 4)


@dataclass(frozen=True)
class RankSpread:
    """Of numbers with three values or more, per target: the larger R-hat of ranks and folded ranks, and the
    effective sizes of bulk and tails. Of all others 1, and infinite."""

    rhat: FloatArray
    bulk: FloatArray
    tail: FloatArray


@dataclass(frozen=True)
class Diagnosis:
    """``states``: the probability of each state of each target; ``numbers``: the mean of each value.

    ``unseen``: how likely, per target, what was never drawn may be.
    """

    states: Spread
    numbers: Spread
    unseen: FloatArray
    ranks: RankSpread


def as_the_worst(ess: FloatArray) -> FloatArray:
    """A target is worth as many independent draws as the worst of all."""
    return np.full(len(ess), ess.min(initial=np.inf))


def diagnose(
    batches: Sequence[npt.NDArray[Any]] | npt.NDArray[Any],
    draws: int,
    offset: IntArray,
    values: FloatArray,
    pooled: FloatArray | None = None,
    worth: Worth = as_the_worst,
) -> Diagnosis:
    """Diagnose batches of counts, shape (chains, states); each holds ``draws`` draws of each chain.

    ``values`` has the number that each state stands for, 0 where a target is no number; ``pooled``
    says of how many counts each is an average, if not 1. ``worth`` says what targets that never changed
    are worth, as `as_the_worst` does.
    """
    if not offset[-1]:
        return Diagnosis(_NOTHING, _NOTHING, np.empty(0), RankSpread(*(np.empty(0),) * 3))
    pooled = np.ones(offset[-1]) if pooled is None else pooled
    together = len(batches) * batches[0].shape[0]
    edges = np.append(np.arange(0, offset[-1], max(1, _NEAR // together)), offset[-1])
    states = _together(
        [_indicators(_part(batches, a, b), draws, pooled[a:b]) for a, b in pairwise(edges.tolist())]
    )
    constant = (states.mean <= 0) | (states.mean >= 1) | (states.rhat == _SAME)
    size = _worth(states.ess, constant, offset, worth, together * draws)
    found = _means(batches, draws, offset, values, pooled)
    unseen = _posterior_error(np.zeros(1), size)
    farthest = farthest_unseen(states.mean, found.mean, offset, values)
    return Diagnosis(
        _honest(states, constant, np.repeat(size, np.diff(offset)), together * draws, pooled),
        replace(found, mcse=np.hypot(found.mcse, farthest * unseen)),
        unseen,
        _ranks(batches, draws, offset, values, pooled, states.mean),
    )


def _ranks(
    batches: Sequence[npt.NDArray[Any]] | npt.NDArray[Any],
    draws: int,
    offset: IntArray,
    values: FloatArray,
    pooled: FloatArray,
    p: FloatArray,
) -> RankSpread:
    """What the ranks of numbers tell. Of two values ranks are the values again, up to scale."""
    n = len(offset) - 1
    rhat, bulk, tail = np.ones(n), np.full(n, np.inf), np.full(n, np.inf)
    first = offset[:-1]
    ordered = np.maximum.reduceat(values != 0, first) & (np.add.reduceat(p > 0, first, dtype=np.int64) > 2)
    chosen = np.flatnonzero(ordered)
    if not len(chosen):
        return RankSpread(rhat, bulk, tail)
    seen = np.append(0, np.cumsum(p > 0))  # what was never drawn has no rank
    part = segments(offset[chosen], np.diff(offset)[chosen])
    part, own = part[p[part] > 0], starts(np.diff(seen[offset])[chosen])
    counts, draws = _merged(batches, draws, part)
    every = len(counts) * counts[0].shape[0] * draws
    scored = scores(p[part], own, values[part], every)
    found = [_means(counts, draws, own, one, pooled[part]) for one in (scored.ranked, scored.folded)]
    rhat[chosen] = np.maximum(found[0].rhat, found[1].rhat)
    bulk[chosen] = found[0].ess
    tails = [_means(counts, draws, own, one, pooled[part]) for one in scored.tails]
    tail[chosen] = np.minimum(*(np.where(one.mean < 1 - 1e-12, one.ess, np.inf) for one in tails))
    return RankSpread(rhat, bulk, tail)


def _merged(
    batches: Sequence[npt.NDArray[Any]] | npt.NDArray[Any], draws: int, part: IntArray
) -> tuple[list[npt.NDArray[Any]], int]:
    """The counts of some states in no more batches than R-hat looks at, where chains are enough for all else,
    and the draws of each."""
    chains = batches[0].shape[0]
    pieces, length = _pieces(len(batches), chains) if chains >= _MANY else (len(batches), 1)
    merged = []
    for i in range(pieces):
        total = batches[i * length][:, part]
        for batch in batches[i * length + 1 : (i + 1) * length]:
            total += batch[:, part]
        merged.append(total)
    return merged, draws * length


def sd_errors(
    batches: Sequence[npt.NDArray[Any]] | npt.NDArray[Any],
    draws: int,
    offset: IntArray,
    values: FloatArray,
    pooled: FloatArray | None,
    found: Diagnosis,
) -> FloatArray:
    """Standard errors of the standard deviations of numbers [targets], from the batches that were diagnosed.

    By the delta method that of the variance over 2 sd: of the mean of squares about the mean, and of the
    square by which the mean is off, √3 times its standard error squared, which is all where two values are as
    likely. And what more there may be in values that were never drawn.
    """
    if not values.any():
        return np.zeros(len(offset) - 1)
    pooled = np.ones(offset[-1]) if pooled is None else pooled
    mean, of = found.numbers.mean, owners(offset)
    unit = power_of_two(np.maximum.reduceat(np.abs(values), offset[:-1]))
    squares = _means(batches, draws, offset, ((values - mean[of]) / unit[of]) ** 2, pooled)
    sd = np.sqrt(squares.mean)
    off = np.hypot(squares.mcse, np.sqrt(3) * (found.numbers.mcse / unit) ** 2)
    delta = np.divide(off, 2 * sd, out=np.zeros(len(sd)), where=sd > 0)
    farthest = farthest_unseen(found.states.mean, mean, offset, values) / unit
    more = np.sqrt(squares.mean + farthest**2 * found.unseen) - sd
    return np.where(np.maximum.reduceat(values != 0, offset[:-1]), np.hypot(delta, more) * unit, 0.0)


def _means(
    batches: Sequence[npt.NDArray[Any]] | npt.NDArray[Any],
    draws: int,
    offset: IntArray,
    values: FloatArray,
    pooled: FloatArray,
) -> Spread:
    """The means of numbers, one per target; ``values`` are those of their states."""
    together = len(batches) * batches[0].shape[0]
    step = max(1, _CHUNK // together)
    cuts = np.unique(np.append(np.searchsorted(offset, np.arange(0, offset[-1], step)), len(offset) - 1))
    numbers = []
    for a, b in pairwise(cuts):
        part = slice(offset[a], offset[b])
        first = offset[a:b] - offset[a]
        least = np.minimum.reduceat(pooled[part], first)
        if values[part].any():
            counts = _part(batches, offset[a], offset[b])
            numbers.append(_numbers(counts, draws, first, values[part], least))
        else:
            nothing = np.zeros(len(first))
            numbers.append(Spread(nothing, nothing, together * draws * least, nothing + 1))
    return _together(numbers)


def _part(batches: Sequence[npt.NDArray[Any]] | npt.NDArray[Any], a: int, b: int) -> npt.NDArray[Any]:
    """The counts of some states, shape (batches, chains, b - a)."""
    found = np.stack([batch[:, a:b] for batch in batches])
    return found.astype(np.int32) if found.dtype.kind == "u" else found  # sums of them are of this type


def _numbers(
    counts: npt.NDArray[Any], draws: int, first: IntArray, values: FloatArray, least: FloatArray
) -> Spread:
    """The diagnosis of the means of some targets, whose states begin at ``first``."""
    unit = power_of_two(np.maximum.reduceat(np.abs(values), first))
    values = values / np.repeat(unit, np.diff(np.append(first, len(values))))
    means, squares = (
        np.stack([np.add.reduceat(batch * power, first, axis=1) for batch in counts]) / draws
        for power in (values, values**2)
    )
    found = spread(means, np.maximum(squares - means**2, 0.0), draws, least)
    return replace(found, mean=found.mean * unit, mcse=found.mcse * unit)


def _together(parts: Sequence[Spread]) -> Spread:
    return Spread(*(np.concatenate(arrays) for arrays in zip(*map(astuple, parts), strict=True)))


def _indicators(counts: npt.NDArray[Any], draws: int, pooled: FloatArray) -> Spread:
    """Of counts, shape (batches, chains, k). The mean square of an indicator is its mean, so all that is
    needed is the sums over the batches of a chain, or of a piece of it: little where k is tens of thousands.
    """
    batches, chains = counts.shape[:2]
    pieces, length = _pieces(batches, chains)
    sums = [np.add.reduce(counts[i * length : (i + 1) * length], dtype=counts.dtype) for i in range(pieces)]
    piece = np.stack(sums) / (length * draws)
    of_chain = (np.sum(sums, axis=0) + counts[pieces * length :].sum(axis=0)) / (batches * draws)
    mean = of_chain.mean(axis=0)
    variance = mean * (1 - mean)
    square = _square_error(of_chain, lambda: counts / draws, batches, variance)
    inner = (piece * (1 - piece)).mean(axis=(0, 1))
    rhat = _rhat(piece, inner, length * draws)
    return _assembled(mean, variance, square, rhat, batches * chains * draws * pooled)


def spread(means: FloatArray, within: FloatArray, draws: int, pooled: FloatArray) -> Spread:
    """From means of ``draws`` draws and variances within them, shape (batches, chains, k)."""
    batches, chains = means.shape[:2]
    mean = means.mean(axis=(0, 1))
    variance = (within + means**2).mean(axis=(0, 1)) - mean**2
    square = _square_error(means.mean(axis=0), lambda: means, batches, variance)
    pieces, length = _pieces(batches, chains)
    shape = (pieces, length, chains, -1)
    used, spread = (x[: pieces * length].reshape(shape) for x in (means, within))
    piece = used.mean(axis=1)
    inner = ((spread + used**2).mean(axis=1) - piece**2).mean(axis=(0, 1))
    rhat = _rhat(piece, inner, length * draws)
    return _assembled(mean, variance, square, rhat, batches * chains * draws * pooled)


def _assembled(
    mean: FloatArray, variance: FloatArray, square: FloatArray, rhat: FloatArray, n: FloatArray
) -> Spread:
    square = np.maximum(square, variance / n)
    ess = np.where(square > 0, variance / np.where(square > 0, square, 1.0), n)
    return Spread(mean, np.sqrt(square), ess, rhat)


def _square_error(
    of_chain: FloatArray, of_batch: Callable[[], FloatArray], batches: int, variance: FloatArray
) -> FloatArray:
    """The square of the standard error of the grand mean, from the means of chains [chains, k] or, where
    chains are few, of batches too [batches, chains, k]."""
    chains = len(of_chain)
    between = np.zeros_like(variance)
    if chains > 1:
        between = _variance(of_chain) / chains
    if chains >= _MANY:
        return between
    if batches * chains == 1:
        return variance
    within = _variance(of_batch().reshape(batches * chains, -1)) / (batches * chains)
    return np.maximum(between, within)


def _variance(rows: FloatArray) -> FloatArray:
    """The sample variance of each column."""
    variance: FloatArray = rows.var(axis=0, ddof=1)
    return variance


def _pieces(batches: int, chains: int) -> tuple[int, int]:
    """How many pieces of each chain R-hat compares, and how many batches each has."""
    pieces = min(batches, max(2, -(-_HALVES // chains)))
    return pieces, batches // pieces


def _rhat(piece: FloatArray, inner: FloatArray, n: int) -> FloatArray:
    """From the means of pieces of n draws, shape (pieces, chains, k), and the variance within them [k]."""
    pieces, chains = piece.shape[:2]
    if pieces * chains < 2 or n < _FEW:
        return np.full(piece.shape[2], np.inf)
    between = _variance(piece.reshape(pieces * chains, -1))
    floor = 0.5 / (pieces * chains * n)
    differ = between > _ROUNDING
    inner = np.where(differ, np.maximum(inner, floor), inner)
    ratio: FloatArray = between / np.where(inner > 0, inner, 1.0)
    return np.where(differ, np.sqrt((n - 1) / n + ratio), _SAME)


def _worth(ess: FloatArray, constant: BoolArray, offset: IntArray, worth: Worth, draws: float) -> FloatArray:
    """What each target is worth: no more than its draws."""
    own = np.minimum.reduceat(np.where(constant, np.inf, ess), offset[:-1]) if len(offset) > 1 else ess
    return np.minimum(draws, worth(own))


def _posterior_error(p: FloatArray, n: FloatArray) -> FloatArray:
    """How far the probability of what was seen in a share p of n independent draws is from p: the root mean
    square under its posterior, from a uniform prior, Beta(pn + 1, (1 - p)n + 1)."""
    center = (p * n + 1) / (n + 2)
    error: FloatArray = np.sqrt(center * (1 - center) / (n + 3) + (center - p) ** 2)
    return error


def _honest(
    states: Spread, constant: BoolArray, size: FloatArray, draws: float, pooled: FloatArray
) -> Spread:
    """No standard error below that of the posterior after n independent draws.

    A state that is as likely in all chains was never, or always, seen, or hangs on what never changed; its
    draws are worth ``size``, and what was not seen may change it altogether. Nor do the few visits to a rare
    state tell how far they depend on each other, nor do averages over an orbit: worlds that were never drawn
    may have all of its states at once, so its rare states are worth no more than draws.
    """
    n = draws * pooled
    p = np.clip(states.mean, 0.0, 1.0)
    worth = np.minimum(draws, size)
    rare = np.minimum(p, 1 - p) * worth < _RARE
    floor = np.where(rare, _posterior_error(p, worth), _posterior_error(p, n))
    ess = np.where(rare, np.minimum(states.ess, worth), states.ess)
    return replace(
        states,
        mcse=np.maximum(states.mcse, np.where(constant, _posterior_error(np.zeros(1), size), floor)),
        ess=np.where(constant, size, ess),
    )


def farthest_unseen(p: FloatArray, mean: FloatArray, offset: IntArray, values: FloatArray) -> FloatArray:
    """Per target how far from its mean a number may be that was never drawn.

    Beyond those drawn it is the next possible value, for how far they spread is known; of a number of which
    one value was drawn it is any. What was not drawn on either side is as likely as one draw at most.
    """
    first, of = offset[:-1], owners(offset)
    if not values.any():
        return np.zeros(len(first))
    low = np.minimum.reduceat(np.where(p > 0, values, np.inf), first)
    high = np.maximum.reduceat(np.where(p > 0, values, -np.inf), first)
    above = np.minimum.reduceat(np.where(values > high[of], values, np.inf), first)
    below = np.maximum.reduceat(np.where(values < low[of], values, -np.inf), first)
    single = low == high
    top = np.where(single, np.maximum.reduceat(values, first), above)
    bottom = np.where(single, np.minimum.reduceat(values, first), below)
    up = np.where(np.isfinite(top), top - mean, 0.0)
    down = np.where(np.isfinite(bottom), mean - bottom, 0.0)
    return np.maximum(0.0, np.maximum(up, down))
