"""Tables written canonically: offsets from their most common entry, exact."""

from __future__ import annotations

from functools import cmp_to_key

import numpy as np

from plx import deadline
from plx.graph.rows import unique_keys
from plx.graph.tables import add_weights
from plx.values import IMPOSSIBLE, ZERO, IntArray, Values
from plx.weights import Number, compare, neg

_SQUARE = 1 << 22
"""Rows are compared entry by entry with each other below this many comparisons, else sorted."""


def offsets(values: Values, tables: IntArray) -> tuple[IntArray, IntArray]:
    """Offsets of the entries of each table [m, n] from its base, and which offset is left out [m].

    The base is the most common finite entry, the smallest of the most common ones. What is left out
    when a table is written entry by entry is 0, or IMPOSSIBLE where that is more common than the base.
    Neither depends on the names or the order of states.
    """
    rank, order = _ranks(values, tables)
    count = _multiplicities(rank)
    finite = rank >= 0
    # Largest count first, then smallest rank: one sortable key.
    key = np.where(finite, count * (len(order) + 1) - rank, -1)
    best = key.argmax(axis=1)[:, None]
    base = order[np.take_along_axis(rank, best, axis=1)]
    common = np.take_along_axis(count, best, axis=1)[:, 0]
    impossible = (~finite).sum(axis=1)
    shifted = add_weights(values, tables, np.broadcast_to(_negated(values, base), tables.shape))
    return shifted, np.where(impossible > common, IMPOSSIBLE, ZERO)


def _ranks(values: Values, tables: IntArray) -> tuple[IntArray, IntArray]:
    """Entries replaced by their rank in size, IMPOSSIBLE by -1, and the ids in that order."""
    first, inverse = unique_keys(tables.ravel().astype(np.int64))
    ids = tables.ravel()[first]
    finite = [int(i) for i in ids if i != IMPOSSIBLE]
    by_size = cmp_to_key(_compared)
    numbers = sorted(finite, key=lambda i: by_size(values[i]))  # type: ignore[arg-type]
    place = {number: i for i, number in enumerate(numbers)}
    rank = np.array([place.get(int(i), -1) for i in ids], dtype=np.int64)
    return rank[inverse].reshape(tables.shape), np.array(numbers, dtype=np.int64)


def _compared(a: Number, b: Number) -> int:
    """As `compare`, which may ask for many digits."""
    deadline.check()
    return compare(a, b)


def _multiplicities(rank: IntArray) -> IntArray:
    """How often each entry occurs in its row."""
    m, n = rank.shape
    if m * n * n <= _SQUARE:
        counts: IntArray = (rank[:, :, None] == rank[:, None, :]).sum(axis=2)
        return counts
    span = int(rank.max(initial=0)) + 2
    key = (np.arange(m)[:, None] * span + rank + 1).ravel()
    _, inverse = unique_keys(key)
    return np.bincount(inverse)[inverse].reshape(m, n)


def _negated(values: Values, ids: IntArray) -> IntArray:
    first, inverse = unique_keys(ids.ravel())
    found = [values.id(neg(values[int(i)])) for i in ids.ravel()[first]]  # type: ignore[arg-type]
    return np.array(found, dtype=np.int64)[inverse].reshape(ids.shape)
