"""The maximum of a penalised log-likelihood: proximal Newton steps by the information matrix.

Each step maximises a quadratic model of the smooth part plus the Laplace priors as they are (Lee, Sun &
Saunders 2014, *Proximal Newton-type methods*): without Laplace priors by solving a linear system, with them
by coordinate descent, which leaves numbers exactly at their mean. The matrix is the information at each step
where that is cheap; else that at the start, kept up by BFGS updates, and worked out anew where the steps have
become small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from plx import deadline
from plx.deadline import OutOfTimeError
from plx.learn.priors import Priors
from plx.values import FloatArray

TOLERANCE = 1e-11
"""A step that promises to gain less than this ends the search."""

MOST_STEPS = 500
FARTHEST = 50.0
"""A number without a prior that is this far from where it started is taken to run off to infinity."""

INTERRUPTED, OUT_OF_TIME = "interrupted", "out of time"
"""Why a search ended before it was done."""

_LONGEST = 5.0
"""No step changes a number by more."""


class Objective(Protocol):
    """A log-likelihood over K numbers; ``cheap`` if its information takes little longer than its gradient."""

    cheap: bool
    concave: bool

    def __call__(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """Its value and its gradient."""

    def information(self, weights: FloatArray) -> FloatArray:
        """Its negative second derivatives, shape (K, K)."""


@dataclass(frozen=True)
class Maximum:
    """Where a search ended, the objective at every step, and why it ended."""

    weights: FloatArray
    value: float
    path: tuple[float, ...]
    information: FloatArray
    converged: bool
    reason: str


Told = Callable[[int, float], None]


def maximise(
    objective: Objective,
    priors: Priors,
    start: FloatArray,
    told: Told | None = None,
    seconds: float | None = None,
) -> Maximum:
    """The maximum of the objective plus the log densities of the priors, from a start.

    Ctrl-C and the end of ``seconds`` end the search; what was found so far comes back, not converged.
    """
    search = _Search(objective, priors, start, told)
    try:
        with deadline.within(seconds):
            reason = search.run()
    except KeyboardInterrupt:
        return search.maximum(INTERRUPTED, converged=False)
    except OutOfTimeError:
        return search.maximum(OUT_OF_TIME, converged=False)
    return search.maximum(reason or "converged", converged=not reason)


class _Search:
    """The state of a search: where it is, and the matrix of its next step."""

    def __init__(self, objective: Objective, priors: Priors, start: FloatArray, told: Told | None) -> None:
        self.objective, self.priors, self.told = objective, priors, told
        self.start = self.weights = start.astype(np.float64)
        self.smooth, self.gradient = self._smooth(self.weights)
        self.path = [self._value()]
        self.matrix = np.eye(len(start))
        self._at: tuple[FloatArray, FloatArray] | None = None

    def run(self) -> str:
        """Step until nothing is to be gained; the reason if that did not come about."""
        fresh = True
        self.matrix = self._information()
        for _ in range(MOST_STEPS):
            deadline.check()
            step, gain = self._step()
            if gain < TOLERANCE:
                if fresh:
                    self._finish(step)
                    return ""
                self.matrix, fresh = self._information(), True
                continue
            if not self._take(step, gain):
                if fresh:
                    return ""  # rounding hides what is left to gain
                self.matrix, fresh = self._information(), True
                continue
            fresh = self.objective.cheap
            if fresh:
                self.matrix = self._information()
            away = np.abs(self.weights - self.start) > FARTHEST
            if (away & (self.priors.precision == 0) & (self.priors.slope == 0)).any():
                return "a number runs off to infinity"
        return f"no end after {MOST_STEPS:,} steps"

    def maximum(self, reason: str, converged: bool) -> Maximum:
        return Maximum(
            self.weights,
            self._value(),
            tuple(self.path),
            self._known(),
            converged,
            reason,
        )

    def _smooth(self, weights: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = self.objective(weights)
        prior, slope = self.priors.smooth(weights)
        return value + prior, gradient + slope

    def _value(self) -> float:
        return self.smooth + self.priors.sharp(self.weights)

    def _information(self) -> FloatArray:
        """The information with the precision of the priors, made positive where hidden values spoil that."""
        matrix = self._known() + np.diag(self.priors.precision)
        size, axes = np.linalg.eigh(matrix)
        least = 1e-10 * max(1.0, float(np.abs(size).max(initial=0.0)))
        return (axes * np.maximum(np.abs(size), least)) @ axes.T  # type: ignore[no-any-return]

    def _known(self) -> FloatArray:
        """The information at the present numbers, worked out once."""
        if self._at is None or not np.array_equal(self._at[0], self.weights):
            self._at = (self.weights, self.objective.information(self.weights))
        return self._at[1]

    def _step(self) -> tuple[FloatArray, float]:
        """The step to the maximum of the model, and what the model gains there."""
        away = self.weights - self.priors.mean
        if (self.priors.slope > 0).any():
            step = coordinate_descent(self.matrix, self.gradient, self.priors.slope, away)
        else:
            step = np.linalg.solve(self.matrix, self.gradient).astype(np.float64)
        step = step * min(1.0, _LONGEST / max(float(np.abs(step).max(initial=0.0)), _LONGEST))
        sharp = self.priors.sharp(self.weights + step) - self.priors.sharp(self.weights)
        return step, float(self.gradient @ step) - 0.5 * float(step @ self.matrix @ step) + sharp

    def _take(self, step: FloatArray, gain: float) -> bool:
        """Go along a step as far as that pays; False if it does not pay at all."""
        before, value = (self.weights, self.gradient), self._value()
        for share in (0.5**halvings for halvings in range(30)):
            weights = before[0] + share * step
            smooth, gradient = self._smooth(weights)
            if smooth + self.priors.sharp(weights) > value + 1e-4 * share * gain:
                self.weights, self.smooth, self.gradient = weights, smooth, gradient
                self.path.append(self._value())
                if self.told:
                    self.told(len(self.path) - 1, self.path[-1])
                if not self.objective.cheap:
                    self._update(weights - before[0], before[1] - gradient)
                return True
        return False

    def _finish(self, step: FloatArray) -> None:
        """Go the last step too, though its gain is lost in rounding: it doubles the digits of the numbers."""
        smooth, gradient = self._smooth(self.weights + step)
        if smooth + self.priors.sharp(self.weights + step) > self._value() - 1e-9 * max(1.0, abs(smooth)):
            self.weights, self.smooth, self.gradient = self.weights + step, smooth, gradient

    def _update(self, step: FloatArray, change: FloatArray) -> None:
        """The BFGS update of the matrix, where the curvature along the step is positive."""
        curvature = float(step @ change)
        if curvature <= 1e-12 * float(step @ step):
            return
        turned = self.matrix @ step
        self.matrix = (
            self.matrix
            + np.outer(change, change) / curvature
            - np.outer(turned, turned) / float(step @ turned)
        )


def coordinate_descent(
    matrix: FloatArray, gradient: FloatArray, slope: FloatArray, away: FloatArray
) -> FloatArray:
    """The step d that maximises gradient·d − ½ d·matrix·d − Σ slope·|away + d|."""
    step = np.zeros(len(gradient))
    rest = gradient.copy()
    for _ in range(1000):
        largest = 0.0
        for k in range(len(step)):
            diagonal = matrix[k, k]
            wanted = away[k] + step[k] + rest[k] / diagonal
            new = np.sign(wanted) * max(abs(wanted) - slope[k] / diagonal, 0.0) - away[k]
            change = new - step[k]
            if change:
                step[k] = new
                rest -= change * matrix[:, k]
                largest = max(largest, abs(change) * np.sqrt(diagonal))
        if largest < 1e-12:
            break
    return step
