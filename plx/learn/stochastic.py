"""The maximum of a likelihood whose log Z is out of reach: Newton steps on the draws of persistent lanes.

Each round draws at fixed numbers, takes the Newton step that the mean and the covariance of the statistics
say, and draws more where the Monte-Carlo error hides the step. It ends where that error is a small part of
the standard error and the last step is small (Younes 1989; on errors of estimates from draws Geyer & Thompson
1992, *Constrained Monte Carlo maximum likelihood for dependent data*).
Where values are hidden, lanes given what was observed are subtracted from lanes that are free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plx import deadline
from plx.deadline import OutOfTimeError
from plx.infer.streams import Stream, seed_sequence
from plx.learn.lanes import Drawn, Lanes
from plx.learn.log_z import LogZ
from plx.learn.maximise import INTERRUPTED, OUT_OF_TIME, coordinate_descent
from plx.learn.priors import Priors
from plx.learn.shared import shared
from plx.learn.worlds import World
from plx.values import FloatArray

NAME = "stochastic likelihood"

ENOUGH = 0.2
"""A Monte-Carlo error of at most this part of the standard error ends the search: 2 % more in all."""

_NEAR = 0.25
"""A step of so many standard errors is small: what Newton's method leaves out is its square."""

_APART = 5.0
"""So many standard errors of a difference are no chance."""

_TOLD = 3.0
"""Information of fewer Monte-Carlo errors is not told from none."""

_NOTHING = 1e-18
"""The variance of a number that does not depend on the draws."""

_FIRST, _MOST = 16, 512
"""Draws of each lane in a round."""

_WARM, _SETTLE = 200, 20
"""Sweeps without a look: at first, and after the numbers have changed."""

_MOST_WORLDS = 64
"""Lanes start at so many of the worlds."""

_ROUNDS = 40
_STUCK = 3
"""So many longest rounds in which lanes do not agree end the search."""

_LONGEST = 2.0
"""No step changes a number by more."""


class Simulated(NamedTuple):
    """Where a stochastic search ended. Over K numbers; ``error`` has the Monte-Carlo error in it."""

    weights: FloatArray
    error: FloatArray
    monte_carlo: FloatArray
    observed: FloatArray
    expected: FloatArray
    path: tuple[float, ...]
    converged: bool
    reason: str
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Round:
    """A round at ``weights``: the step, its Monte-Carlo error, and the standard error of the numbers."""

    weights: FloatArray
    step: FloatArray
    monte_carlo: FloatArray
    error: FloatArray
    observed: FloatArray
    expected: FloatArray
    gradient: FloatArray
    gain: float
    draws: int
    mixed: bool
    curved: bool  # whether the information was positive
    blind: tuple[str, ...]  # numbers of which the draws cannot tell whether the data say anything

    @property
    def far(self) -> float:
        """The step in standard errors."""
        return _ratio(np.abs(self.step), self.error)

    @property
    def rough(self) -> float:
        """The Monte-Carlo error in standard errors."""
        return _ratio(self.monte_carlo, self.error)


def _ratio(part: FloatArray, whole: FloatArray) -> float:
    return float((part / np.where(whole > 0, whole, 1.0)).max(initial=0.0, where=whole > 0))


