"""The log-likelihood of worlds: log Z with what was observed, less log Z without.

Its gradient is E[n | observed] − E[n], for the statistics n of the learned numbers; the information matrix is
Cov[n] − Cov[n | observed] (Sundberg 1974). Structures that several worlds share are planned and solved once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from plx.graph.model import GroundModel
from plx.learn.log_z import LogZ
from plx.learn.shared import shared
from plx.learn.worlds import World
from plx.values import FloatArray

_STEP = 1e-4
"""Steps of central differences: their error is of the order of its square."""


class Likelihood:
    """The log-likelihood of worlds over K numbers. Raises TooWideError where no junction tree fits."""

    name = "likelihood"

    def __init__(self, worlds: Sequence[World], names: Sequence[str]) -> None:
        self.size = len(names)
        self._seen = _solved([world.seen for world in worlds], names)
        self._free = _solved([world.free for world in worlds], names)
        self.cheap = all(part.has_covariance for part, _ in (*self._seen, *self._free))
        self.concave = not any(len(world.hidden) for world in worlds)

    def observed(self, weights: FloatArray) -> FloatArray:
        """The statistics, those of hidden unknowns expected given what was observed, shape (K,)."""
        return self._sum(self._seen, weights)[1]

    def __call__(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """The log-likelihood and its gradient."""
        seen, observed = self._sum(self._seen, weights)
        free, expected = self._sum(self._free, weights)
        return seen - free, observed - expected

    def information(self, weights: FloatArray) -> FloatArray:
        """Cov[n] − Cov[n | observed], shape (K, K); by differences of the gradient where too large."""
        if not self.cheap:
            return differences(lambda w: self(w)[1], weights)
        out = np.zeros((self.size, self.size))
        for parts, sign in ((self._free, 1.0), (self._seen, -1.0)):
            for log_z, times in parts:
                out += sign * times * log_z.covariance(weights)
        return out

    def _sum(self, parts: list[tuple[LogZ, int]], weights: FloatArray) -> tuple[float, FloatArray]:
        total, statistics = 0.0, np.zeros(self.size)
        for log_z, times in parts:
            value, expected = log_z(weights)
            total += times * value
            statistics += times * expected
        return total, statistics


def differences(gradient: Callable[[FloatArray], FloatArray], weights: FloatArray) -> FloatArray:
    """The negative, symmetric matrix of central differences of a gradient."""
    size = len(weights)
    out = np.empty((size, size))
    for k in range(size):
        step = np.zeros(size)
        step[k] = _STEP * max(1.0, abs(weights[k]))
        out[k] = (gradient(weights - step) - gradient(weights + step)) / (2 * step[k])
    return (out + out.T) / 2


def _solved(models: Sequence[GroundModel], names: Sequence[str]) -> list[tuple[LogZ, int]]:
    """Each distinct model once, and how often it occurs."""
    return [(LogZ(models[group[0]], names), len(group)) for group in shared(models)]
