"""What is believed of learned numbers before there are data: a penalty on the log-likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plx.check.program import Prior
from plx.values import FloatArray
from plx.weights import to_float


@dataclass(frozen=True)
class Priors:
    """Priors of K numbers: normal ones by ``precision`` 1/sd², Laplace ones by ``slope`` 1/scale; else 0."""

    mean: FloatArray
    precision: FloatArray
    slope: FloatArray

    @staticmethod
    def of(priors: Sequence[Prior]) -> Priors:
        """The priors of numbers, one for each."""
        scale = np.array([to_float(prior.scale) for prior in priors])
        kind = np.array([prior.kind for prior in priors])
        return Priors(
            np.array([to_float(prior.mean) for prior in priors], dtype=np.float64),
            np.where(kind == "normal", 1 / scale**2, 0.0),
            np.where(kind == "laplace", 1 / scale, 0.0),
        )

    def smooth(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """The log density of the normal priors, constants left out, and its gradient."""
        away = weights - self.mean
        return float(-0.5 * self.precision @ away**2), -self.precision * away

    def sharp(self, weights: FloatArray) -> float:
        """The log density of the Laplace priors, constants left out."""
        return float(-self.slope @ np.abs(weights - self.mean))
