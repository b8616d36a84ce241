"""Look-up of tuples of value ids among the rows of an array."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from plx.graph.ragged import starts
from plx.graph.rows import AnyInt, BoolArray
from plx.values import IntArray

_DENSE = 1 << 22
"""A dense table is used while it has at most this many entries, or four per row."""


class TupleIndex:
    """The rows of an array [n, k] of value ids; rows may repeat."""

    def __init__(self, rows: AnyInt) -> None:
        self.n, self.k = rows.shape
        self._rank = [_ranks(column) for column in rows.T]
        self._radix = [max(int(rank.max(initial=-1)) + 1, 1) for rank in self._rank]
        self._pack: list[IntArray | None] = []
        self._size = self._plan(rows)
        keys = self._keys(rows)
        self.in_order = bool((keys[1:] >= keys[:-1]).all())
        self._is_dense = self._size <= max(_DENSE, 4 * self.n)
        self.order: IntArray = np.arange(self.n) if self.in_order else np.argsort(keys, kind="stable")
        self._sorted = keys[self.order]

    def find(self, rows: IntArray) -> IntArray:
        """The first row equal to each of these rows [m, k]; -1 where there is none."""
        if not self.n:
            return np.full(len(rows), -1, dtype=np.int64)
        if self._is_dense:
            return self._first_row[self._keys(rows)]
        begin, count = self.span(rows)
        return np.where(count > 0, self.order[np.minimum(begin, self.n - 1)], -1)

    @cached_property
    def most(self) -> int:
        """The most rows that are equal, 0 without rows."""
        if not self.n:
            return 0
        first = np.append(np.flatnonzero(np.append(True, self._sorted[1:] != self._sorted[:-1])), self.n)
        return int(np.diff(first).max())

    @cached_property
    def _begin(self) -> IntArray:
        """Where in ``order`` the rows of every key of a dense index begin."""
        return starts(np.bincount(self._sorted, minlength=self._size))

    @cached_property
    def _first_row(self) -> IntArray:
        """The first row of every key of a dense index, then -1, which key -1 finds."""
        first = np.full(self._size + 1, -1, dtype=np.int64)
        first[self._sorted[::-1]] = self.order[::-1]
        return first

    def contains(self, rows: IntArray) -> BoolArray:
        """Whether each of these rows [m, k] is among the rows."""
        return self.find(rows) >= 0

    def span(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Where in ``order`` the rows equal to each of these rows [m, k] begin, and how many they are."""
        keys = self._keys(rows)
        known = keys >= 0
        if self._is_dense:
            safe = np.where(known, keys, 0)
            begin = self._begin[safe]
            return begin, np.where(known, self._begin[safe + 1] - begin, 0)
        begin = np.searchsorted(self._sorted, keys, side="left")
        end = np.searchsorted(self._sorted, keys, side="right")
        return begin, np.where(known, end - begin, 0)

    def _plan(self, rows: AnyInt) -> int:
        """Decide before which columns keys must be packed to stay below 2^62; the size of key space."""
        size = 1
        for column, radix in enumerate(self._radix):
            packed = None
            if size * radix >= 2**62:
                packed = np.unique(self._keys(rows[:, :column]))
                size = len(packed)
            self._pack.append(packed)
            size *= radix
        return size

    def _keys(self, rows: AnyInt) -> IntArray:
        """Mixed-radix keys; -1 where some id does not occur in its column."""
        keys = np.zeros(len(rows), dtype=np.int64)
        unknown = False
        for column, rank, radix, packed in zip(rows.T, self._rank, self._radix, self._pack, strict=False):
            if packed is not None:
                place = np.minimum(np.searchsorted(packed, keys), len(packed) - 1)
                keys = np.where(packed[place] == keys, place, -1)
            found = _look_up(rank, column)
            unknown |= packed is not None or int(found.min(initial=0)) < 0
            if unknown:
                keys = np.where((keys >= 0) & (found >= 0), keys * radix + found, -1)
            else:
                keys *= radix
                keys += found
        return keys


def _ranks(column: AnyInt) -> IntArray:
    """For each id its position among the distinct ids of the column, -1 for others."""
    present = np.zeros(int(column.max(initial=-1)) + 1, dtype=bool)
    present[column] = True
    return np.where(present, np.cumsum(present) - 1, -1)


def _look_up(rank: IntArray, ids: IntArray) -> IntArray:
    if not len(rank):
        return np.full(len(ids), -1, dtype=np.int64)
    if int(ids.max(initial=0)) < len(rank):
        return rank[ids]
    inside = ids < len(rank)
    return np.where(inside, rank[np.where(inside, ids, 0)], -1)
