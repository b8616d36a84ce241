"""Ragged arrays: rows of different length, one after the other, and where each begins.

``start`` [n + 1] are the offsets: row i is ``start[i] … start[i + 1] - 1``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plx.graph.rows import AnyInt, BoolArray
from plx.values import IntArray


def starts(counts: AnyInt | Sequence[int]) -> IntArray:
    """Offsets [n + 1] of consecutive rows with these lengths."""
    out = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=out[1:])
    return out


def owners(start: AnyInt) -> IntArray:
    """The row of every entry."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def segments(start: AnyInt, count: AnyInt) -> IntArray:
    """The integers ``start[i] … start[i] + count[i] - 1`` for every i, one after the other."""
    begin = starts(count)
    return np.arange(begin[-1]) + np.repeat(start - begin[:-1], count)


def ranks(owner: AnyInt, n_rows: int) -> IntArray:
    """The position of every entry among those of its row, in order, where entries of rows are mixed."""
    order = np.argsort(owner, kind="stable")
    out = np.empty(len(owner), dtype=np.int64)
    out[order] = np.arange(len(owner)) - starts(np.bincount(owner, minlength=n_rows))[owner[order]]
    return out


def neighbours(same: BoolArray) -> tuple[IntArray, BoolArray]:
    """Pairs of entries 0 and 1, 2 and 3, … of each run: the first of each, and all but the second ones.

    ``same`` [n - 1] says whether an entry is followed by one of its own run.
    """
    head = np.concatenate([[True], ~same])
    place = np.arange(len(head)) - np.flatnonzero(head)[np.cumsum(head) - 1]
    first = np.flatnonzero(np.concatenate([same, [False]]) & (place % 2 == 0))
    kept = np.ones(len(head), dtype=bool)
    kept[first + 1] = False
    return first, kept


def entries_of(start: AnyInt, rows: AnyInt) -> tuple[IntArray, IntArray]:
    """The positions of all entries of some rows, and which of ``rows`` each belongs to."""
    count = start[rows + 1] - start[rows]
    return segments(start[rows], count), np.repeat(np.arange(len(rows)), count)
