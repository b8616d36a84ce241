"""What data leave open: directions in which the numbers may move without a loss, or without an end.

A direction in which the information of the data is next to nothing is *redundant* where the data are the same all
along it, and *separating* where they only gain: then the maximum lies at infinity (Albert & Anderson 1984), and
what was found is the doing of the prior.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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

_MOST = 8
"""So many names stand in a message."""


def doubts(
    objective: Objective, priors: Priors, weights: FloatArray, information: FloatArray, names: Sequence[str]
) -> Iterator[str]:
    """What is odd about an estimate, in words."""
    if not len(weights):
        return
    size, axes = np.linalg.eigh(information)
    nothing = _NOTHING * max(float(size[-1]), 1e-3)
    null = axes[:, size <= nothing]
    for direction in _separating(objective, priors, weights, information, axes):
        yield _runs_off(direction, names, priors)
    open_ = [d for d in _readable(null) if _is_flat(objective, weights, d)]
    for direction in open_:
        yield _redundant(direction, names, priors)


def _separating(
    objective: Objective, priors: Priors, weights: FloatArray, information: FloatArray, axes: FloatArray
) -> Iterator[FloatArray]:
    """Numbers, else directions, that the data would move without an end, of length 1 by the largest part."""
    named: set[int] = set()
    for direction in [*np.eye(len(weights)), *axes.T]:
        direction = direction / np.abs(direction).max()
        parts = set(np.flatnonzero(np.abs(direction) > _PART).tolist())
        known = float(direction @ information @ direction)
        precision = float(direction**2 @ (priors.precision + priors.slope**2))
        if parts & named or known > max(_WEAK * precision, 1e-3):
            continue
        slope = float(objective(weights)[1] @ direction)
        if abs(slope) <= 1e-6 * max(1.0, known):
            slope = float(objective(weights)[1] @ direction) if known > 1e-9 else 0.0
        direction = direction * np.sign(slope)
        if slope and abs(slope) > 1e-9 and float(objective(weights + _FAR * direction)[1] @ direction) >= 0:
            named |= parts
            yield direction


def _is_flat(objective: Objective, weights: FloatArray, direction: FloatArray) -> bool:
    """Whether the data are the same far out."""
    slopes = [abs(float(objective(weights + far * direction)[1] @ direction)) for far in (1.0, -1.0)]
    return max(slopes) < 1e-6


def _readable(null: FloatArray) -> list[FloatArray]:
    """A basis of the directions with as many zeros as elimination gives, largest part 1."""
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


def _listed(direction: FloatArray, names: Sequence[str]) -> list[str]:
    found = [f"`{names[k]}`" for k in np.flatnonzero(np.abs(direction) > _PART)]
    return found if len(found) <= _MOST else [*found[:_MOST], f"{len(found) - _MOST} more"]


def _words(direction: FloatArray, names: Sequence[str]) -> str:
    *most, last = _listed(direction, names)
    return f"{', '.join(most)} and {last}" if most else last


def _runs_off(direction: FloatArray, names: Sequence[str], priors: Priors) -> str:
    parts = np.flatnonzero(np.abs(direction) > _PART)
    end = ("∞" if direction[parts[0]] > 0 else "-∞") if len(parts) == 1 else "infinity"
    held = "the prior alone holds it" if (priors.precision + priors.slope)[parts].all() else "no prior holds it"
    held = held if len(parts) == 1 else held.replace(" it", " them")
    return f"the data never contradict {_words(direction, names)}: by themselves they would go to {end}, {held}" if (
        len(parts) > 1
    ) else f"the data never contradict {_words(direction, names)}: by itself it would go to {end}, {held}"


def _redundant(direction: FloatArray, names: Sequence[str], priors: Priors) -> str:
    parts = np.flatnonzero(np.abs(direction) > _PART)
    decided = "the prior decides" if (priors.precision + priors.slope)[parts].any() else "nothing decides"
    if len(parts) == 1:
        return f"the data say nothing of {_words(direction, names)}: {decided}"
    shares = [f"{direction[k]:+.3g}" for k in parts[:_MOST]]
    together = "by the same amount" if np.ptp(direction[parts]) < 1e-3 else f"as {', '.join(shares)}"
    return f"the data do not tell {_words(direction, names)} apart: moved together {together}, they fit as well; {decided}"