class Stochastic:
    """The likelihood of worlds over K numbers by lanes: one set for each distinct model."""

    def __init__(self, worlds: Sequence[World], names: Sequence[str], seed: int) -> None:
        self.size, self._names = len(names), tuple(names)
        source = seed_sequence(seed, Stream.FITS)
        seeds = source.generate_state(2 * len(worlds), np.uint32).tolist()
        self._sets: list[tuple[Lanes, int, int]] = []
        self._observed = np.zeros(self.size)
        complete = not any(len(world.hidden) for world in worlds)
        for sign, models in ((-1, [one.free for one in worlds]), (1, [one.seen for one in worlds])):
            for group in shared(models):
                model, times = models[group[0]], len(group)
                if model.graph.n_variables:
                    states = None
                    if complete and sign < 0:
                        states = np.stack([worlds[i].states for i in group[:_MOST_WORLDS]], axis=1)
                    lanes = Lanes(model, tuple(names), seeds.pop(), states)
                    self._sets.append((lanes, sign, times))
                else:
                    self._observed += sign * times * LogZ(model, names)(np.zeros(self.size))[1]

    def search(
        self,
        priors: Priors,
        start: FloatArray,
        told: Callable[[int, float], None] | None = None,
        seconds: float | None = None,
    ) -> Simulated:
        """From a start to the maximum of the likelihood and the priors. Ctrl-C and the end of ``seconds``
        return the best so far."""
        rounds, path = list[_Round](), [0.0]
        try:
            with deadline.within(seconds):
                reason = self._rounds(priors, start, told, rounds, path)
        except KeyboardInterrupt:
            reason = INTERRUPTED
        except OutOfTimeError:
            reason = OUT_OF_TIME
        return self._result(rounds, start, path, reason)

    def _rounds(
        self,
        priors: Priors,
        start: FloatArray,
        told: Callable[[int, float], None] | None,
        rounds: list[_Round],
        path: list[float],
    ) -> str:
        """Add rounds, and to the path, until the numbers stand; the reason if they do not."""
        weights, draws = start.astype(np.float64), _FIRST
        for i in range(_ROUNDS):
            found = self._round(priors, weights, draws, _SETTLE if i else _WARM)
            if rounds and _overshot(priors, rounds[-1], found):
                weights = (rounds[-1].weights + weights) / 2
                continue
            rounds.append(found)
            path.append(path[-1] + found.gain)
            if told:
                told(i + 1, path[-1])
            weights = found.weights + found.step
            near = _near(rounds)
            if found.far <= _NEAR and near.rough <= ENOUGH and found.mixed:
                return ""
            if not any(one.mixed for one in rounds[-_STUCK:]) and all(
                one.draws == _MOST for one in rounds[-_STUCK:]
            ):
                return _open(found, near)
            if not found.mixed or found.far < 3 * found.rough or found.rough > _NEAR:
                draws = min(2 * draws, _MOST)
        return _open(rounds[-1], _near(rounds))

    def _result(
        self, rounds: Sequence[_Round], start: FloatArray, path: Sequence[float], reason: str
    ) -> Simulated:
        if not rounds:
            none = np.full(self.size, np.nan)
            note = "no draw was made: the values are those that the search started at"
            return Simulated(start, none, none, none, none, tuple(path), False, reason, (note,))
        last, best = rounds[-1], _near(rounds)
        notes = [
            f"standard errors include the Monte-Carlo error of the draws, which is at most"
            f" {best.rough:.0%} of them"
            if np.isfinite(best.rough)
            else "there are too few draws"
        ]
        if last.blind:
            listed = ", ".join(last.blind)
            notes.append(
                f"the draws cannot tell whether the data say anything of {listed}:"
                " there the prior alone counts"
            )
            if not last.curved:
                reason = reason or "not converged: the draws cannot tell whether there is a maximum"
        elif not last.curved:
            notes.append(
                "the information is not positive here: standard errors are those of complete data, too small"
            )
        return Simulated(
            best.weights,
            np.sqrt(last.error**2 + best.monte_carlo**2),
            best.monte_carlo,
            last.observed,
            last.expected,
            tuple(path),
            not reason,
            reason or "converged",
            tuple(notes),
        )

    def _round(self, priors: Priors, weights: FloatArray, draws: int, warm: int) -> _Round:
        drawn: list[tuple[Drawn, int, int]] = []
        for lanes, sign, times in self._sets:
            lanes.set(weights)
            lanes.burn(warm)
            drawn.append((lanes.draw(draws), sign, times))
        observed, expected = self._observed.copy(), np.zeros(self.size)
        information, free = np.zeros((self.size, self.size)), np.zeros((self.size, self.size))
        for one, sign, times in drawn:
            if sign > 0:
                observed += times * one.mean
            else:
                expected += times * one.mean
                free += times * one.covariance
            information -= sign * times * one.covariance
        blind: FloatArray = np.zeros((self.size, 0))
        if any(sign > 0 for _, sign, _ in drawn):
            information, blind = _told(information, free, drawn)
        _, slope = priors.smooth(weights)
        gradient = observed - expected + slope
        matrix, curved = _positive(information + np.diag(priors.precision), free + np.diag(priors.precision))
        step = _step(matrix, gradient, priors, weights)
        held = (priors.slope > 0) & (weights + step == priors.mean)
        inverse = _inverse(matrix, ~held)
        variance, mixed = _spread(drawn, inverse)
        gain = float(gradient @ step) - 0.5 * float(step @ matrix @ step)
        return _Round(
            weights,
            step,
            np.sqrt(variance),
            np.sqrt(np.maximum(np.diag(inverse), 0.0)),
            observed,
            expected + free @ step,
            gradient,
            gain,
            draws,
            mixed,
            curved,
            self._of(blind),
        )

    def _of(self, directions: FloatArray) -> tuple[str, ...]:
        """The numbers that directions, shape (K, n), are mostly about."""
        size = np.abs(directions)
        about = (size > 0.3 * size.max(axis=0, initial=0.0)).any(axis=1)
        return tuple(name for name, one in zip(self._names, about.tolist(), strict=True) if one)


