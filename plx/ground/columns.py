"""What an expression is at n instances: a fixed value, or a table over a few nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plx.graph.ragged import segments, starts
from plx.graph.rows import AnyInt, unique_keys, unique_rows
from plx.graph.tables import gather_map, relevant_axes
from plx.values import IntArray


@dataclass(frozen=True)
class TableBlock:
    """Instances whose value is ``tables[table[i]]``, C order over the states of ``scope[i]``.

    No node stands twice in a scope, and every table depends on each of its axes.
    """

    rows: IntArray  # [r] instances
    scope: AnyInt  # [r, k] nodes
    table: IntArray  # [r]
    tables: IntArray  # [m, entries] value ids
    cards: tuple[int, ...]  # [k]

    def take(self, pick: IntArray) -> TableBlock:
        """Some of the instances, by position."""
        return replace(
            self, rows=self.rows[pick], scope=self.scope.take(pick, axis=0), table=self.table[pick]
        )


@dataclass(frozen=True)
class CounterBlock:
    """Instances whose value is ``tables[table[i]]`` at a sum that is no node yet (see `Counters`)."""

    rows: IntArray  # [r]
    raw: IntArray  # [r] number of the sum
    table: IntArray  # [r]
    tables: list[IntArray]  # one entry per value of the sum, from 0

    def take(self, pick: IntArray) -> CounterBlock:
        """Some of the instances, by position."""
        return replace(self, rows=self.rows[pick], raw=self.raw[pick], table=self.table[pick])


Part = TableBlock | CounterBlock


@dataclass(frozen=True)
class Column:
    """The values of an expression at n instances; each is fixed or in exactly one part."""

    fixed: IntArray  # [n] value id, or -1
    parts: tuple[Part, ...] = ()

    @property
    def n(self) -> int:
        """The number of instances."""
        return len(self.fixed)

    def locate(self) -> tuple[IntArray, IntArray]:
        """The part [n] of every instance (-1: fixed) and its position there."""
        part = np.full(self.n, -1, dtype=np.int64)
        position = np.zeros(self.n, dtype=np.int64)
        for i, p in enumerate(self.parts):
            part[p.rows] = i
            position[p.rows] = np.arange(len(p.rows))
        return part, position

    def take(self, rows: IntArray) -> Column:
        """The column at some instances, which may repeat."""
        part, position = self.locate()
        part, position = part[rows], position[rows]
        picked: list[Part] = []
        for i, p in enumerate(self.parts):
            new = np.flatnonzero(part == i)
            if len(new):
                picked.append(replace(p.take(position[new]), rows=new))
        return Column(self.fixed[rows], tuple(picked))


def concatenate(columns: Sequence[Column]) -> Column:
    """The columns one after the other."""
    if len(columns) == 1:
        return columns[0]
    shift = starts(np.array([column.n for column in columns]))
    parts = [
        replace(part, rows=part.rows + first)
        for column, first in zip(columns, shift[:-1], strict=True)
        for part in column.parts
    ]
    return gathered(np.concatenate([column.fixed for column in columns]), parts)


def possible_values(column: Column) -> tuple[IntArray, IntArray]:
    """Every instance with each value that it can take: two arrays, instances and value ids."""
    known = np.flatnonzero(column.fixed >= 0)
    instance, value = [known], [column.fixed[known]]
    for part in column.parts:
        found = [np.unique(table) for table in part.tables]
        start = starts([len(values) for values in found])
        count = np.diff(start)[part.table]
        instance.append(np.repeat(part.rows, count))
        value.append(np.concatenate(found)[segments(start[part.table], count)])
    return np.concatenate(instance), np.concatenate(value)


def gathered(fixed: IntArray, parts: Iterable[Part]) -> Column:
    """A column of parts, after those with equal cards are joined and equal tables stored once.

    Block tables may be constant or ignore an axis here; such instances become fixed or lose nodes.
    """
    fixed = fixed.copy()
    groups: dict[tuple[int, ...] | None, list[Part]] = {}
    for part in parts:
        for tidy in _tidy(part, fixed):
            groups.setdefault(tidy.cards if isinstance(tidy, TableBlock) else None, []).append(tidy)
    return Column(fixed, tuple(_joined(group) for group in groups.values()))


def _tidy(part: Part, fixed: IntArray) -> list[Part]:
    if not len(part.rows):
        return []
    return _tidy_raw(part, fixed) if isinstance(part, CounterBlock) else _tidy_block(part, fixed)


def _tidy_raw(part: CounterBlock, fixed: IntArray) -> list[Part]:
    constant = np.array([(t == t[0]).all() for t in part.tables])[part.table]
    first = np.array([t[0] for t in part.tables], dtype=np.int64)
    fixed[part.rows[constant]] = first[part.table[constant]]
    return [part.take(np.flatnonzero(~constant))] if not constant.all() else []


def _tidy_block(block: TableBlock, fixed: IntArray) -> list[Part]:
    relevant = relevant_axes(block.tables, block.cards)
    if relevant.all() and block.cards:
        return [block]
    first, inverse = unique_rows(relevant.astype(np.int64))
    out: list[Part] = []
    for i, table in enumerate(first):
        pick = np.flatnonzero(inverse[block.table] == i)
        mask = relevant[table]
        if not mask.any():
            fixed[block.rows[pick]] = block.tables[block.table[pick], 0]
        elif len(pick):
            place = np.cumsum(mask) - 1
            axes = [int(place[j]) if mask[j] else -1 for j in range(len(mask))]
            tables = block.tables[:, gather_map(block.cards, axes)]
            cards = tuple(c for c, kept in zip(block.cards, mask, strict=True) if kept)
            picked = block.take(pick)
            out.append(replace(picked, scope=picked.scope[:, mask], tables=tables, cards=cards))
    return out


def _joined(parts: list[Part]) -> Part:
    first, *_ = parts
    if len(parts) > 1:
        shift = starts(np.array([len(part.tables) for part in parts]))
        table = np.concatenate([part.table + s for part, s in zip(parts, shift[:-1], strict=True)])
        rows = np.concatenate([part.rows for part in parts])
        if isinstance(first, CounterBlock):
            raws = [part for part in parts if isinstance(part, CounterBlock)]
            raw = np.concatenate([part.raw for part in raws])
            return _distinct_raw(CounterBlock(rows, raw, table, [t for part in raws for t in part.tables]))
        blocks = [part for part in parts if isinstance(part, TableBlock)]
        scope = np.concatenate([part.scope for part in blocks])
        first = TableBlock(rows, scope, table, np.concatenate([part.tables for part in blocks]), first.cards)
    return _distinct_raw(first) if isinstance(first, CounterBlock) else _distinct(first)


def _distinct(block: TableBlock) -> TableBlock:
    if len(block.tables) == 1:
        return block
    used, table = unique_keys(block.table)
    tables = block.tables[block.table[used]]
    first, inverse = unique_rows(tables)
    return replace(block, table=inverse[table], tables=tables[first])


def _distinct_raw(part: CounterBlock) -> CounterBlock:
    seen: dict[bytes, int] = {}
    tables: list[IntArray] = []
    number = []
    for table in part.tables:
        number.append(seen.setdefault(table.tobytes(), len(tables)))
        if number[-1] == len(tables):
            tables.append(table)
    return replace(part, table=np.array(number, dtype=np.int64)[part.table], tables=tables)
