"""The log-likelihood of worlds: log Z with what was observed, less log Z without.

Its gradient is E[n | observed] − E[n], for the statistics n of the learned numbers; the information matrix is
Cov[n] − Cov[n | observed] (Sundberg 1974). Structures that several worlds share are planned and solved once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from plx.graph.model import GroundModel
from plx.graph.rows import unique_keys
from plx.learn.log_z import LogZ
from plx.learn.worlds import World
from plx.values import FloatArray

_STEP = 1e-4
"""Steps of central differences: their error is of the order of its square."""


class Likelihood:
    """The log-likelihood of worlds over K numbers. Raises TooWideError where no junction tree fits."""

    name = "likelihood"

    def __init__(self, worlds: Sequence[World], names: Sequence[str]) -> None:
        self.size = len(names)
        self._seen = _shared([world.seen for world in worlds], names)
        self._free = _shared([world.free for world in worlds], names)
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
        """The negative second derivatives, by central differences of the exact gradient, shape (K, K)."""
        return differences(lambda w: self(w)[1], weights)

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


def _shared(models: Sequence[GroundModel], names: Sequence[str]) -> list[tuple[LogZ, int]]:
    """Each distinct model once, and how often it occurs."""
    found: dict[bytes, list[GroundModel]] = {}
    for model in models:
        found.setdefault(_spelt(model), []).append(model)
    return [(LogZ(group[0], names), len(group)) for group in found.values()]


def _spelt(model: GroundModel) -> bytes:
    """All that log Z depends on, so that equal models are equal bytes."""
    ids = np.append(model.graph.weight, model.constant_weight)
    first, inverse = unique_keys(ids)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    values = "|".join(repr(model.values[i]) for i in ids[first[order]].tolist())
    arrays = [array for name, array in model.graph._asdict().items() if name in _STRUCTURE]
    return b"|".join([*(array.tobytes() for array in (*arrays, rank[inverse])), values.encode()])


_STRUCTURE = frozenset(
    {"card", "input_start", "input_node", "input_contribution", "contribution_start", "contribution"}
    | {"output_of", "output_start", "output", "scope_start", "scope", "table_of", "table_start"}
)