def _told(
    information: FloatArray, free: FloatArray, drawn: Sequence[tuple[Drawn, int, int]]
) -> tuple[FloatArray, FloatArray]:
    """The information without what draws cannot tell from 0, and the directions [K, n] of that.

    Where values are hidden it is a difference of covariances. In units of what complete data would tell, each
    direction has a share from 0 to 1, whose error is that of two variances of so many effective draws.
    """
    size, axes = np.linalg.eigh(free)
    kept = size > 1e-9 * max(1.0, float(size.max(initial=0.0)))
    whiten = axes[:, kept] / np.sqrt(size[kept])
    share, turned = np.linalg.eigh(whiten.T @ information @ whiten)
    directions = whiten @ turned
    error = np.zeros(len(share))
    for one, _, times in drawn:
        within = times * np.einsum("ji,jk,ki->i", directions, one.covariance, directions)
        spread = times * (one.lane_means @ directions).var(axis=0, ddof=1) / len(one.lane_means)
        error += 2 * within * spread  # (within)² · 2 / n, n = within / spread
    blind = share < _TOLD * np.sqrt(error)
    back = (axes[:, kept] * np.sqrt(size[kept])) @ turned
    return (back * np.where(blind, 0.0, share)) @ back.T, directions[:, blind]


def compared(searches: Sequence[Simulated]) -> Simulated:
    """The first of several searches, with whether the others ended within a standard error of it."""
    first, *others = searches
    if not others:
        return first
    far = [_ratio(np.abs(one.weights - first.weights), first.error) for one in others]
    same = sum(ratio <= 1 for ratio in far)
    note = (
        f"{same} of {len(others)} searches from other starts ended within a standard error of these numbers,"
        f" the farthest {max(far):.2g} standard errors away"
    )
    if same == len(others) or not first.converged:
        return first._replace(notes=(*first.notes, note))
    reason = "not converged: searches from other starts end elsewhere"
    return first._replace(notes=(*first.notes, note), converged=False, reason=reason)


def _overshot(priors: Priors, before: _Round, after: _Round) -> bool:
    """Whether a long step lost: what is gained along it is about its length times the mean of the slopes."""
    moved = after.weights - before.weights
    sharp = priors.sharp(after.weights) - priors.sharp(before.weights)
    return before.far > 1 and float(moved @ (before.gradient + after.gradient)) / 2 + sharp < 0


