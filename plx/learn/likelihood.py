"""The log-likelihood of worlds: log Z with what was observed, less log Z without.

Its gradient is E[n | observed] − E[n], for the statistics n of the learned numbers; the information matrix is
Cov[n] − Cov[n | observed] (Sundberg 1974). Structures that several worlds share are planned and solved once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from plx.graph.model import GroundModel
from plx.infer.limits import USUAL_TRYING
from plx.learn.shared import shared
from plx.learn.solved import Solved, SolvedHere
from plx.learn.worlds import World
from plx.values import FloatArray

Solve = Callable[[Sequence[GroundModel], Sequence[str], float], Solved]
"""Where models are solved, and the seconds in which circuits may be compiled."""

_STEP = 1e-4
"""Steps of central differences: their error is of the order of its square."""


class Likelihood:
    """The log-likelihood of worlds over K numbers. Raises TooWideError as `LogZ`.

    Circuits may take so many seconds to be compiled, with what was observed and again without it.
    """

    name = "likelihood"

    def __init__(
        self,
        worlds: Sequence[World],
        names: Sequence[str],
        solve: Solve = SolvedHere,
        compiling: float = USUAL_TRYING,
    ) -> None:
        self.size = len(names)
        self._seen = _Sum([world.seen for world in worlds], names, solve, compiling)
        self._free = _Sum([world.free for world in worlds], names, solve, compiling)
        self.cheap = self._seen.solved.cheap and self._free.solved.cheap
        self.concave = not any(len(world.hidden) for world in worlds)

    def observed(self, weights: FloatArray) -> FloatArray:
        """The statistics, those of hidden unknowns expected given what was observed, shape (K,)."""
        return self._seen(weights)[1]

    def __call__(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """The log-likelihood and its gradient."""
        seen, observed = self._seen(weights)
        free, expected = self._free(weights)
        return seen - free, observed - expected

    def information(self, weights: FloatArray) -> FloatArray:
        """Cov[n] − Cov[n | observed], shape (K, K); by differences of the gradient where too large."""
        if not self.cheap:
            return differences(lambda w: self(w)[1], weights)
        return self._free.covariance(weights) - self._seen.covariance(weights)


class _Sum:
    """Sums over models, of which each distinct one is solved once and counted as often as it occurs."""

    def __init__(
        self, models: Sequence[GroundModel], names: Sequence[str], solve: Solve, compiling: float
    ) -> None:
        groups = shared(models)
        self.solved = solve([models[group[0]] for group in groups], names, compiling)
        self._times, self._size = [len(group) for group in groups], len(names)

    def __call__(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """log Z and the expected statistics."""
        total, statistics = 0.0, np.zeros(self._size)
        for times, (value, expected) in zip(self._times, self.solved.at(weights), strict=True):
            total += times * value
            statistics += times * expected
        return total, statistics

    def covariance(self, weights: FloatArray) -> FloatArray:
        """The covariance of the statistics, shape (K, K)."""
        out = np.zeros((self._size, self._size))
        for times, one in zip(self._times, self.solved.covariances(weights), strict=True):
            out += times * one
        return out


def differences(gradient: Callable[[FloatArray], FloatArray], weights: FloatArray) -> FloatArray:
    """The negative, symmetric matrix of central differences of a gradient."""
    size = len(weights)
    out = np.empty((size, size))
    for k in range(size):
        step = np.zeros(size)
        step[k] = _STEP * max(1.0, abs(weights[k]))
        out[k] = (gradient(weights - step) - gradient(weights + step)) / (2 * step[k])
    return (out + out.T) / 2
