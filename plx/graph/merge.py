"""Factors over one scope added exactly into one; equal tables stored once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from plx.graph.model import Int32Array
from plx.graph.ragged import neighbours, starts
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
    summed = [_merge_group(values, _join(groups[key])) for key in sorted(groups)]
    shifted = [_shifted(values, part) for part in summed]
    split = [_split_constant(part) for part, _ in shifted]
    return _store([kept for kept, _ in split], [c for _, c in split] + [c for _, c in shifted])


def _join(parts: list[EqualArity]) -> EqualArity:
    """The parts one after the other; the list of them is used up."""
    if len(parts) == 1:
        return parts[0]
    tables = np.concatenate([part.tables for part in parts])
    shift = starts(np.array([len(part.tables) for part in parts])).tolist()
    rows = starts(np.array([len(part.scope) for part in parts])).tolist()
    scope = np.empty((rows[-1], parts[0].scope.shape[1]), dtype=np.int32)
    table, rule = (np.empty(rows[-1], dtype=np.int32) for _ in range(2))
    for at, first, begin in zip(range(len(parts)), shift, rows, strict=False):
        part = parts[at]
        end = begin + len(part.scope)
        scope[begin:end], rule[begin:end] = part.scope, part.rule
        np.add(part.table, first, out=table[begin:end], casting="same_kind")
        parts[at] = _NO_FACTORS  # what was copied need not stay
    return EqualArity(scope, table, tables, rule)


def _merge_group(values: Values, part: EqualArity) -> EqualArity:
    """One factor per scope, sorted by scope."""
    part = _distinct(part)
    if len(part.scope) < 2 or _is_increasing(part.scope):
        return part
    tables, columns = part.tables, [*part.scope.T, part.table, part.rule]
    packing = Packing.of(columns)
    if packing is None:
        order = np.argsort(row_keys(part.scope))
        scope, table, rule = part.scope.take(order, axis=0), part.table.take(order), part.rule.take(order)
        head = np.append(True, (scope[1:] != scope[:-1]).any(axis=1))
        return _added(
            values, head, tables, lambda rows: EqualArity(scope[rows], table[rows], tables, rule[rows])
        )
    # Sorted as they are: a third of the time and memory of an order that is followed.
    keys = packing.pack(columns)
    del part, columns
    keys.sort()
    return _added(values, packing.heads(keys, 2), tables, lambda rows: _unpacked(packing, keys[rows], tables))


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


def _is_increasing(scope: AnyInt) -> bool:
    """Whether every scope comes after the one before it."""
    beyond, equal = np.zeros(len(scope) - 1, dtype=bool), np.ones(len(scope) - 1, dtype=bool)
    for column in scope.T:
        beyond |= equal & (column[1:] > column[:-1])
        equal &= column[1:] == column[:-1]
    return bool(beyond.all())


def _unpacked(packing: Packing, keys: IntArray, tables: IntArray) -> EqualArity:
    """The factors of the keys of their scope, table and rule; the keys are used up."""
    n, k = len(keys), len(packing.radix) - 2
    scope = np.empty((n, k), dtype=np.int32)
    table, rule = (np.empty(n, dtype=np.int32) for _ in range(2))
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
    used = np.concatenate([np.bincount(part.table, minlength=len(part.tables)) > 0 for part in parts])
    tables = np.concatenate([part.tables for part in parts])
    first, inverse = unique_rows(tables[used])
    number = np.full(len(tables), -1, dtype=np.int64)
    number[used] = inverse
    return tables[used][first], number


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
            table[i] = (number + len(sizes)).astype(np.int32)[first:][parts[i].table]
        weight.append(tables.ravel())
        sizes += [entries] * len(tables)
    scopes: dict[int, list[AnyInt]] = {}
    for part in parts:
        scopes.setdefault(part.scope.shape[1], []).append(part.scope)
    none = np.empty(0, dtype=np.int64)
    constants = [part for part in constants if len(part.table)]
    return Merged(
        scopes=[scope for group in scopes.values() for scope in group],
        table=table[0] if len(table) == 1 else np.concatenate([*table, none]),
        table_start=starts(np.array(sizes, dtype=np.int64)),
        weight=np.concatenate([*weight, none]),
        rule=np.concatenate([*(part.rule for part in parts), none]).astype(np.int32)
        if len(parts) != 1
        else parts[0].rule,
        constants=_join(constants) if constants else _NO_FACTORS,
    )
