"""Factors over one scope added exactly into one; equal tables stored once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from plx.graph.model import Int32Array
from plx.graph.ragged import neighbours, starts
from plx.graph.room import empty, look_up, pieces, taken, trim
from plx.graph.rows import AnyInt, BoolArray, Packing, row_keys, unique_keys, unique_rows
from plx.graph.tables import add_weights, is_constant, largest_weight, scale_weights
from plx.values import IMPOSSIBLE, ZERO, IntArray, Values
from plx.weights import neg

_LARGE = 2.0**20
"""Log weights up to this leave ten digits behind the point of a sum."""


class EqualArity(NamedTuple):
    """n factors over k nodes each: scopes strictly increasing, tables in C order."""

    scope: AnyInt  # [n, k]
    table: AnyInt  # [n] row of tables
    tables: IntArray  # [m, entries] weight ids
    rule: Int32Array  # [n]


_NO_FACTORS = EqualArity(
    scope=np.empty((0, 0), dtype=np.int64),
    table=np.empty(0, dtype=np.int64),
    tables=np.empty((0, 1), dtype=np.int64),
    rule=np.empty(0, dtype=np.int32),
)


class Merged(NamedTuple):
    """One factor per scope, by arity and then by scope; ``constants`` are the ones that became constant."""

    scopes: list[AnyInt]  # per arity [n, k]
    table: AnyInt  # [F]
    table_start: IntArray  # [T + 1]
    weight: IntArray  # all tables, one after the other
    rule: Int32Array  # [F]
    constants: EqualArity  # k = 0


def merge(values: Values, parts: Iterable[EqualArity]) -> Merged:
    """Add the factors of every scope; drop what becomes constant."""
    groups: dict[tuple[int, int], list[EqualArity]] = {}
    for part in parts:
        groups.setdefault((part.scope.shape[1], part.tables.shape[1]), []).append(part)
        del part
    merged: list[EqualArity] = []
    constants: list[EqualArity] = []
    for key in sorted(groups):
        part, moved = _shifted(values, _merge_group(values, groups.pop(key)))
        part, constant = _split_constant(part)
        merged.append(part)
        constants += [constant, moved]
        del part
    return _store(merged, constants)


def _merge_group(values: Values, parts: list[EqualArity]) -> EqualArity:
    """One factor per scope, sorted by scope; the list of parts is used up."""
    rows = sum(len(part.scope) for part in parts)
    if rows < 2 or _is_increasing([part.scope for part in parts]):
        return _join(parts)
    tables, number = _distinct_tables(parts)
    packing = _packing(parts, len(tables))
    if packing is None:
        part = _join(parts)
        order = np.argsort(row_keys(part.scope))
        scope, table, rule = part.scope.take(order, axis=0), part.table.take(order), part.rule.take(order)
        head = np.append(True, (scope[1:] != scope[:-1]).any(axis=1))
        return _added(
            values, head, tables, lambda rows: EqualArity(scope[rows], table[rows], tables, rule[rows])
        )
    # Sorted as they are: a third of the time and memory of an order that is followed.
    keys = _packed(parts, number, packing, rows)
    keys.sort()
    return _added(
        values, packing.heads(keys, 2), tables, lambda rows: _unpacked(packing, _some(keys, rows), tables)
    )


def _some(keys: IntArray, rows: BoolArray | slice) -> IntArray:
    return keys[rows] if isinstance(rows, slice) else taken(keys, rows)


def _join(parts: list[EqualArity]) -> EqualArity:
    """The parts one after the other, with the tables that they use, each once; the list is used up."""
    if len(parts) == 1:
        return _distinct(parts.pop())
    tables, number = _distinct_tables(parts)
    rows = sum(len(part.scope) for part in parts)
    scope = empty((rows, parts[0].scope.shape[1]), np.int32)
    table, rule = empty(rows, np.int32), empty(rows, np.int32)
    for part, at, mine in _one_by_one(parts, number):
        scope[at], rule[at] = part.scope, part.rule
        look_up(mine, part.table, table[at])
    return EqualArity(scope, table, tables, rule)


def _one_by_one(parts: list[EqualArity], number: IntArray) -> Iterator[tuple[EqualArity, slice, IntArray]]:
    """Each part, its rows among those of all, and the numbers of its tables. The list is used up: what has
    been copied need not stay."""
    parts.reverse()
    row = first = 0
    while parts:
        part = parts.pop()
        yield part, slice(row, row + len(part.scope)), number[first : first + len(part.tables)]
        row, first = row + len(part.scope), first + len(part.tables)
    if row > _MANY:
        trim()


_MANY = 1 << 20
"""Factors from which on what they leave is given back to the system."""


def _packing(parts: Sequence[EqualArity], tables: int) -> Packing | None:
    """How the scope, table and rule of each factor are packed in one key; None where they do not fit."""
    ends = [part for part in parts if len(part.scope)]
    columns = range(parts[0].scope.shape[1])
    low = [min(int(part.scope[:, j].min()) for part in ends) for j in columns]
    high = [max(int(part.scope[:, j].max()) for part in ends) for j in columns]
    rules = min(int(part.rule.min()) for part in ends), max(int(part.rule.max()) for part in ends)
    return Packing.between([*low, 0, rules[0]], [*high, tables - 1, rules[1]])


def _packed(parts: list[EqualArity], number: IntArray, packing: Packing, rows: int) -> IntArray:
    """The keys [rows] of the factors of all parts; the list of them is used up."""
    keys = empty(rows, np.int64)
    for part, at, mine in _one_by_one(parts, number):
        table = mine[part.table] if len(mine) > 1 else np.broadcast_to(mine, len(part.table))
        packing.pack([*part.scope.T, table, part.rule], keys[at])
    return keys


def _added(
    values: Values, head: BoolArray, tables: IntArray, take: Callable[[BoolArray | slice], EqualArity]
) -> EqualArity:
    """Factors in the order of their scopes added up. ``head`` [n]: the first of each scope; ``take`` copies
    some of the factors, and is called once with those that stay."""
    if head.all():
        return take(slice(None))
    several = ~(head & np.append(head[1:], True))
    few, first = take(several), head[several]
    summed, more = _sum(values, np.cumsum(first) - 1, few.table.astype(np.int64), tables)
    part, at = take(head), np.flatnonzero(several[head])
    part.rule[at] = np.minimum.reduceat(few.rule, np.flatnonzero(first))
    table = part.table.astype(np.int32, copy=False)
    table[at] = len(tables) + summed
    return _distinct(part._replace(table=table, tables=np.concatenate([tables, more])))


def _is_increasing(scopes: Sequence[AnyInt]) -> bool:
    """Whether every scope comes after the one before it."""
    some = [scope for scope in scopes if len(scope)]
    joints = (np.stack([a[-1], b[0]]) for a, b in pairwise(some))
    inside = (scope[max(part.start - 1, 0) : part.stop] for scope in some for part in pieces(len(scope)))
    return all(map(_increases, inside)) and all(map(_increases, joints))


def _increases(scope: AnyInt) -> bool:
    beyond, equal = np.zeros(len(scope) - 1, dtype=bool), np.ones(len(scope) - 1, dtype=bool)
    for column in scope.T:
        beyond |= equal & (column[1:] > column[:-1])
        equal &= column[1:] == column[:-1]
    return bool(beyond.all())


def _unpacked(packing: Packing, keys: IntArray, tables: IntArray) -> EqualArity:
    """The factors of the keys of their scope, table and rule; the keys are used up."""
    n, k = len(keys), len(packing.radix) - 2
    scope, table, rule = empty((n, k), np.int32), empty(n, np.int32), empty(n, np.int32)
    packing.unpack(keys, [*scope.T, table, rule])
    return EqualArity(scope, table, tables, rule)


def _sum(values: Values, owner: IntArray, table: AnyInt, tables: IntArray) -> tuple[IntArray, IntArray]:
    """The sum of the tables of each owner 0 … n-1: a row of the returned tables for each.

    Equal tables of one owner are counted and scaled; then pairs are added until one is left, so
    that the work is in the number of distinct sums.
    """
    m = len(tables)
    first, inverse = unique_keys(owner * m + table)
    times = np.bincount(inverse)
    owner, table = owner[first], table[first]
    table, tables = _scaled(values, table, times, tables)
    while (same := owner[1:] == owner[:-1]).any():
        left, kept = neighbours(same)
        low, high = np.minimum(table[left], table[left + 1]), np.maximum(table[left], table[left + 1])
        pair, number = unique_rows(np.stack([low, high], axis=1))
        table[left] = len(tables) + number
        tables = np.concatenate([tables, add_weights(values, tables[low[pair]], tables[high[pair]])])
        owner, table = owner[kept], table[kept]
    return table, tables


def _scaled(values: Values, table: AnyInt, times: IntArray, tables: IntArray) -> tuple[IntArray, IntArray]:
    if (times == 1).all():
        return table.astype(np.int64), tables
    first, inverse = unique_rows(np.stack([table, times], axis=1))
    return inverse, scale_weights(values, tables[table[first]], times[first])


def _distinct(part: EqualArity) -> EqualArity:
    """Only the tables that are used, each once."""
    tables, number = _distinct_tables([part])
    if len(tables) == len(part.tables):
        return part
    return part._replace(table=number.astype(np.int32)[part.table], tables=tables)


def _distinct_tables(parts: Sequence[EqualArity]) -> tuple[IntArray, IntArray]:
    """The tables that the parts use, each once, and where each table of all parts went."""
    used = np.concatenate([_used(part) for part in parts])
    tables = np.concatenate([part.tables for part in parts])
    first, inverse = unique_rows(tables[used])
    number = np.full(len(tables), -1, dtype=np.int64)
    number[used] = inverse
    return tables[used][first], number


def _used(part: EqualArity) -> BoolArray:
    """Whether some factor has each of the tables."""
    used = np.zeros(len(part.tables), dtype=bool)
    for rows in pieces(len(part.table)):
        used[part.table[rows]] = True
    return used


def _shifted(values: Values, part: EqualArity) -> tuple[EqualArity, EqualArity]:
    """The factors with the largest entries of very large tables moved to a constant, and these constants.

    So a world that keeps to the largest weights has none left in which its small ones would be lost.
    """
    large = (np.where(part.tables == IMPOSSIBLE, 0.0, np.abs(values.logs(part.tables))) > _LARGE).any(axis=1)
    if not large.any():
        return part, _NO_FACTORS
    rows = np.flatnonzero(large)
    top = np.full(len(part.tables), ZERO, dtype=np.int64)
    top[rows] = [largest_weight(values, part.tables[row]) for row in rows]
    tables = part.tables.copy()
    minus = np.array([values.id(neg(values[i])) for i in top[rows].tolist()], dtype=np.int64)  # type: ignore[arg-type]
    tables[rows] = add_weights(values, tables[rows], np.broadcast_to(minus[:, None], tables[rows].shape))
    moved = np.flatnonzero(top[part.table] != ZERO)
    nothing = np.empty((len(moved), 0), dtype=np.int64)
    return part._replace(tables=tables), EqualArity(
        nothing, part.table[moved], top[:, None], part.rule[moved]
    )


def _split_constant(part: EqualArity) -> tuple[EqualArity, EqualArity]:
    """The factors that matter, and those whose table is constant, as factors over nothing."""
    tables = is_constant(part.tables)
    constant = tables[part.table] if tables.any() else np.zeros(len(part.table), dtype=bool)
    kept = part
    if constant.any():
        kept = EqualArity(part.scope[~constant], part.table[~constant], part.tables, part.rule[~constant])
    empty = np.empty((int(constant.sum()), 0), dtype=np.int64)
    return kept, EqualArity(empty, part.table[constant], part.tables[:, :1], part.rule[constant])


def _store(parts: list[EqualArity], constants: list[EqualArity]) -> Merged:
    """Number the tables of all parts; tables with the same entries are one."""
    by_size: dict[int, list[int]] = {}
    for i, part in enumerate(parts):
        by_size.setdefault(part.tables.shape[1], []).append(i)
    table: list[AnyInt] = [np.empty(0, dtype=np.int64)] * len(parts)
    weight: list[IntArray] = []
    sizes: list[int] = []
    for entries, group in by_size.items():
        tables, number = _distinct_tables([parts[i] for i in group])
        shift = starts(np.array([len(parts[i].tables) for i in group]))
        for i, first in zip(group, shift[:-1], strict=True):
            mine = (number + len(sizes))[first : first + len(parts[i].tables)]
            if (mine == np.arange(len(mine))).all():
                table[i] = parts[i].table
            else:
                table[i] = look_up(mine, parts[i].table, empty(len(parts[i].table), np.int32))
        weight.append(tables.ravel())
        sizes += [entries] * len(tables)
    scopes: dict[int, list[AnyInt]] = {}
    for part in parts:
        scopes.setdefault(part.scope.shape[1], []).append(part.scope)
    none = np.empty(0, dtype=np.int64)
    constants = [part for part in constants if len(part.table)]
    return Merged(
        scopes=[scope for group in scopes.values() for scope in group],
        table=_all(table),
        table_start=starts(np.array(sizes, dtype=np.int64)),
        weight=np.concatenate([*weight, none]),
        rule=_all([part.rule for part in parts]),
        constants=_join(constants) if constants else _NO_FACTORS,
    )


def _all(columns: list[AnyInt]) -> Int32Array:
    """Columns one after the other, as int32."""
    if len(columns) == 1:
        return columns[0].astype(np.int32, copy=False)
    found: Int32Array = empty(sum(map(len, columns)), np.int32)
    at = 0
    for column in columns:
        found[at : at + len(column)] = column
        at += len(column)
    return found
