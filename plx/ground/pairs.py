"""Tuples of value ids as integers, so that a table can hold tuples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plx.ground.rows import unique_keys, unique_rows
from plx.values import IntArray


class Pairs:
    """Numbers tuples in the order in which they are first seen."""

    def __init__(self) -> None:
        self._tuples: list[tuple[int, ...]] = []
        self._codes: dict[tuple[int, ...], int] = {}

    def start(self, ids: IntArray) -> IntArray:
        """The codes of 1-tuples."""
        first, inverse = unique_keys(ids.ravel())
        codes = [self._code((int(i),)) for i in ids.ravel()[first]]
        return np.array(codes, dtype=np.int64)[inverse].reshape(ids.shape)

    def extend(self, codes: IntArray, ids: IntArray) -> IntArray:
        """The codes of tuples with one more item."""
        rows = np.stack([codes.ravel(), np.broadcast_to(ids, codes.shape).ravel()], axis=1)
        first, inverse = unique_rows(rows)
        found = [self._code((*self._tuples[int(c)], int(i))) for c, i in rows[first]]
        return np.array(found, dtype=np.int64)[inverse].reshape(codes.shape)

    def look_up(self, codes: IntArray, function: Callable[[IntArray], IntArray]) -> IntArray:
        """A function of rows of ids [n, k] at tuples of equal length."""
        if not codes.size:
            return codes
        first, inverse = unique_keys(codes.ravel())
        rows = np.array([self._tuples[int(c)] for c in codes.ravel()[first]], dtype=np.int64)
        return function(rows)[inverse].reshape(codes.shape)

    def _code(self, key: tuple[int, ...]) -> int:
        found = self._codes.setdefault(key, len(self._tuples))
        if found == len(self._tuples):
            self._tuples.append(key)
        return found