def _near(rounds: Sequence[_Round]) -> _Round:
    """The average of where the rounds end that began near their end, by their numbers of draws."""
    last = rounds[-1]
    if last.far > _NEAR:
        return _Round(**{**vars(last), "weights": last.weights + last.step})
    good = [one for one in rounds if one.far <= _NEAR]
    total = sum(one.draws for one in good)
    weights = sum((one.draws / total) * (one.weights + one.step) for one in good)
    variance = sum((one.draws / total) ** 2 * one.monte_carlo**2 for one in good)
    return _Round(**{**vars(last), "weights": weights, "monte_carlo": np.sqrt(variance)})


def _open(last: _Round, best: _Round) -> str:
    """Why a search that ran out of rounds is not done."""
    if not last.mixed:
        return "not converged: the lanes do not mix"
    if best.rough > ENOUGH:
        return f"not converged: the Monte-Carlo error is still {best.rough:.0%} of the standard error"
    return "not converged: the numbers still move"


def _positive(matrix: FloatArray, complete: FloatArray) -> tuple[FloatArray, bool]:
    """The information, or that of complete data where hidden values spoil it; whether it is the former."""
    least = 1e-9 * max(1.0, float(np.abs(np.diag(complete)).max(initial=0.0)))
    if float(np.linalg.eigvalsh(matrix).min(initial=np.inf)) > least:
        return matrix, True
    size, axes = np.linalg.eigh(complete)
    return (axes * np.maximum(size, least)) @ axes.T, bool(np.array_equal(matrix, complete))


def _step(matrix: FloatArray, gradient: FloatArray, priors: Priors, weights: FloatArray) -> FloatArray:
    if (priors.slope > 0).any():
        step = coordinate_descent(matrix, gradient, priors.slope, weights - priors.mean)
    else:
        step = np.linalg.solve(matrix, gradient).astype(np.float64)
    return step * min(1.0, _LONGEST / max(float(np.abs(step).max(initial=0.0)), _LONGEST))


def _inverse(matrix: FloatArray, free: FloatArray) -> FloatArray:
    """The inverse of the rows and columns that are free, 0 elsewhere."""
    at = np.flatnonzero(free)
    out = np.zeros_like(matrix)
    out[np.ix_(at, at)] = np.linalg.inv(matrix[np.ix_(at, at)])
    return out


def _spread(drawn: Sequence[tuple[Drawn, int, int]], inverse: FloatArray) -> tuple[FloatArray, bool]:
    """The variance of the step by the spread of the lanes, and whether lanes agree, also over time.

    Those that began at the data are compared with the others, the first half of the draws with the second,
    and the spread of the means of lanes with that of single draws, which is the same if lanes do not move.
    """
    variance, mixed = np.zeros(len(inverse)), True
    for one, _, times in drawn:
        by_lane = times * one.lane_means @ inverse
        lanes = len(by_lane)
        spread = by_lane.var(axis=0, ddof=1) / lanes
        variance += spread
        halves = times * (one.lane_sums[1] - one.lane_sums[0]) * (2 / one.n) @ inverse
        drift = np.abs(halves.mean(axis=0)) - _APART * halves.std(axis=0, ddof=1) / np.sqrt(lanes)
        apart = np.abs(by_lane[::2].mean(axis=0) - by_lane[1::2].mean(axis=0))
        within = times**2 * np.einsum("ij,jk,ki->i", inverse, one.covariance, inverse)
        stuck = lanes * spread > 0.5 * within
        own = np.sqrt(np.maximum(np.diag(inverse), 0.0)) * 0.05
        stuck &= within > _NOTHING
        mixed &= not ((drift > own) | (apart - _APART * 2 * np.sqrt(spread) > own) | stuck).any()
    return variance, bool(mixed)
