"""Joins of integer arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.graph.ragged import segments
from plx.values import IntArray


class Lookup:
    """Positions of an array of small integers by value."""

    def __init__(self, values: npt.NDArray[np.integer], size: int) -> None:
        self._order = np.argsort(values, kind="stable")
        self._count = np.bincount(values, minlength=size)
        self._start = np.cumsum(self._count) - self._count

    def join(self, keys: npt.NDArray[np.integer]) -> tuple[IntArray, IntArray]:
        """All (position in keys, position in values) with equal value, sorted by both."""
        count = self._count[keys]
        return np.repeat(np.arange(len(keys)), count), self._order[segments(self._start[keys], count)]
