"""How worlds are chosen from log weights: drawn, or the best."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from plx.values import FloatArray, IntArray

UInt64 = npt.NDArray[np.uint64]

_ROUNDED = 1e-9
"""Shares are 1 together but for what is rounded off."""

_SAME = 1e-12
"""Of the best one it is less, as its weight is added up in the same order."""


class Pick(Protocol):
    """What is chosen; all weights are logs, and something in each row is possible. ``plus`` is how weights
    are added up to choose by: np.logaddexp, or np.maximum for what is best."""

    @property
    def plus(self) -> np.ufunc:
        """See `Pick`."""

    def total(self, logs: FloatArray) -> float:
        """The log weight of all of [N] together, by which what they have in common is chosen."""

    def many(self, logs: FloatArray, count: int) -> IntArray:
        """So many places [count] of log weights [N]."""

    def each(self, logs: FloatArray) -> IntArray:
        """A place [n] in each row of [n, R]."""

    def rows(self, logs: FloatArray, at: IntArray) -> IntArray:
        """A place [...] in those of the rows [rows, R] that ``at`` [...] says."""

    def shuffled(self, cells: IntArray) -> IntArray:
        """Rows [n, k] in another order each: any order is as likely, or as good."""

    def shares(self, count: int) -> FloatArray:
        """Numbers [count] from 0 to 1: a choice is that at which the running sum of shares comes to it."""

    def seeds(self, count: int) -> UInt64:
        """Seeds [count] of what kernels choose."""


class Drawn:
    """Each with its probability."""

    plus = np.logaddexp

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random

    def total(self, logs: FloatArray) -> float:
        """See `Pick`."""
        return float(np.logaddexp.reduce(logs))

    def many(self, logs: FloatArray, count: int) -> IntArray:
        """See `Pick`."""
        sums = np.cumsum(np.exp(logs - logs.max()))
        found: IntArray = np.searchsorted(sums, self._random.random(count) * sums[-1], side="right")
        return found

    def each(self, logs: FloatArray) -> IntArray:
        """See `Pick`."""
        return self.rows(logs, np.arange(len(logs)))

    def rows(self, logs: FloatArray, at: IntArray) -> IntArray:
        """See `Pick`."""
        top = logs.max(axis=1, keepdims=True)
        sums = np.cumsum(np.exp(logs - np.where(top > -np.inf, top, 0.0)), axis=1)
        sums /= np.maximum(sums[:, -1:], np.finfo(np.float64).tiny)
        found = np.zeros(at.shape, dtype=np.int64)
        if logs.shape[1] > 1:
            u = self._random.random(at.shape)
            for place in range(logs.shape[1] - 1):
                found += u >= sums[at, place]
        return found

    def shuffled(self, cells: IntArray) -> IntArray:
        """See `Pick`."""
        return self._random.permuted(cells, axis=1)

    def shares(self, count: int) -> FloatArray:
        """See `Pick`."""
        return self._random.random(count) * (1 - _ROUNDED)

    def seeds(self, count: int) -> UInt64:
        """See `Pick`."""
        return self._random.integers(0, 1 << 63, count, dtype=np.uint64)


class Best:
    """The first of those of the largest weight."""

    plus = np.maximum

    def total(self, logs: FloatArray) -> float:
        """See `Pick`."""
        return float(logs.max())

    def many(self, logs: FloatArray, count: int) -> IntArray:
        """See `Pick`."""
        return np.full(count, int(logs.argmax()))

    def each(self, logs: FloatArray) -> IntArray:
        """See `Pick`."""
        found: IntArray = logs.argmax(axis=1)
        return found

    def rows(self, logs: FloatArray, at: IntArray) -> IntArray:
        """See `Pick`."""
        found: IntArray = logs.argmax(axis=1)[at]
        return found

    def shuffled(self, cells: IntArray) -> IntArray:
        """See `Pick`."""
        return cells

    def shares(self, count: int) -> FloatArray:
        """See `Pick`."""
        return np.full(count, 1 - _SAME)

    def seeds(self, count: int) -> UInt64:
        """See `Pick`."""
        return np.zeros(count, dtype=np.uint64)
