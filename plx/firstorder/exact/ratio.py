"""Logs of rational numbers, held as the numbers: what adds doubles adds these, and nothing is rounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.weights import NotRationalError

ObjectArray = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Ratio:
    """log ``odds``; a sum of two is the log of the product. 0.0 and -inf are log 1 and log 0."""

    odds: Fraction

    def __add__(self, other: object) -> Ratio:
        return Ratio(self.odds * odds_of(other))

    __radd__ = __add__

    def __eq__(self, other: object) -> bool:
        return self.odds == odds_of(other)

    def __hash__(self) -> int:
        return hash(self.odds)


def odds_of(log: object) -> Fraction:
    """The number whose log is given. Raises NotRationalError for a double other than 0 and -inf."""
    if isinstance(log, Ratio):
        return log.odds
    if log == 0:
        return Fraction(1)
    if log == -np.inf:
        return Fraction(0)
    raise NotRationalError(str(log))


def odds(logs: npt.NDArray[Any]) -> ObjectArray:
    """The numbers whose logs are given, of the same shape."""
    flat = [odds_of(log) for log in logs.ravel().tolist()]
    out = np.empty(len(flat), dtype=object)
    out[:] = flat
    return out.reshape(logs.shape)


def log_sum(logs: npt.NDArray[Any], axis: int, keepdims: bool = False) -> npt.NDArray[Any]:
    """The logs of sums along an axis: of doubles, or of ratios where some are."""
    if logs.dtype != object:
        found: npt.NDArray[Any] = np.logaddexp.reduce(logs, axis=axis, keepdims=True)
        return found if keepdims else found.squeeze(axis)
    sums = np.asarray(odds(logs).sum(axis=axis, keepdims=keepdims), dtype=object)
    return wrapped(sums.ravel().tolist(), sums.shape)


def wrapped(numbers: Sequence[Fraction | int], shape: tuple[int, ...]) -> ObjectArray:
    """An array of logs of these numbers."""
    out = np.empty(len(numbers), dtype=object)
    out[:] = [Ratio(Fraction(number)) for number in numbers]
    return out.reshape(shape)
