"""Log tables whose entries are *terms* instead of numbers: sums and log-sums of unknown log potentials.

With them the search for what can be counted finds what can be counted at any weights, and what it sums is
written down rather than worked out: `plx.infer.counting.log_sums` works it out, as often as weights change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.infer.counting.sum_out import Tables
from plx.values import FloatArray, IntArray

ZERO: Final = 0
"""The term that is 0."""

NEVER: Final = -1
"""The term that is −∞."""

Items = tuple[tuple[int, int], ...]
"""Terms and how often each is added, sorted."""


class LogSum(NamedTuple):
    """log Σ over n rows of exp(``constant`` + Σ times · term), the entries by row."""

    constant: FloatArray  # [n]
    row: IntArray  # [entries]
    term: IntArray  # [entries]
    times: FloatArray  # [entries]


class Terms(Tables):
    """Tables of terms. Terms 0 … n - 1 are log potentials that are given, 0 of them the term `ZERO`.

    Terms are stored once: equal ones are equal at all weights.
    """

    def __init__(self, given: int) -> None:
        super().__init__()
        self.given = given
        self.made: list[LogSum] = []
        self._numbers: dict[tuple[Items, ...], int] = {}
        self._items: dict[int, Items] = {}

    def add(self, made: LogSum) -> int:
        """A term of its own; `NEVER` if it has no row."""
        if not len(made.constant):
            return NEVER
        self.made.append(made)
        return self.given + len(self.made) - 1

    def log_sum(self, rows: Iterable[Items]) -> int:
        """The term log Σ exp row over rows that are possible."""
        key = tuple(sorted(rows))
        if not key:
            return NEVER
        if len(key) == 1 and len(key[0]) == 1 and key[0][0][1] == 1:
            return key[0][0][0]
        if key == ((),):
            return ZERO
        if key not in self._numbers:
            entries = [(r, term, times) for r, row in enumerate(key) for term, times in row]
            flat = np.array(entries, dtype=np.int64).reshape(-1, 3)
            made = LogSum(np.zeros(len(key)), flat[:, 0], flat[:, 1], flat[:, 2].astype(np.float64))
            self._numbers[key] = self.add(made)
            if len(key) == 1:
                self._items[self._numbers[key]] = key[0]
        return self._numbers[key]

    def items(self, term: int) -> Items:
        """A possible term as a sum of terms that are no sums."""
        return () if term == ZERO else self._items.get(term, ((term, 1),))

    def sum(self, terms: Iterable[tuple[int, int]]) -> Items | None:
        """What some terms, each so many times, add up to; None if that is −∞."""
        total: Counter[int] = Counter()
        for term, times in terms:
            if term == NEVER:
                return None
            for item, n in self.items(term):
                total[item] += n * times
        return tuple(sorted(total.items()))

    # ------------------------------------------------------------------ as tables

    def of(self, graph: FactorGraph, factor: int) -> FloatArray:
        return _table(graph.table_weights(factor))

    def zeros(self, shape: tuple[int, ...]) -> FloatArray:
        return _table(np.full(shape, ZERO))

    def total(self, parts: Sequence[FloatArray]) -> FloatArray:
        cells = zip(*(part.ravel().tolist() for part in parts), strict=True)
        known: dict[tuple[int, ...], int] = {}
        out = []
        for cell in cells:
            key = tuple(sorted(cell))
            if key not in known:
                items = self.sum((term, 1) for term in key)
                known[key] = NEVER if items is None else self.log_sum([items])
            out.append(known[key])
        return _table(np.array(out).reshape(parts[0].shape))

    def times(self, table: FloatArray, n: int) -> FloatArray:
        return self.total([table] * n)

    def summed(self, table: FloatArray, axis: int) -> tuple[FloatArray, FloatArray]:
        last = np.moveaxis(table, axis, -1)
        rows = last.reshape(-1, last.shape[-1]).astype(np.int64).tolist()
        sums = [self.log_sum(self.items(term) for term in row if term != NEVER) for row in rows]
        return _table(np.array(sums).reshape(last.shape[:-1])), last


def _table(terms: npt.NDArray[np.integer]) -> FloatArray:
    """Numbers of terms as a table: doubles hold them exactly."""
    return terms.astype(np.float64)
