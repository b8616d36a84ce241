"""Params and relations at random arguments: a table over the nodes of all arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from plx.ground.algebra import Algebra
from plx.ground.columns import Column
from plx.source import Span
from plx.values import IntArray

Look = Callable[[IntArray], IntArray]
"""From tuples [m, k] of value ids to value ids [m]."""


def look_up(algebra: Algebra, look: Look, arguments: Sequence[Column], span: Span) -> Column:
    """A function of k ≥ 1 columns that is known for whole tuples only.

    The tuples that can occur are numbered, one argument after the other. Numbers stand in columns as values.
    """
    if not arguments[0].n:
        return arguments[0]
    places = _Places(algebra)
    key, mine = places.of(arguments[0])
    rows = mine[:, None]
    for column in arguments[1:]:
        place, mine = places.of(column)
        both = places.pair(key, place, len(mine), span)
        key, pairs = places.of(both)
        first, second = np.divmod(places.numbers(pairs), len(mine))
        rows = np.column_stack([rows[first], mine[second]])
    found = look(rows)
    return algebra.unary(lambda ids: found[places.numbers(ids)], key)


class _Places:
    """Columns of small numbers: positions in lists of what can occur."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.evaluator = algebra.evaluator

    def of(self, column: Column) -> tuple[Column, IntArray]:
        """The position of every value among those that the column can take, and these."""
        values = _possible(column)
        ids = self.ids(np.arange(len(values)))
        return self.algebra.unary(lambda found: ids[np.searchsorted(values, found)], column), values

    def pair(self, a: Column, b: Column, size: int, span: Span) -> Column:
        """``a · size + b``."""
        return self.algebra.binary(
            lambda x, y: self.ids(self.numbers(x) * size + self.numbers(y)), a, b, span
        )

    def ids(self, numbers: IntArray) -> IntArray:
        """The value ids of integers."""
        return self.evaluator.arithmetic.integers(numbers)

    def numbers(self, ids: IntArray) -> IntArray:
        """The integers with these value ids, which doubles hold exactly."""
        return self.evaluator.values.floats(ids).astype(np.int64)


def _possible(column: Column) -> IntArray:
    """The ids that a column takes at its instances, sorted."""
    used = [np.ravel(part.tables[i]) for part in column.parts for i in np.unique(part.table)]
    return np.unique(np.concatenate([column.fixed[column.fixed >= 0], *used]))
