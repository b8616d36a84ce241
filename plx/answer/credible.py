"""Quantiles and credible sets, read off a distribution, with what they may be off by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from plx.answer.named import Estimate, Value

_ROUNDING = 1e-12
"""Sums of probabilities are off by as much."""


class Quantile(NamedTuple):
    """A quantile, and where it would be if the cumulative probability were off by one standard error.

    ``low`` and ``high`` are ``value`` where the answer is exact.
    """

    value: int | float
    low: int | float
    high: int | float


class CredibleSet(NamedTuple):
    """The values of a credible set, in the order of the domain, their probability and its standard error."""

    values: tuple[Value | tuple[Value, ...], ...]
    p: float
    mcse: float


def quantile(estimates: Sequence[Estimate], q: float, ess: float | None) -> Quantile:
    """The least value whose cumulative probability is at least ``q``, for values that are numbers.

    The standard error is that of a share of ``ess`` independent draws, as in Vehtari et al. 2021, §4.3; an
    exact answer has None. Raises ValueError for a ``q`` that is not between 0 and 1.
    """
    if not 0.0 < q < 1.0:
        raise ValueError(f"a quantile is at a number between 0 and 1, not {q!r}")
    ordered: list[Any] = sorted(estimates, key=lambda estimate: estimate.value)
    cumulative = np.cumsum([estimate.p for estimate in ordered])
    error = 0.0 if ess is None else math.sqrt(q * (1.0 - q) / ess)
    last = int(np.searchsorted(cumulative, cumulative[-1] - _ROUNDING))
    at = np.searchsorted(cumulative, np.array([q, q - error, q + error]) - _ROUNDING).clip(0, last)
    return Quantile(*(ordered[i].value for i in at.tolist()))


def credible_set(estimates: Sequence[Estimate], mass: float, ess: float | None) -> CredibleSet:
    """The fewest values that have at least the probability ``mass`` together: the most probable ones.

    The standard error is that of the posterior of a share of ``ess`` independent draws; an exact answer has
    None. Raises ValueError for a mass that is not above 0 and at most 1.
    """
    if not 0.0 < mass <= 1.0:
        raise ValueError(f"the probability of a credible set is above 0 and at most 1, not {mass!r}")
    p = np.array([estimate.p for estimate in estimates])
    order = np.argsort(-p, kind="stable")
    enough = int(np.searchsorted(np.cumsum(p[order]), mass - _ROUNDING)) + 1
    chosen = np.sort(order[:enough])
    values = tuple(estimates[i].value for i in chosen.tolist())
    total = min(1.0, float(p[chosen].sum()))
    return CredibleSet(values, total, _share_error(total, ess))


def _share_error(p: float, ess: float | None) -> float:
    """The root mean square of how far a share ``p`` of so many draws is from its posterior, from a uniform
    prior."""
    if ess is None:
        return 0.0
    a, b = p * ess + 1.0, (1.0 - p) * ess + 1.0
    mean = a / (a + b)
    return math.sqrt(mean * (1.0 - mean) / (a + b + 1.0) + (mean - p) ** 2)
