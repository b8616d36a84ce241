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
import numpy.typing as npt

from plx import deadline
from plx.graph.model import FactorGraph
from plx.graph.ragged import segments, starts
from plx.graph.rows import unique_rows
from plx.values import FloatArray, IntArray

WIDEST = 3
"""Only factors of at most this many variables are summed out of."""

_MOST_FACTORS = 3
"""Only unknowns of at most this many factors are summed out."""

_ROUNDS = 8

BoolArray = npt.NDArray[np.bool_]


@dataclass
class Tables:
    """Log tables stored once, up to the order of their axes."""

    tables: list[FloatArray] = field(default_factory=list)
    _ids: dict[tuple[tuple[int, ...], bytes], int] = field(default_factory=dict)

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


@dataclass(frozen=True)
class Factors:
    """Factors over one number of variables, ``scope`` [n, k] in the order of the axes of ``table`` [n]."""

    scope: IntArray
    table: IntArray

    def where(self, keep: BoolArray) -> Factors:
        return Factors(self.scope[keep], self.table[keep])

    def and_also(self, other: Factors) -> Factors:
        return Factors(np.concatenate([self.scope, other.scope]), np.concatenate([self.table, other.table]))


@dataclass(frozen=True)
class Removed:
    """Unknowns that were summed out alike: P(variable | others) = exp ``conditional[others, variable]``."""

    variable: IntArray  # [n]
    others: IntArray  # [n, k]
    conditional: FloatArray


@dataclass
class SummedOut:
    """What is left of a graph. ``factors[k]`` are over k variables; ``removed`` in the order of removal."""

    tables: Tables
    factors: dict[int, Factors]
    removed: list[Removed]
    log_constant: float
    left: BoolArray  # [V]


def sum_out(graph: FactorGraph, held: BoolArray) -> SummedOut:
    """Sum out, round by round, every unknown whose factors all lie within the scope of one of them.

    ``held`` [V] says which unknowns must stay. Factors of derived nodes and wide factors are left
    out of the result, and their variables stay.
    """
    tables = Tables()
    factors = _read(graph, tables)
    left = np.ones(graph.n_variables, dtype=bool)
    peeled = SummedOut(tables, factors, [], 0.0, left)
    for _ in range(_ROUNDS):
        deadline.check()
        if not _round(peeled, held, graph.card[: graph.n_variables].astype(np.int64)):
            break
    return peeled


def narrow_factors(graph: FactorGraph) -> BoolArray:
    """Which factors are over at most `WIDEST` variables and no derived node, shape (F,)."""
    size = np.diff(graph.scope_start)
    top = np.maximum.reduceat(graph.scope, graph.scope_start[:-1]) if len(size) else size
    return np.asarray((size <= WIDEST) & (top < graph.n_variables))


def _read(graph: FactorGraph, tables: Tables) -> dict[int, Factors]:
    size = np.diff(graph.scope_start)
    narrow = narrow_factors(graph)
    out = {}
    for k in range(1, WIDEST + 1):
        chosen = np.flatnonzero(narrow & (size == k))
        scope = graph.scope[graph.scope_start[chosen][:, None] + np.arange(k)].astype(np.int64)
        first, kind = unique_rows(np.column_stack([graph.table_of[chosen], graph.card[scope]]))
        made = [tables.intern(graph.table_values(int(chosen[i]))) for i in first]
        out[k] = _arranged(scope, kind, made)
    return out


def _arranged(scope: IntArray, kind: IntArray, made: Sequence[tuple[int, tuple[int, ...]]]) -> Factors:
    """Factors whose scopes follow the stored order of the axes."""
    if not made:
        return Factors(scope, np.empty(0, dtype=np.int64))
    ids = np.array([table for table, _ in made], dtype=np.int64)
    orders = np.array([order for _, order in made], dtype=np.int64).reshape(len(made), scope.shape[1])
    return Factors(np.take_along_axis(scope, orders[kind], axis=1), ids[kind])


