"""Columns as they came → the table that a declaration expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from plx.data.cells import CloseIntegers, Column, convert, look_up, truths
from plx.data.shape import VALUE, Shape
from plx.data.table import RowOrigin, Table
from plx.errors import Diagnostic, PlxError, did_you_mean
from plx.numerals import shortened
from plx.source import Span
from plx.syntax.printer import print_value
from plx.values import IntArray, Values

_SHOWN = 5
"""At most so many mistakes of one column are reported."""


class RawOrigin(RowOrigin, Protocol):
    """An origin whose columns can be put in order."""

    def arranged(self, order: tuple[int, ...]) -> RawOrigin:
        """The same rows with their columns in another order."""


@dataclass(frozen=True)
class Raw:
    """Columns in the order they came, with names where they have some.

    ``header``: a row of a file or the keys of a dict, made for the declaration; other names count for
    nothing where the columns can have none. ``advice``: what to do about a name that is no column's, and
    where ``wide`` about too many columns. ``bits``: 0 and 1 are the truth values, for want of others.
    """

    names: tuple[str, ...] | None
    columns: tuple[Column, ...]
    origin: RawOrigin
    header: bool = False
    advice: str | None = None
    wide: bool = False
    bits: bool = False


def arrange(raw: Raw, shape: Shape, values: Values) -> Table:
    """The table of a declaration. Raises PlxError for unknown names, missing or superfluous columns,
    and for cells that are no values."""
    order = _order(raw, shape)
    origin = raw.origin.arranged(order)
    columns = [raw.columns[place] for place in order]
    k = len(shape.slots)
    if raw.bits and shape.truth and len(columns) > k:
        columns[k] = truths(columns[k])
    problems: list[Diagnostic] = []
    rows = len(columns[0]) if columns else 0
    # The cells of a column lie together: each is looked at by itself. Facts may be many: narrow ids.
    kind = np.int32 if shape.kind == "relation" else np.int64
    index = _room(columns, k, rows, kind)
    value = np.empty(rows if len(columns) > k else 0, dtype=np.int64)
    for at, column in enumerate(columns):
        out, loose = (index[at], False) if at < k else (value, shape.kind in ("param", "learn"))
        fill(out, column, at, loose, origin, values, problems)
    if problems:
        raise PlxError(problems)
    named = raw.advice if raw.wide and not raw.header else None
    table = Table(shape.name, index.T, value if len(columns) > k else None, origin, named=named)
    if shape.kind == "relation":
        return _only_true(table, shape, values)
    return _distinct(table) if shape.kind == "type" and shape.columns else table


def _distinct(table: Table) -> Table:
    """The members that a column of another table mentions, each once."""
    assert table.value is not None
    _, first = np.unique(np.column_stack([table.index, table.value]), axis=0, return_index=True)
    kept = np.sort(first)
    return Table(table.name, table.index[kept], table.value[kept], _Selected(table.origin, kept))


def _only_true(table: Table, shape: Shape, values: Values) -> Table:
    """A relation lists what is true; rows whose value is ``false`` say nothing."""
    if table.value is None:
        return table
    true, false = (values.ids(pair) for pair in ((True, 1), (False, 0)))
    kept = np.flatnonzero(np.isin(table.value, true))
    wrong = np.flatnonzero(~np.isin(table.value, np.concatenate([true, false])))
    if len(wrong):
        row = int(wrong[0])
        found = shortened(print_value(values[int(table.value[row])]))
        message = f"`{shape.name}` has: {shape.wanted}; a value is true or false, not `{found}`"
        where = table.origin.span(row, len(shape.slots)) or shape.span
        raise PlxError(Diagnostic(message + table.origin.words(row, len(shape.slots)), where))
    return replace(
        table, index=table.index[kept], value=None, origin=_Selected(table.origin, kept), named=None
    )


@dataclass(frozen=True)
class _Selected:
    """Some rows of another origin."""

    origin: RowOrigin
    rows: IntArray

    def span(self, row: int, column: int) -> Span | None:
        """The text of a cell."""
        return self.origin.span(int(self.rows[row]), column)

    def words(self, row: int, column: int | None = None) -> str:
        """Where a row or cell stands, in words."""
        return self.origin.words(int(self.rows[row]), column)


def _order(raw: Raw, shape: Shape) -> tuple[int, ...]:
    """Which column holds each slot: by the names of the columns, by position where they have none."""
    names = raw.names
    if names is None or (names == shape.labels[: len(names)] and shape.fits(len(names))):
        return _by_position(raw, shape)
    if not raw.header and _nameless(names, shape):
        return _by_position(raw, shape)
    return _by_name(names, raw, shape)


def _nameless(names: tuple[str, ...], shape: Shape) -> bool:
    """Whether no name could be right: of the one column of a type, and of slots that share their label."""
    if shape.kind == "type" and not shape.slots:
        return len(names) == 1
    return set(shape.slots) <= set(shape.shared) and VALUE not in names[:-1]


def _by_position(raw: Raw, shape: Shape) -> tuple[int, ...]:
    if not shape.fits(len(raw.columns)):
        hint = raw.advice if raw.wide and len(raw.columns) > len(shape.labels) else None
        raise PlxError(Diagnostic(_width(raw, shape), _first(raw, shape), hint=hint))
    return tuple(range(len(raw.columns)))


def _by_name(names: tuple[str, ...], raw: Raw, shape: Shape) -> tuple[int, ...]:
    if shape.shared:
        raise PlxError([_shared(label, raw, shape) for label in shape.shared])
    problems = []
    for at, name in enumerate(names):
        if name not in shape.labels:
            message = f"`{name}` is no column of `{shape.name}` ({shape.wanted})"
            hint = did_you_mean(name, [label for label in shape.labels if label not in names]) or raw.advice
            problems.append(Diagnostic(message, raw.origin.span(-1, at) or shape.span, hint=hint))
        elif name in names[:at]:
            problems.append(
                Diagnostic(f"two columns are called `{name}`", raw.origin.span(-1, at) or shape.span)
            )
    missing = [label for label in shape.labels if label not in names]
    if shape.value == "optional" and VALUE in missing:
        missing.remove(VALUE)
    if missing and not problems:
        listed = " and ".join(f"`{name}`" for name in missing)
        message = f"`{shape.name}` needs a column {listed}"
        problems.append(Diagnostic(message, raw.origin.span(-1, 0) or shape.span))
    if problems:
        raise PlxError(problems)
    return tuple(names.index(label) for label in shape.labels if label in names)


def _shared(label: str, raw: Raw, shape: Shape) -> Diagnostic:
    message = f"two columns of `{shape.name}` are called `{label}`, so they cannot be found by name"
    hint = f"name the slots in the program, as in `{shape.name}(x: {label}, y: {label})`"
    return Diagnostic(message, raw.origin.span(-1, 0) or shape.span, hint=hint)


def _width(raw: Raw, shape: Shape) -> str:
    n = len(raw.columns)
    have = "1 column is" if n == 1 else f"{n} columns are"
    return f"{have} given for `{shape.name}`, which has: {shape.wanted}"


def _first(raw: Raw, shape: Shape) -> Span:
    return raw.origin.span(0, 0) or shape.span


_MISSING = "give it a value, or leave the row out"


def fill(
    out: npt.NDArray[np.integer],
    column: Column,
    at: int,
    loose: bool,
    origin: RowOrigin,
    values: Values,
    problems: list[Diagnostic],
) -> None:
    """Write the value ids of a column to ``out`` [rows]; add cells that are no values to ``problems``."""
    if isinstance(column, CloseIntegers):
        _fill_integers(out, column, values)
        return
    distinct, mistakes = convert(column, loose)
    for code, message in mistakes[:_SHOWN]:
        row = int(np.flatnonzero(column.codes == code)[0])
        hint = _MISSING if column.distinct[code] is None else None
        problems.append(Diagnostic(message + origin.words(row, at), origin.span(row, at), hint=hint))
    found = values.ids(distinct).astype(out.dtype) if distinct else np.zeros(0, dtype=out.dtype)
    look_up(found, column.codes, out)


def _fill_integers(out: npt.NDArray[np.integer], column: CloseIntegers, values: Values) -> None:
    """The same for integers that lie close together: one look at a table for a cell."""
    ids = np.zeros(len(column.present), dtype=out.dtype)
    ids[column.present] = values.ids_of_integers(column.numbers)
    look_up(ids, column.cells, out)


def _room(columns: Sequence[Column], k: int, rows: int, kind: type[np.integer]) -> npt.NDArray[Any]:
    """Where the ids of ``k`` slots are written, shape (k, rows): as facts may be many, in the place of their
    cells, if these are rows of one array, in order."""
    cells = [column.cells for column in columns if isinstance(column, CloseIntegers)]
    whole = cells[0].base if len(cells) == k == len(columns) else None
    if isinstance(whole, np.ndarray) and whole.shape == (k, rows) and whole.dtype == kind:
        begins = [column.ctypes.data for column in cells]
        if begins == [row.ctypes.data for row in whole]:
            return whole
    return np.empty((k, rows), dtype=kind)
