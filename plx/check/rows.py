"""Rows of tables and files against the slots they fill: types, duplicates, gaps. Vectorised."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product

import numpy as np
import numpy.typing as npt

from plx import weights
from plx.check import build, fixed
from plx.check.context import Context
from plx.check.program import SetExpr
from plx.check.slots import index_count, indexes, is_independent, row_keys, sets_by_row
from plx.check.typed import CheckedSlot
from plx.data.cells import from_loose_text
from plx.data.table import Table
from plx.errors import Note
from plx.source import Span
from plx.values import FALSE, TRUE, IntArray, Value, distinct

_SHOWN = 5
"""At most so many wrong rows are reported."""

_PIECE = 1 << 18
"""Rows are looked at so many at a time, so that what is between stays in the cache."""

_HALF = 1 << 20
"""Keys that are worth a thread to sort."""

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
    if not len(members):
        return not len(column)
    known = np.zeros(int(members.max()) + 2, dtype=bool)
    known[members] = True
    return all(
        known[np.minimum(column[begin : begin + _PIECE], len(known) - 1)].all()
        for begin in range(0, len(column), _PIECE)
    )


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


def first_of_each(rows: npt.NDArray[np.integer]) -> IntArray | None:
    """The places of the first occurrence of each distinct row, in order; None where no two are equal."""
    n = len(rows)
    if n < 2:
        return None
    if rows.shape[1] == 0:
        return np.arange(1)
    keys = row_keys(rows)
    _sort(keys)
    again = _repeated(keys)
    if not len(again):
        return None
    keys, kept = row_keys(rows), np.ones(n, dtype=bool)
    last = (1 << (16 * len(again)).bit_length()) - 1  # few keys end in the bits of one that is repeated
    ends = np.zeros(last + 1, dtype=bool)
    ends[again & last] = True
    near = np.flatnonzero(ends[keys & last])
    place = np.minimum(np.searchsorted(again, keys[near]), len(again) - 1)
    repeated = near[again[place] == keys[near]]
    kept[repeated] = False
    kept[repeated[np.unique(keys[repeated], return_index=True)[1]]] = True
    return np.flatnonzero(kept)


def _sort(keys: IntArray) -> None:
    """Sort keys in place; of many the lower half on a thread of its own."""
    half = len(keys) // 2
    if half < _HALF:
        keys.sort()
        return
    keys.partition(half)
    with ThreadPoolExecutor(1) as pool:
        lower = pool.submit(keys[:half].sort)
        keys[half:].sort()
        lower.result()


def _repeated(keys: IntArray) -> IntArray:
    """The keys that stand more than once among sorted ones, each once."""
    found = [np.empty(0, dtype=np.int64)]
    for begin in range(0, len(keys), _PIECE):
        piece = keys[begin : begin + _PIECE + 1]
        found.append(piece[1:][piece[1:] == piece[:-1]])
    return distinct(np.concatenate(found))


def report_duplicates(ctx: Context, table: Table, index: IntArray) -> bool:
    """Report indexes that stand in several rows."""
    kept = first_of_each(index)
    if kept is None:
        return False
    again = np.setdiff1d(np.arange(len(index)), kept)
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
