"""Estimates with their standard errors, effective sample sizes and split R-hat, for all targets at once.

Standard errors come from the spread of independent chains, or of batches where chains are few.
R-hat is the split potential scale reduction of Gelman et al., Bayesian Data Analysis, 3rd ed.,
section 11.4, on the indicator of each state and on the value of each number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.infer.answers import power_of_two
from plx.values import FloatArray, IntArray

_CHUNK = 1 << 22
"""Numbers that a step may hold at once."""

_MANY = 16
"""With so many chains their means alone give a good standard error."""

_FEW = 4
"""Pieces of fewer draws say nothing; R-hat is infinite then."""

_HALVES = 8
"""R-hat compares at least this many pieces of chains, where there are enough batches."""


@dataclass(frozen=True)
class Spread:
    """Estimates of some expectations; every array has one entry per expectation."""

    mean: FloatArray
    mcse: FloatArray
    ess: FloatArray
    rhat: FloatArray


@dataclass(frozen=True)
class Diagnosis:
    """``states``: the probability of each state of each target; ``numbers``: the mean of each value."""

    states: Spread
    numbers: Spread


def diagnose(
    counts: npt.NDArray[Any],
    draws: int,
    offset: IntArray,
    values: FloatArray,
    pooled: FloatArray | None = None,
) -> Diagnosis:
    """Diagnose counts of shape (batches, chains, states); each batch of each chain holds ``draws`` draws.

    ``values`` has the number that each state stands for, 0 where a target is no number; ``pooled``
    says of how many counts each is an average, if not 1.
    """
    pooled = np.ones(offset[-1]) if pooled is None else pooled
    step = max(1, _CHUNK // (counts.shape[0] * counts.shape[1]))
    cuts = np.unique(np.append(np.searchsorted(offset, np.arange(0, offset[-1], step)), len(offset) - 1))
    parts = []
    for a, b in pairwise(cuts):
        states = slice(offset[a], offset[b])
        first = offset[a:b] - offset[a]
        parts.append(_block(counts[..., states], draws, first, values[states], pooled[states]))
    states_of_all = _together([part.states for part in parts])
    n = counts.shape[0] * counts.shape[1] * draws * pooled
    return Diagnosis(_honest(states_of_all, n), _together([part.numbers for part in parts]))


def _block(
    counts: npt.NDArray[Any], draws: int, first: IntArray, values: FloatArray, pooled: FloatArray
) -> Diagnosis:
    """The diagnosis of some targets, whose states begin at ``first``."""
    share = counts / draws
    states = _spread(share, share * (1 - share), draws, pooled)
    least = np.minimum.reduceat(pooled, first)
    if not values.any():
        nothing = np.zeros(len(first))
        n = counts.shape[0] * counts.shape[1] * draws * least
        return Diagnosis(states, Spread(nothing, nothing, n, nothing + 1))
    unit = power_of_two(np.maximum.reduceat(np.abs(values), first))
    values = values / np.repeat(unit, np.diff(np.append(first, len(values))))
    means = np.add.reduceat(share * values, first, axis=2)
    squares = np.add.reduceat(share * values**2, first, axis=2)
    spread = _spread(means, np.maximum(squares - means**2, 0.0), draws, least)
    return Diagnosis(states, replace(spread, mean=spread.mean * unit, mcse=spread.mcse * unit))


def _together(parts: Sequence[Spread]) -> Spread:
    return Spread(*(np.concatenate(arrays) for arrays in zip(*map(astuple, parts), strict=True)))


def _spread(means: FloatArray, within: FloatArray, draws: int, pooled: FloatArray) -> Spread:
    """From means and variances of batches, shape (batches, chains, k)."""
    n = means.shape[0] * means.shape[1] * draws * pooled
    mean = means.mean(axis=(0, 1))
    variance = (within + means**2).mean(axis=(0, 1)) - mean**2
    square = _square_error(means, variance)
    square = np.maximum(square, variance / n)
    ess = np.where(square > 0, variance / np.where(square > 0, square, 1.0), n)
    return Spread(mean, np.sqrt(square), ess, _rhat(means, within, draws))


def _square_error(means: FloatArray, variance: FloatArray) -> FloatArray:
    """The square of the standard error of the grand mean."""
    batches, chains = means.shape[:2]
    between = np.zeros_like(variance)
    if chains > 1:
        between = _variance(means.mean(axis=0)) / chains
    if chains >= _MANY:
        return between
    if batches * chains == 1:
        return variance
    within: FloatArray = _variance(means.reshape(batches * chains, -1)) / (batches * chains)
    return np.maximum(between, within)


def _variance(rows: FloatArray) -> FloatArray:
    """The sample variance of each column."""
    variance: FloatArray = rows.var(axis=0, ddof=1)
    return variance


def _rhat(means: FloatArray, within: FloatArray, draws: int) -> FloatArray:
    batches, chains = means.shape[:2]
    pieces = min(batches, max(2, -(-_HALVES // chains)))
    length = batches // pieces
    if pieces * chains < 2 or length * draws < _FEW:
        return np.full(means.shape[2], np.inf)
    shape = (pieces, length, chains, -1)
    used = means[: pieces * length].reshape(shape)
    spread = within[: pieces * length].reshape(shape)
    n = length * draws
    piece = used.mean(axis=1)
    inner = ((spread + used**2).mean(axis=1) - piece**2).mean(axis=(0, 1))
    between = _variance(piece.reshape(pieces * chains, -1))
    floor = 0.5 / (pieces * chains * n)
    inner = np.where(between > 0, np.maximum(inner, floor), inner)
    ratio: FloatArray = between / np.where(inner > 0, inner, 1.0)
    return np.where(between > 0, np.sqrt((n - 1) / n + ratio), 1.0)


def _honest(states: Spread, n: FloatArray) -> Spread:
    """No standard error below that of the probability (k + 1) / (n + 2) from independent draws.

    For a state never, or always, seen, the draws count as independent only as far as those of
    the other targets do.
    """
    constant = (states.mean <= 0) | (states.mean >= 1)
    seen = states.ess[~constant]
    effective = np.minimum(n, seen.min(initial=np.inf))
    size = np.where(constant, effective, n)
    p = (states.mean * size + 1) / (size + 2)
    floor = np.sqrt(p * (1 - p) / size)
    return Spread(
        states.mean, np.maximum(states.mcse, floor), np.where(constant, effective, states.ess), states.rhat
    )
