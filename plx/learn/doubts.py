"""What data leave open: directions in which the numbers may move without a loss, or without an end.

A direction in which the information of the data is next to nothing is *redundant* where the data are the same
all along it, and *separating* where they only gain: then the maximum lies at infinity (Albert & Anderson
1984), and what was found is the doing of the prior.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plx.learn.maximise import Objective
from plx.learn.priors import Priors
from plx.values import FloatArray

_FAR = 20.0
"""So far out it is looked whether data still gain."""

_NOTHING = 1e-7
"""Of the largest information, this part is nothing: it is worked out by differences."""

_WEAK = 25.0
"""Up to so many times the precision of the prior information is suspicious."""

_PART = 0.05
"""A number belongs to a direction if its share is this part of the largest."""

_FLAT = 1e-6
"""A slope below this is none."""

_MOST = 8
"""So many names stand in a message."""


class Doubts(NamedTuple):
    """What is odd about an estimate, in words; ``endless`` if a number without a prior has no end.

    ``undecided`` are the numbers that neither data nor a prior hold: their standard error is infinite.
    """

    notes: list[str]
    endless: bool
    undecided: list[int]


def doubts(
    objective: Objective, priors: Priors, weights: FloatArray, information: FloatArray, names: Sequence[str]
) -> Doubts:
    """What the data leave open at an estimate."""
    size, axes = np.linalg.eigh(information)
    nothing = _NOTHING * max(float(size.max(initial=0.0)), 1e-3)
    separating = list(_separating(objective, priors, weights, information, axes))
    notes = [_runs_off(direction, names, priors) for direction in separating]
    flat = _flat(objective, weights, _readable(axes[:, size <= nothing]))
    notes += [_redundant(direction, names, priors) for direction in flat]
    endless = [direction for direction in separating if not _is_held(direction, priors)]
    loose = [direction for direction in flat if not _decided(direction, priors)]
    return Doubts(notes, bool(endless), sorted({k for one in (*endless, *loose) for k in _parts(one)}))


def _is_held(direction: FloatArray, priors: Priors) -> bool:
    """Whether every number of a direction has a prior."""
    return bool((priors.precision + priors.slope)[_parts(direction)].all())


def _decided(direction: FloatArray, priors: Priors) -> bool:
    """Whether a number of a direction has a prior, so that it has an end where the data say nothing."""
    return bool((priors.precision + priors.slope)[_parts(direction)].any())


def _slope(objective: Objective, weights: FloatArray, away: FloatArray, direction: FloatArray) -> float:
    """What the data gain along a direction, somewhere away from the estimate."""
    return float(objective(weights + away)[1] @ direction)


def _separating(
    objective: Objective, priors: Priors, weights: FloatArray, information: FloatArray, axes: FloatArray
) -> Iterator[FloatArray]:
    """Numbers, else directions, that the data would move without an end; the largest part of each is ±1."""
    named: set[int] = set()
    gradient = objective(weights)[1]
    for axis in [*np.eye(len(weights)), *axes.T]:
        direction = axis / np.abs(axis).max()
        slope = float(gradient @ direction)
        known = float(direction @ information @ direction)
        precision = float(direction**2 @ (priors.precision + priors.slope**2))
        parts = set(_parts(direction))
        if parts & named or not slope or known > max(_WEAK * precision, _WEAK * _FLAT):
            continue
        direction = direction * np.sign(slope)
        if _slope(objective, weights, _FAR * direction, direction) < 0:
            continue
        gained = objective.concave and abs(slope) > _FLAT  # behind it is at least what it is here
        if gained or _slope(objective, weights, -_FAR * direction, direction) > _FLAT:
            named |= parts
            yield direction


def _flat(
    objective: Objective, weights: FloatArray, directions: Sequence[FloatArray]
) -> Sequence[FloatArray]:
    """Those directions along which nothing is gained or lost: most often all, which one look tells."""
    if not directions:
        return []
    share = 1.0 + np.sqrt(np.arange(len(directions)))  # in no proportion that data might have
    every = share @ np.array(directions) / share.max()

    def is_flat(direction: FloatArray) -> bool:
        return all(
            abs(_slope(objective, weights, far * direction, direction)) < _FLAT for far in (_FAR, -_FAR)
        )

    slopes = [np.array(directions) @ objective(weights + far * every)[1] for far in (_FAR, -_FAR)]
    if np.abs(slopes).max() < _FLAT:
        return directions
    return [direction for direction in directions if is_flat(direction)]


def _readable(null: FloatArray) -> list[FloatArray]:
    """A basis of the directions with as many zeros as elimination gives, the largest part of each ±1."""
    rows = null.T.copy()
    at = 0
    for column in range(rows.shape[1]):
        if at == len(rows):
            break
        pivot = at + int(np.abs(rows[at:, column]).argmax())
        if abs(rows[pivot, column]) < 1e-4:
            continue
        rows[[at, pivot]] = rows[[pivot, at]]
        rows[at] /= rows[at, column]
        others = np.arange(len(rows)) != at
        rows[others] -= np.outer(rows[others, column], rows[at])
        at += 1
    return [row / np.abs(row).max() for row in rows]


# -------------------------------------------------------------------------- in words


def _parts(direction: FloatArray) -> list[int]:
    return np.flatnonzero(np.abs(direction) > _PART).tolist()


def _listed(direction: FloatArray, names: Sequence[str]) -> str:
    found = [f"`{names[k]}`" for k in _parts(direction)]
    if len(found) > _MOST:
        found = [*found[:_MOST], f"{len(found) - _MOST} more"]
    *most, last = found
    return f"{', '.join(most)} and {last}" if most else last


def _runs_off(direction: FloatArray, names: Sequence[str], priors: Priors) -> str:
    parts = _parts(direction)
    held = "the prior alone holds" if _is_held(direction, priors) else "no prior holds"
    lead = f"the data never contradict {_listed(direction, names)}:"
    if len(parts) > 1:
        return f"{lead} by themselves they would go to infinity together, {held} them"
    return f"{lead} by itself it would go to {'∞' if direction[parts[0]] > 0 else '-∞'}, {held} it"


def _redundant(direction: FloatArray, names: Sequence[str], priors: Priors) -> str:
    parts = _parts(direction)
    decides = "the prior decides" if _decided(direction, priors) else "nothing decides"
    if len(parts) == 1:
        return f"the data say nothing of {_listed(direction, names)}: {decides}"
    shares = ", ".join(f"{direction[k]:+.3g}" for k in parts[:_MOST])
    together = "by one amount" if np.ptp(direction[parts]) < 1e-3 else f"in proportion {shares}"
    lead = f"the data do not tell {_listed(direction, names)} apart"
    return f"{lead}: moved together {together} they fit as well, so {decides}"
