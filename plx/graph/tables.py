"""Arrays of tables of exact weights: rearranged, added and scaled entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key

import numpy as np

from plx.graph.rows import BoolArray, unique_keys
from plx.values import IMPOSSIBLE, ZERO, IntArray, Values
from plx.weights import Number, add, compare, mul, total


def gather_map(cards: Sequence[int], axes: Sequence[int]) -> IntArray:
    """Where the entries of a rearranged table come from in the old table, both in C order.

    ``cards[j]`` is the size of old axis j. ``axes[j]`` ≥ 0 is its new axis (several old axes may
    share one: the diagonal); ``axes[j]`` = -1 - s fixes it at state s.
    """
    new_cards = {axis: card for card, axis in zip(cards, axes, strict=True) if axis >= 0}
    arity = len(new_cards)
    index = np.zeros([new_cards[axis] for axis in range(arity)], dtype=np.int64)
    stride = 1
    for card, axis in zip(reversed(cards), reversed(axes), strict=True):
        if axis < 0:
            index += stride * (-1 - axis)
        else:
            shape = [1] * arity
            shape[axis] = card
            index += stride * np.arange(card).reshape(shape)
        stride *= card
    return index.ravel()


def relevant_axes(tables: IntArray, cards: Sequence[int]) -> BoolArray:
    """Whether each table depends on each of its axes: Booleans [m, k] for tables [m, entries]."""
    shaped = tables.reshape(len(tables), *cards)
    out = np.zeros((len(tables), len(cards)), dtype=bool)
    for axis in range(len(cards)):
        differs = shaped != np.take(shaped, [0], axis=axis + 1)
        out[:, axis] = differs.reshape(len(tables), -1).any(axis=1)
    return out


def add_weights(values: Values, a: IntArray, b: IntArray) -> IntArray:
    """Exact sums of weight ids, elementwise; IMPOSSIBLE absorbs everything."""
    return _apply(values, a, b, add)


def scale_weights(values: Values, a: IntArray, times: IntArray) -> IntArray:
    """Exact products of weight ids and positive integers (plain numbers), elementwise."""
    by = np.array([values.id(int(n)) for n in times], dtype=np.int64)
    return _apply(values, a, np.broadcast_to(by[:, None], a.shape), mul)


def total_weight(values: Values, weights: IntArray, counts: IntArray | None = None) -> int:
    """The id of Σ counts · weights, exactly; without counts, of Σ weights."""
    counts = np.ones(len(weights), dtype=np.int64) if counts is None else counts
    if (weights == IMPOSSIBLE).any():
        return IMPOSSIBLE
    first, inverse = unique_keys(weights)
    pairs = zip(weights[first].tolist(), np.bincount(inverse, weights=counts).tolist(), strict=True)
    numbers: list[Number] = [values[i] if n == 1 else mul(int(n), values[i]) for i, n in pairs]  # type: ignore[misc, arg-type]
    return values.id(total(numbers))


def largest_weight(values: Values, weights: IntArray) -> int:
    """The id of the largest of some weights, compared exactly; ZERO if all are IMPOSSIBLE."""
    possible = np.unique(weights[weights != IMPOSSIBLE]).tolist()
    key = cmp_to_key(compare)
    return max(possible, key=lambda i: key(values[i]), default=ZERO)  # type: ignore[arg-type]


def _apply(
    values: Values, a: IntArray, b: IntArray, operation: Callable[[Number, Number], Number]
) -> IntArray:
    """The operation once per distinct pair of ids."""
    first, inverse = unique_keys((a.astype(np.int64) * len(values) + b).ravel())
    left, right = a.ravel()[first], b.ravel()[first]
    out = np.full(len(first), IMPOSSIBLE, dtype=np.int64)
    for i in np.flatnonzero((left != IMPOSSIBLE) & (right != IMPOSSIBLE)):
        out[i] = values.id(operation(values[int(left[i])], values[int(right[i])]))  # type: ignore[arg-type]
    return out[inverse].reshape(a.shape)


def is_constant(tables: IntArray) -> BoolArray:
    """Whether all entries of each table are equal: Booleans [m]."""
    constant: BoolArray = (tables == tables[:, :1]).all(axis=1)
    return constant
