"""Sum out unknowns that few factors mention, many alike at a time.

A friendship that occurs with two people only is summed out of the factor that holds it, which
leaves a factor over the two. Factors of one table are worked on once, so a million friendships
cost a few array operations. Equal tables are recognised by their doubles, in a form that does not
depend on the order of the scope: what is called equal here is equal in the numbers that are summed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from plx import deadline
from plx.graph.leaves import WIDEST, Alike, LeafFactors, alike, find_leaves, narrow_factors, padded_scopes
from plx.graph.model import FactorGraph
from plx.graph.rows import AnyInt, BoolArray, unique_rows
from plx.values import FloatArray, IntArray

_ROUNDS = 8


@dataclass
class Tables:
    """Log tables stored once, up to the order of their axes."""

    tables: list[FloatArray] = field(default_factory=list, init=False)
    _ids: dict[tuple[tuple[int, ...], bytes], int] = field(default_factory=dict, init=False)

    def intern(self, table: FloatArray) -> tuple[int, tuple[int, ...]]:
        """The id of a table, and the axes in the order in which it is stored."""
        orders = itertools.permutations(range(table.ndim))
        forms = [(np.ascontiguousarray(table.transpose(order)), order) for order in orders]
        form, order = min(forms, key=lambda pair: (pair[0].shape, pair[0].tobytes(), pair[1]))
        return self.exact(form), order

    def exact(self, table: FloatArray) -> int:
        """The id of a table as it stands."""
        key = (table.shape, np.ascontiguousarray(table).tobytes())
        if key not in self._ids:
            self._ids[key] = len(self.tables)
            self.tables.append(np.ascontiguousarray(table))
        return self._ids[key]

    def of(self, graph: FactorGraph, factor: int) -> FloatArray:
        """The table of a factor of a graph."""
        return graph.table_values(factor)

    def zeros(self, shape: tuple[int, ...]) -> FloatArray:
        """A table that changes nothing."""
        return np.zeros(shape)

    def total(self, parts: Sequence[FloatArray]) -> FloatArray:
        """The sum of tables of one shape, at least one."""
        return exact_sum(parts)

    def times(self, table: FloatArray, n: int) -> FloatArray:
        """The sum of n > 0 equal tables."""
        return table * n

    def summed(self, table: FloatArray, axis: int) -> tuple[FloatArray, FloatArray]:
        """A table summed over an axis, and the conditional log probabilities along it, which is last."""
        message = np.logaddexp.reduce(table, axis=axis)
        safe = np.where(message > -np.inf, message, 0.0)
        return message, np.moveaxis(table, axis, -1) - safe[..., None]


@dataclass(frozen=True)
class Factors:
    """Factors, ``scope`` [n, WIDEST] in the order of the axes of ``table`` [n], with -1 at the end."""

    scope: IntArray
    table: IntArray

    def where(self, keep: BoolArray) -> Factors:
        """Some of them."""
        return Factors(self.scope[keep], self.table[keep])

    def over(self, k: int) -> Factors:
        """Those over k variables, with scopes [n, k]."""
        mine = (self.scope >= 0).sum(axis=1) == k
        return Factors(self.scope[mine, :k], self.table[mine])


@dataclass(frozen=True)
class Removed:
    """Unknowns that were summed out alike: P(variable | others) = exp ``conditional[others, variable]``."""

    variable: IntArray  # [n]
    others: IntArray  # [n, k]
    conditional: FloatArray


@dataclass
class SummedOut:
    """What is left of a graph; ``removed`` in the order of removal."""

    tables: Tables
    factors: Factors
    removed: list[Removed]
    left: BoolArray  # [V]

    @property
    def log_constant(self) -> float:
        """The log weight of what was summed out whole: of the factors that are over nothing now."""
        used, times = np.unique(self.factors.over(0).table, return_counts=True)
        return math.fsum(n * self.tables.tables[t].item() for t, n in zip(used, times, strict=True))


def sum_out(graph: FactorGraph, held: BoolArray, tables: Tables | None = None) -> SummedOut:
    """Sum out, round by round, every unknown whose factors all lie within the scope of one of them.

    ``held`` [V] says which unknowns must stay. Factors of derived nodes and wide factors are left
    out of the result, and their variables stay. ``tables`` says what tables hold: doubles if it is left out.
    """
    tables = Tables() if tables is None else tables
    peeled = SummedOut(tables, _read(graph, tables), [], np.ones(graph.n_variables, dtype=bool))
    for _ in range(_ROUNDS):
        deadline.check()
        if not _round(peeled, held, graph.card[: graph.n_variables]):
            break
    return peeled


def _read(graph: FactorGraph, tables: Tables) -> Factors:
    narrow = narrow_factors(graph)
    scopes, size = padded_scopes(graph, narrow), np.diff(graph.scope_start)
    out = []
    for k in range(1, WIDEST + 1):
        chosen = np.flatnonzero(narrow & (size == k))
        scope = scopes[chosen, :k]
        first, kind = unique_rows(np.column_stack([graph.table_of[chosen], graph.card[scope]]))
        made = [tables.intern(tables.of(graph, int(chosen[i]))) for i in first]
        out.append(_arranged(scope, kind, made))
    return _together(out)


def _arranged(scope: IntArray, kind: IntArray, made: Sequence[tuple[int, tuple[int, ...]]]) -> Factors:
    """Factors whose scopes [n, k] follow the stored order of the axes."""
    n, k = scope.shape
    ids = np.array([table for table, _ in made], dtype=np.int64)
    orders = np.array([order for _, order in made], dtype=np.int64).reshape(len(made), k)
    padded = np.full((n, WIDEST), -1, dtype=np.int64)
    padded[:, :k] = np.take_along_axis(scope, orders[kind], axis=1)
    return Factors(padded, ids[kind])


def _together(parts: Sequence[Factors]) -> Factors:
    scope, table = zip(*((part.scope, part.table) for part in parts), strict=True)
    return Factors(np.concatenate(scope), np.concatenate(table))


def _round(peeled: SummedOut, held: BoolArray, card: AnyInt) -> bool:
    """One round; whether anything was summed out."""
    factors = peeled.factors
    leaves = _one_per_factor(find_leaves(factors.scope, peeled.left & ~held), len(factors.table))
    if not len(leaves.variable):
        return False
    kept = np.ones(len(factors.table), dtype=bool)
    kept[leaves.factor[leaves.factor >= 0]] = False
    fresh = [_sum_out(peeled, kind) for kind in alike(leaves, factors.scope, factors.table, card)]
    peeled.factors = _together([factors.where(kept), *fresh])
    peeled.left[leaves.variable] = False
    return True


def _one_per_factor(leaves: LeafFactors, n_factors: int) -> LeafFactors:
    """The leaves that are the largest of all leaves in each of their factors."""
    largest = np.full(n_factors + 1, -1, dtype=np.int64)  # the last is for -1
    for factor in leaves.factor.T:
        np.maximum.at(largest, factor, leaves.variable)
    mine = (largest[leaves.factor] == leaves.variable[:, None]) | (leaves.factor < 0)
    return leaves.take(np.flatnonzero(mine.all(axis=1)))


def _sum_out(peeled: SummedOut, kind: Alike) -> Factors:
    """Sum out leaves that are alike; the factors that are left."""
    tables = peeled.tables
    parts = kind.laid_out([tables.tables[peeled.factors.table[f]] for f in kind.factors])
    message, conditional = tables.summed(tables.total([tables.zeros(kind.shape), *parts]), kind.axis)
    peeled.removed.append(Removed(kind.leaf, kind.others, conditional))
    same = np.zeros(len(kind.leaf), dtype=np.int64)
    return _arranged(kind.others, same, [tables.intern(message)])


def exact_sum(parts: Sequence[FloatArray]) -> FloatArray:
    """The sum of tables of one shape, rounded once: the order of the tables does not show."""
    flat = (math.fsum(entries) for entries in zip(*(part.ravel().tolist() for part in parts), strict=True))
    return np.fromiter(flat, dtype=np.float64).reshape(parts[0].shape)
