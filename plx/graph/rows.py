"""Distinct rows of integer arrays, found by sorting packed keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.values import IntArray

_KEY_BITS = 62
_KEY_LIMIT = 2**_KEY_BITS
"""Packed keys stay below this, so that they never overflow 64 bits."""

_SMALL = 1 << 14
"""Arrays of at most so many entries are packed all columns at once: calls cost more than numbers there."""

_WIDE = 64
"""Rows longer than this are compared as bytes, one by one."""

_CHUNK = 1 << 18
"""Keys are unpacked so many at a time, so that what is between stays in the cache."""

AnyInt = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]


def unique_keys(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Index of the first occurrence of every distinct key in increasing order, and the inverse."""
    n = len(keys)
    if n == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    low, high = int(keys.min()), int(keys.max())
    if low == high:
        return np.zeros(1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    if high - low < 4 * n + 1024:
        return _unique_dense(keys - low, high - low + 1)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first.astype(np.int64), inverse.astype(np.int64)


def _unique_dense(keys: IntArray, size: int) -> tuple[IntArray, IntArray]:
    first = np.full(size, -1, dtype=np.int64)
    first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
    present = np.flatnonzero(first >= 0)
    number = np.empty(size, dtype=np.int64)
    number[present] = np.arange(len(present))
    return first[present], number[keys]


def row_keys(rows: AnyInt) -> IntArray:
    """One integer per row of an array [n, k]; equal exactly where the rows are equal.

    Keys sort as the rows do (lexicographically) when k ≤ 64.
    """
    n, k = rows.shape
    if 0 < rows.size <= _SMALL:
        return _small_keys(rows)
    if k > _WIDE:
        return _byte_keys(rows)
    keys, size = np.zeros(n, dtype=np.int64), 1
    if n == 0:
        return keys
    for column in rows.T:
        low, high = int(column.min()), int(column.max())
        radix = high - low + 1
        if size * radix > _KEY_LIMIT:
            keys, size = _compress(keys)
        if size * radix > _KEY_LIMIT:
            column, radix = _compress(column.astype(np.int64))
            low = 0
        keys = keys * radix + (column.astype(np.int64) - low)
        size *= radix
    return keys


def _small_keys(rows: AnyInt) -> IntArray:
    """Keys that sort as the rows do: packed where they fit, else ranks."""
    low = rows.min(axis=0)
    radix = rows.max(axis=0).astype(np.float64) - low + 1.0  # of hashes more than an integer holds
    if np.log2(radix).sum() < _KEY_BITS:
        stride = np.cumprod(np.append(1, radix[:0:-1].astype(np.int64)))[::-1]
        return np.asarray((rows - low) @ stride.astype(np.int64))
    order = np.lexsort(rows.T[::-1])
    ranked = rows[order]
    keys = np.zeros(len(rows), dtype=np.int64)
    keys[order[1:]] = np.cumsum((ranked[1:] != ranked[:-1]).any(axis=1))
    return keys


class Packing(NamedTuple):
    """Columns of integers as the digits of one 64-bit key, the first column the most significant."""

    low: tuple[int, ...]
    radix: tuple[int, ...]

    @classmethod
    def between(cls, low: Sequence[int], high: Sequence[int]) -> Packing | None:
        """A packing for columns of numbers from ``low`` to ``high``; None where they do not fit."""
        radix = tuple(most - least + 1 for least, most in zip(low, high, strict=True))
        return cls(tuple(low), radix) if math.prod(radix) < 2**63 else None

    def pack(self, columns: Sequence[AnyInt], out: IntArray) -> None:
        """Write the keys [n]; they sort as the rows do."""
        for begin in range(0, len(out), _CHUNK):
            keys = out[begin : begin + _CHUNK]
            keys[:] = 0
            for column, low, radix in zip(columns, self.low, self.radix, strict=True):
                keys *= radix
                keys += column[begin : begin + _CHUNK]
                keys -= low

    def heads(self, keys: IntArray, less: int) -> BoolArray:
        """Whether each of some sorted keys is the first of its row without the last ``less`` columns."""
        size = math.prod(self.radix[len(self.radix) - less :])
        head = np.ones(len(keys), dtype=bool)
        for begin in range(1, len(keys), _CHUNK):
            rows = keys[begin - 1 : begin + _CHUNK]
            rows = rows if size == 1 else rows // size
            head[begin : begin + _CHUNK] = rows[1:] != rows[:-1]
        return head

    def unpack(self, keys: IntArray, columns: Sequence[AnyInt]) -> None:
        """Write the rows of some keys into the columns; ``keys`` is used up."""
        for column, low, radix in zip(columns[::-1], self.low[::-1], self.radix[::-1], strict=True):
            for begin in range(0, len(keys), _CHUNK):
                chunk = keys[begin : begin + _CHUNK]
                rest = chunk // radix
                column[begin : begin + _CHUNK] = chunk - rest * radix + low
                chunk[:] = rest


def unique_rows(rows: AnyInt) -> tuple[IntArray, IntArray]:
    """Index of the first occurrence of every distinct row of [n, k], and the inverse [n]."""
    return unique_keys(row_keys(rows))


def equal_rows(rows: AnyInt) -> list[IntArray]:
    """Positions of equal rows of [n, k], class by class and sorted."""
    _, inverse = unique_rows(rows)
    by_class = np.argsort(inverse, kind="stable")
    return np.split(by_class, np.cumsum(np.bincount(inverse))[:-1]) if len(rows) else []


def _compress(keys: IntArray) -> tuple[IntArray, int]:
    first, inverse = unique_keys(keys)
    return inverse, len(first)


def _byte_keys(rows: AnyInt) -> IntArray:
    seen: dict[bytes, int] = {}
    wide = np.ascontiguousarray(rows, dtype=np.int64)
    return np.fromiter((seen.setdefault(row.tobytes(), len(seen)) for row in wide), np.int64, len(wide))
