"""Rows of tables and files against the slots they fill: types, duplicates, gaps. Vectorised."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, product

import numpy as np
import numpy.typing as npt

from plx import weights
from plx.check import build, fixed
from plx.check.context import Context
from plx.check.program import SetExpr
from plx.check.slots import (
    index_count,
    indexes,
    is_independent,
    packed_keys,
    row_keys,
    row_widths,
    sets_by_row,
)
from plx.check.typed import CheckedSlot
from plx.data.cells import from_loose_text
from plx.data.table import Table
from plx.errors import Note
from plx.source import Span
from plx.threads import pieces, spread
from plx.values import FALSE, TRUE, IntArray, Value, distinct

_SHOWN = 5
"""At most so many wrong rows are reported."""

_PIECE = 1 << 18
"""Rows are looked at so many at a time, so that what is between stays in the cache."""

_SORTED = 1 << 24
"""Keys that are sorted at a time on a thread."""

_SAMPLED = 1 << 12
"""Rows that tell where others are to be parted."""

_ENUMERATED = 2_000_000
"""Up to so many indexes gaps are looked for in a table whose slots depend on each other."""


def check_index(ctx: Context, table: Table, slots: Sequence[CheckedSlot]) -> IntArray | None:
    """The index of a table, each cell a member of its slot; None after reports.

    A symbol that reads as a number counts as one where the slot holds numbers, and the reverse.
    """
    index = table.index
    wrong = False
    for at, slot in enumerate(slots):
        set_ = slot.ranged.set
        if build.is_closed(set_) and _all_inside(index[:, at], fixed.members(ctx, set_, {})):
            continue
        if wrong and not build.is_closed(set_):
            continue
        if index is table.index:  # its cells may be read in another way
            index = table.index.copy(order="K")
        for group, members in sets_by_row(ctx, slots[:at], set_, index[:, :at]):
            wrong |= not _fit_column(ctx, table, index[:, at], group, members, (at, slot.ranged.words))
    return None if wrong else index


def _all_inside(column: IntArray, members: IntArray) -> bool:
    """Whether all cells of a column, some at a time, are among the members."""
    if not len(members) or not len(column):
        return not len(column)
    least, most = int(members.min()), int(members.max())
    if most - least + 1 == len(members):  # all ids between: members are no two alike
        return least <= int(column.min()) and int(column.max()) <= most
    known = np.zeros(most + 2, dtype=bool)
    known[members] = True
    return all(known[np.minimum(column[part], len(known) - 1)].all() for part in pieces(len(column), _PIECE))


def check_values(
    ctx: Context, table: Table, index: IntArray, slots: Sequence[CheckedSlot], domain: SetExpr, words: str
) -> IntArray | None:
    """The value column of a table, each cell a member of a domain that may depend on the slots."""
    assert table.value is not None
    value = table.value.copy()
    wrong = False
    for group, members in sets_by_row(ctx, slots, domain, index):
        wrong |= not _fit_column(ctx, table, value, group, members, (len(slots), words))
    return None if wrong else value


def _fit_column(
    ctx: Context,
    table: Table,
    column: IntArray,
    group: IntArray,
    members: IntArray,
    place: tuple[int, str],
) -> bool:
    cells = column[group]
    outside = np.flatnonzero(~np.isin(cells, members))
    if not len(outside):
        return True
    repaired = _repair(ctx, cells[outside], members)
    column[group[outside]] = repaired
    rows = group[outside[~np.isin(repaired, members)]]
    _report_outside(ctx, table, column, rows, members, place)
    return not len(rows)


def _repair(ctx: Context, cells: IntArray, members: IntArray) -> IntArray:
    """``007`` is the number 7 among numbers, 7 the symbol "7" among symbols, 1 true among truth values."""
    known = set(members.tolist())
    distinct, inverse = np.unique(cells, return_inverse=True)
    fixed_ids = [other_reading(ctx, int(cell), known) for cell in distinct]
    return np.array(fixed_ids, dtype=np.int64)[inverse.reshape(-1)]


def other_reading(ctx: Context, cell: int, known: Collection[int]) -> int:
    """The value among ``known`` that a cell, which is none of them, means; the cell itself if none is."""
    value = ctx.values[cell]
    if isinstance(value, bool):
        other = ctx.values.find("true" if value else "false")
    elif isinstance(value, str):
        other = ctx.values.find(_number_in(value))
    elif value in (0, 1) and set(known) <= {FALSE, TRUE}:
        other = int(value)
    else:
        other = ctx.values.find(weights.text(value))
    return other if other is not None and other in known else cell


def _number_in(text: str) -> Value:
    """The number that a symbol reads as, if it is one."""
    try:
        return from_loose_text(text)
    except weights.WeightError:
        return text


def _report_outside(
    ctx: Context, table: Table, column: IntArray, rows: IntArray, members: IntArray, place: tuple[int, str]
) -> None:
    at, words = place
    for row in rows[:_SHOWN].tolist():
        text = ctx.text(int(column[row]))
        is_value = at == table.index.shape[1]
        message = f"`{text}` is no " + (f"value of `{table.name}`" if is_value else f"member of {words}")
        listed = f"its {'values' if is_value else 'members'}: {ctx.listing(members)}"
        hint = ctx.suggest(text, members, ()) or listed
        if table.named and rows.tolist() == [0] and len(column) > 1:
            hint = f"if the first row names the columns, {table.named}"
        ctx.error(table.origin.span(row, at), message + table.origin.words(row, at), hint)
    if len(rows) > _SHOWN:
        row = int(rows[_SHOWN])
        message = f"and {len(rows) - _SHOWN} more rows like this"
        ctx.error(table.origin.span(row, at), message + table.origin.words(row, at))


# ---------------------------------------------------------------------- duplicates, gaps


def repeats(rows: npt.NDArray[np.integer]) -> IntArray:
    """The places of rows that are equal to an earlier one, in order."""
    n = len(rows)
    if n < 2:
        return np.zeros(0, dtype=np.int64)
    if rows.shape[1] == 0:
        return np.arange(1, n)
    widths = row_widths(rows)
    if widths is None:
        rows, widths = row_keys(rows)[:, None], [2**62]
    again = _repeated(rows, widths)
    if not len(again):
        return again
    places, keys = _standing(rows, widths, again)
    first = np.unique(keys, return_index=True)[1]
    return np.delete(places, first)


def without(rows: npt.NDArray[np.integer], places: IntArray) -> npt.NDArray[np.integer]:
    """The rows but for those at some places; its columns lie together."""
    kept = np.ones(len(rows), dtype=bool)
    kept[places] = False
    out = np.empty((rows.shape[1], int(np.count_nonzero(kept))), dtype=rows.dtype)

    def keep(at: int) -> None:
        column, end = rows[:, at], 0
        for part in pieces(len(rows), _PIECE):
            some = column[part][kept[part]]
            out[at, end : end + len(some)] = some
            end += len(some)

    spread(keep, range(rows.shape[1]))
    return out.T


def _standing(
    rows: npt.NDArray[np.integer], widths: Sequence[int], wanted: IntArray
) -> tuple[IntArray, IntArray]:
    """Where rows stand whose keys are among a few, sorted, and their keys."""
    last = (1 << (16 * len(wanted)).bit_length()) - 1  # few keys end in the bits of one that is wanted
    ends = np.zeros(last + 1, dtype=bool)
    ends[wanted & last] = True
    empty = np.zeros(0, dtype=np.int64)
    places, found = [empty], [empty]
    for part in pieces(len(rows), _PIECE):
        keys = packed_keys([*rows[part].T], widths)
        near = np.flatnonzero(ends[keys & last])
        place = np.minimum(np.searchsorted(wanted, keys[near]), len(wanted) - 1)
        near = near[wanted[place] == keys[near]]
        places.append(near + part.start)
        found.append(keys[near])
    return np.concatenate(places), np.concatenate(found)


def _repeated(rows: npt.NDArray[np.integer], widths: Sequence[int]) -> IntArray:
    """The keys that stand more than once among those of rows, each once, sorted.

    Of many rows those that are near each other in one column are sorted by themselves, some on each thread,
    so that never all keys are there.
    """
    if len(rows) <= _SORTED:
        return _twice(packed_keys([*rows.T], widths))
    column, ends = _parted(rows)
    found = [np.empty(0, dtype=np.int64)]

    def look(part: tuple[int, int]) -> None:
        found.append(_twice(_keys_between(rows, widths, column, *part)))

    spread(look, list(itertools.pairwise(ends)))
    return distinct(np.concatenate(found))


def _parted(rows: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.integer], list[int]]:
    """A column with many different cells, and the ends of ranges of them that have about as many rows."""
    samples = [np.sort(column[:: len(rows) // _SAMPLED + 1]) for column in rows.T]
    at = max(range(len(samples)), key=lambda at: len(distinct(samples[at])))
    parts = len(rows) // _SORTED + 1
    cuts = distinct(samples[at][np.arange(1, parts) * len(samples[at]) // parts]).tolist()
    return rows[:, at], [0, *(cut for cut in cuts if cut), int(rows[:, at].max()) + 1]


def _keys_between(
    rows: npt.NDArray[np.integer],
    widths: Sequence[int],
    column: npt.NDArray[np.integer],
    low: int,
    high: int,
) -> IntArray:
    """The keys of the rows whose cell of a column is from ``low`` to below ``high``."""

    def inside(part: slice) -> npt.NDArray[np.bool_]:
        return (column[part] >= low) & (column[part] < high)

    parts = pieces(len(rows), _PIECE)
    keys, at = np.empty(sum(np.count_nonzero(inside(part)) for part in parts), dtype=np.int64), 0
    for part in parts:
        near = np.flatnonzero(inside(part))
        keys[at : at + len(near)] = packed_keys([cells[part].take(near) for cells in rows.T], widths)
        at += len(near)
    return keys


def _twice(keys: IntArray) -> IntArray:
    """The keys that stand more than once, each once; they are sorted in place."""
    keys.sort()
    found = [np.empty(0, dtype=np.int64)]
    for begin in range(0, len(keys), _PIECE):
        piece = keys[begin : begin + _PIECE + 1]
        found.append(piece[1:][piece[1:] == piece[:-1]])
    return distinct(np.concatenate(found))


def report_duplicates(ctx: Context, table: Table, index: IntArray) -> bool:
    """Report indexes that stand in several rows."""
    again = repeats(index)
    if not len(again):
        return False
    keys = row_keys(index)
    for row in again[:_SHOWN].tolist():
        first = int(np.flatnonzero(keys == keys[row])[0])
        text = ctx.texts(index[row])
        entry = f" for {text}" if text else ""
        message = f"`{table.name}` has two entries{entry}"
        words = table.origin.words(first)
        note = Note(f"the first is here{words}", table.origin.span(first, 0))
        ctx.error(table.origin.span(row, 0), message + table.origin.words(row), None, [note])
    return True


def report_gaps(ctx: Context, name: str, slots: Sequence[CheckedSlot], index: IntArray, span: Span) -> bool:
    """Report indexes for which a table without ``else`` has no entry."""
    expected = index_count(ctx, slots)
    if expected is None:
        try:
            every = indexes(ctx, slots, _ENUMERATED)
        except fixed.NoValueError:
            return False
        expected = len(every)
    if expected <= len(index):
        return False
    present = set(map(tuple, index.tolist()))
    missing = [key for key in islice(_all(ctx, slots), len(present) + 4) if key not in present]
    listed = "; ".join(ctx.texts(key) for key in missing[:3])
    number = expected - len(index)
    message = f"`{name}` has no entry for {listed}" + (f" … ({number:,} are missing)" if number > 3 else "")
    given = name in ctx.data.tables
    hint = "add them, or `else: …` for all others"
    if given:
        others = f"`… else 0` after a file, `plx.Else({name}, 0)` in Python"
        hint = f"add a row for each, or say what all others are: {others}"
    ctx.error(span, message, hint)
    return True


def _all(ctx: Context, slots: Sequence[CheckedSlot]) -> Iterator[tuple[int, ...]]:
    if all(is_independent(slot) for slot in slots):
        return product(*(fixed.members(ctx, slot.ranged.set, {}).tolist() for slot in slots))
    return iter(map(tuple, indexes(ctx, slots, _ENUMERATED).tolist()))
