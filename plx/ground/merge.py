"""Factors over one scope added exactly into one; equal tables stored once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plx.ground.graph import Int32Array
from plx.ground.rows import AnyInt, starts, unique_keys, unique_rows
from plx.ground.tables import add_weights, is_constant, scale_weights
from plx.values import IntArray, Values


class Part(NamedTuple):
    """n factors over k nodes each: scopes strictly increasing, tables in C order."""

    scope: AnyInt  # [n, k]
    table: AnyInt  # [n] row of tables
    tables: IntArray  # [m, entries] weight ids
    rule: Int32Array  # [n]


class Merged(NamedTuple):
    """One factor per scope, by arity and then by scope; ``constants`` are the ones that became constant."""

    scopes: list[AnyInt]  # per arity [n, k]
    table: IntArray  # [F]
    table_start: IntArray  # [T + 1]
    weight: IntArray  # all tables, one after the other
    rule: Int32Array  # [F]
    constants: Part  # k = 0


def merge(values: Values, parts: Sequence[Part]) -> Merged:
    """Add the factors of every scope; drop what becomes constant."""
    groups: dict[tuple[int, int], list[Part]] = {}
    for part in parts:
        groups.setdefault((part.scope.shape[1], part.tables.shape[1]), []).append(part)
    summed = {key: _merge_group(values, _join(group)) for key, group in sorted(groups.items())}
    split = [_split_constant(part) for part in summed.values()]
    return _store([kept for kept, _ in split], [constant for _, constant in split])


def _join(parts: list[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    shift = starts(np.array([len(part.tables) for part in parts]))
    return Part(
        np.concatenate([part.scope for part in parts]),
        np.concatenate([part.table + first for part, first in zip(parts, shift[:-1], strict=True)]),
        np.concatenate([part.tables for part in parts]),
        np.concatenate([part.rule for part in parts]),
    )


def _merge_group(values: Values, part: Part) -> Part:
    """One factor per scope, sorted by scope."""
    part = _distinct(part)
    first, owner = unique_rows(part.scope)
    n = len(first)
    if n == len(part.table):
        return Part(part.scope[first], part.table[first], part.tables, part.rule[first])
    rule = np.full(n, np.iinfo(np.int32).max, dtype=np.int32)
    np.minimum.at(rule, owner, part.rule)
    table, tables = _sum(values, owner, part.table, part.tables)
    return _distinct(Part(part.scope[first], table, tables, rule))


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
    while True:
        alone = np.concatenate([owner[1:] != owner[:-1], [True]])
        if alone.all():
            return table, tables
        head = np.concatenate([[True], alone[:-1]])
        place = np.arange(len(owner)) - np.flatnonzero(head)[np.cumsum(head) - 1]
        left = np.flatnonzero(~alone & (place % 2 == 0))
        low, high = np.minimum(table[left], table[left + 1]), np.maximum(table[left], table[left + 1])
        pair, number = unique_rows(np.stack([low, high], axis=1))
        table[left] = len(tables) + number
        tables = np.concatenate([tables, add_weights(values, tables[low[pair]], tables[high[pair]])])
        keep = np.ones(len(owner), dtype=bool)
        keep[left + 1] = False
        owner, table = owner[keep], table[keep]


def _scaled(values: Values, table: AnyInt, times: IntArray, tables: IntArray) -> tuple[IntArray, IntArray]:
    if (times == 1).all():
        return table.astype(np.int64), tables
    first, inverse = unique_rows(np.stack([table, times], axis=1))
    return inverse, scale_weights(values, tables[table[first]], times[first])


def _distinct(part: Part) -> Part:
    """Only the tables that are used, each once."""
    used, table = unique_keys(np.asarray(part.table, dtype=np.int64))
    tables = part.tables[part.table[used]]
    first, inverse = unique_rows(tables)
    return part._replace(table=inverse[table], tables=tables[first])


def _split_constant(part: Part) -> tuple[Part, Part]:
    """The factors that matter, and those whose table is constant, as factors over nothing."""
    constant = is_constant(part.tables)[part.table]
    kept = Part(part.scope[~constant], part.table[~constant], part.tables, part.rule[~constant])
    empty = np.empty((int(constant.sum()), 0), dtype=np.int64)
    return kept, Part(empty, part.table[constant], part.tables[:, :1], part.rule[constant])


def _store(parts: list[Part], constants: list[Part]) -> Merged:
    """Number the tables of all parts; tables with the same entries are one."""
    by_size: dict[int, list[int]] = {}
    for i, part in enumerate(parts):
        by_size.setdefault(part.tables.shape[1], []).append(i)
    table: list[AnyInt] = [np.empty(0, dtype=np.int64)] * len(parts)
    weight: list[IntArray] = []
    sizes: list[int] = []
    for entries, group in by_size.items():
        joined = _distinct(_join([parts[i]._replace(scope=parts[i].scope[:, :0]) for i in group]))
        split = np.cumsum([len(parts[i].table) for i in group])[:-1]
        for i, rows in zip(group, np.split(joined.table + len(sizes), split), strict=True):
            table[i] = rows
        weight.append(joined.tables.ravel())
        sizes += [entries] * len(joined.tables)
    scopes: dict[int, list[AnyInt]] = {}
    for part in parts:
        scopes.setdefault(part.scope.shape[1], []).append(part.scope)
    none = np.empty(0, dtype=np.int64)
    return Merged(
        scopes=[scope for group in scopes.values() for scope in group],
        table=np.concatenate([*table, none]),
        table_start=starts(np.array(sizes, dtype=np.int64)),
        weight=np.concatenate([*weight, none]),
        rule=np.concatenate([*(part.rule for part in parts), none]).astype(np.int32),
        constants=_join(constants)
        if constants
        else Part(none[:, None][:, :0], none, none[:, None], none.astype(np.int32)),
    )