@dataclass(frozen=True)
class _Incidence:
    """Every occurrence of a variable in a factor, sorted by variable; ``first`` [V + 1]."""

    first: IntArray
    arity: IntArray
    row: IntArray  # the row in Factors
    factor: IntArray  # numbered through all arities

    @staticmethod
    def of(factors: dict[int, Factors], wanted: BoolArray) -> _Incidence:
        """The occurrences of the wanted variables."""
        parts, shift = [], 0
        for k, group in sorted(factors.items()):
            hit = np.flatnonzero(wanted[group.scope.ravel()])
            parts.append((group.scope.ravel()[hit], np.full(len(hit), k), hit // k, hit // k + shift))
            shift += len(group.table)
        variable, arity, row, factor = (np.concatenate(column) for column in zip(*parts, strict=True))
        by_variable = np.argsort(variable, kind="stable")
        first = starts(np.bincount(variable, minlength=len(wanted)))
        return _Incidence(first, arity[by_variable], row[by_variable], factor[by_variable])


def _round(peeled: SummedOut, held: BoolArray, card: IntArray) -> bool:
    """One round; whether anything was summed out."""
    occurs = [np.bincount(group.scope.ravel(), minlength=len(card)) for group in peeled.factors.values()]
    degree = np.sum(occurs, axis=0)
    wanted = peeled.left & ~held & (degree <= _MOST_FACTORS)
    candidate = np.flatnonzero(wanted)
    if not len(candidate):
        return False
    incidence = _Incidence.of(peeled.factors, wanted)
    candidate = candidate[_may_go(peeled, incidence, candidate, degree)]
    if not len(candidate):
        return False
    gone = np.zeros(sum(len(group.table) for group in peeled.factors.values()), dtype=bool)
    fresh: list[tuple[int, Factors]] = []
    for d in range(_MOST_FACTORS + 1):
        alike = candidate[degree[candidate] == d]
        if len(alike):
            entries = incidence.first[alike][:, None] + np.arange(d)
            gone[incidence.factor[entries]] = True
            fresh += _sum_out(peeled, incidence, alike, entries, card)
    _drop(peeled, gone)
    for k, factors in fresh:
        peeled.factors[k] = peeled.factors[k].and_also(factors)
    peeled.left[candidate] = False
    return True


def _may_go(peeled: SummedOut, incidence: _Incidence, candidate: IntArray, degree: IntArray) -> BoolArray:
    """Whose factors nest, and who is the largest candidate in all of them: no two go from one factor."""
    entry = segments(incidence.first[candidate], degree[candidate])
    owner = np.repeat(np.arange(len(candidate)), degree[candidate])
    scopes = _padded(peeled, incidence, entry)
    widest = np.full((len(candidate), WIDEST), -1, dtype=np.int64)
    by_arity = np.argsort(incidence.arity[entry], kind="stable")
    widest[owner[by_arity]] = scopes[by_arity]
    nested = ((scopes[:, :, None] == widest[owner][:, None, :]).any(axis=2) | (scopes < 0)).all(axis=1)
    ok = np.ones(len(candidate), dtype=bool)
    ok[owner[~nested]] = False
    kept = ok[owner]
    largest = np.full(incidence.factor.max(initial=-1) + 1, -1, dtype=np.int64)
    np.maximum.at(largest, incidence.factor[entry[kept]], candidate[owner[kept]])
    beaten = kept & (largest[incidence.factor[entry]] != candidate[owner])
    ok[owner[beaten]] = False
    return ok


def _padded(peeled: SummedOut, incidence: _Incidence, entry: IntArray) -> IntArray:
    """The scopes of factors, [entries, WIDEST], filled up with -1."""
    out = np.full((len(entry), WIDEST), -1, dtype=np.int64)
    for k, group in peeled.factors.items():
        mine = np.flatnonzero(incidence.arity[entry] == k)
        out[mine, :k] = group.scope[incidence.row[entry[mine]]]
    return out


def _sum_out(
    peeled: SummedOut, incidence: _Incidence, variables: IntArray, entries: IntArray, card: IntArray
) -> list[tuple[int, Factors]]:
    """Sum out variables of d factors each, given by ``entries`` [n, d]; the factors that are left."""
    n, d = entries.shape
    order = np.argsort(-incidence.arity[entries], axis=1, kind="stable")
    entries = np.take_along_axis(entries, order, axis=1)
    scopes = _padded(peeled, incidence, entries.ravel()).reshape(n, d, WIDEST)
    ids = np.empty((n, d), dtype=np.int64)
    for k, group in peeled.factors.items():
        mine = incidence.arity[entries] == k
        ids[mine] = group.table[incidence.row[entries[mine]]]
    whole = scopes[:, 0] if d else np.where(np.arange(WIDEST) == 0, variables[:, None], -1)
    # Where each member of the narrower scopes stands in the widest one, and where the variable does.
    later = scopes[:, 1:]
    place = np.where(later >= 0, (later[:, :, :, None] == whole[:, None, None, :]).argmax(axis=3), -1)
    axis = (whole == variables[:, None]).argmax(axis=1)
    rows = np.column_stack([card[variables] if d == 0 else axis, ids, place.reshape(n, -1)])
    first, kind = unique_rows(rows)
    out: list[tuple[int, Factors]] = []
    for i, example in enumerate(first):
        alike = np.flatnonzero(kind == i) if len(first) > 1 else slice(None)
        width = int((whole[example] >= 0).sum())
        total = _total(peeled.tables, ids[example], place[example], width, int(card[variables[example]]))
        here = int(axis[example])
        message = np.logaddexp.reduce(total, axis=here)
        safe = np.where(message > -np.inf, message, 0.0)
        conditional = np.moveaxis(total, here, -1) - safe[..., None]
        others = whole[alike][:, [a for a in range(width) if a != here]]
        peeled.removed.append(Removed(variables[alike], others, conditional))
        if others.shape[1] == 0:
            peeled.log_constant += float(message) * len(others)
            continue
        made = peeled.tables.intern(message)
        out.append((others.shape[1], _arranged(others, np.zeros(len(others), dtype=np.int64), [made])))
    return out


def _total(tables: Tables, ids: IntArray, place: IntArray, width: int, card: int) -> FloatArray:
    """The sum of some tables, each laid along its places in the widest scope, which is the first's."""
    if not len(ids):
        return np.zeros(card)
    whole = tables.tables[ids[0]]
    parts = [whole]
    for table, axes in zip(ids[1:], place, strict=True):
        part = tables.tables[table]
        axes = axes[: part.ndim]
        shape = [whole.shape[a] if a in axes else 1 for a in range(width)]
        parts.append(np.broadcast_to(part.transpose(np.argsort(axes)).reshape(shape), whole.shape))
    return exact_sum(parts)


def exact_sum(parts: Sequence[FloatArray]) -> FloatArray:
    """The sum of tables of one shape, rounded once: the order of the tables does not show."""
    flat = (math.fsum(entries) for entries in zip(*(part.ravel().tolist() for part in parts), strict=True))
    return np.fromiter(flat, dtype=np.float64).reshape(parts[0].shape)


def _drop(peeled: SummedOut, gone: BoolArray) -> None:
    shift = 0
    for k, group in sorted(peeled.factors.items()):
        peeled.factors[k] = group.where(~gone[shift : shift + len(group.table)])
        shift += len(group.table)
