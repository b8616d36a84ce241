"""Single cells → values, and columns of cells → their distinct cells and codes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.threads import pieces, spread
from plx.values import IntArray, Value
from plx.weights import LogNumber, Symbolic, WeightError, parse


class CellError(ValueError):
    """A cell that is no value of plx; the message is in plain words."""


@dataclass(frozen=True)
class Column:
    """Cells as ``distinct[codes]``; ``codes`` has shape (rows,). ``text``: the cells come from a file."""

    distinct: Sequence[Any]
    codes: npt.NDArray[np.integer]
    text: bool = False

    def __len__(self) -> int:
        return len(self.codes)


class CloseIntegers(Column):
    """Whole numbers ``low + cells`` that lie close together; ``present`` has those that there are, counted
    from ``low``. What a Column has is made of it where it is asked for."""

    def __init__(self, cells: npt.NDArray[np.int32], low: int, present: npt.NDArray[np.bool_]) -> None:
        self.__dict__.update(cells=cells, low=low, present=present)

    cells: npt.NDArray[np.int32]
    low: int
    present: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def numbers(self) -> IntArray:
        """The distinct ones, in order."""
        return np.flatnonzero(self.present) + self.low

    @cached_property
    def distinct(self) -> list[Any]:
        """As a list."""
        distinct: list[Any] = self.numbers.tolist()
        return distinct

    @cached_property
    def codes(self) -> npt.NDArray[np.int32]:
        """The places of the cells among the distinct ones."""
        codes = np.empty_like(self.cells)
        look_up(np.cumsum(self.present, dtype=np.int32) - np.int32(1), self.cells, codes)
        return codes


@dataclass(frozen=True)
class NoValue:
    """A cell of a file that can be no value; ``words`` say what it is: ``a list``."""

    words: str


_CANONICAL = re.compile(r"-?(0|[1-9]\d*)(\.\d*[1-9])?", re.ASCII)


def from_text(text: str) -> Value:
    """A cell of a file: a canonical number, a truth value, else a symbol, kept unchanged."""
    if _CANONICAL.fullmatch(text) and text != "-0":
        return parse(text)
    if text in ("true", "false"):
        return text == "true"
    return text


def from_loose_text(text: str) -> Value:
    """A cell where numbers are expected: any way to write a number counts (``0.70``, ``1e-3``).

    Raises ArithmeticMistake for a number of thousands of digits.
    """
    try:
        return parse(text.strip())
    except WeightError:
        return from_text(text)


def from_python(cell: Any) -> Value:
    """A Python scalar as a value. Raises CellMistake for nan, infinities, None and other objects."""
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    if isinstance(cell, int | np.integer):
        return int(cell)
    if isinstance(cell, float | np.floating | Decimal):
        return _from_float(cell)
    if isinstance(cell, Fraction):
        return cell.numerator if cell.denominator == 1 else cell
    if isinstance(cell, LogNumber | Symbolic):
        return cell
    if isinstance(cell, NoValue):
        raise CellError(f"{cell.words} is no symbol, number or truth value")
    if cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType"):
        raise CellError("a value is missing here")
    raise CellError(f"a Python `{type(cell).__name__}` is no symbol, number or truth value")


def _from_float(cell: Any) -> Value:
    if cell != cell:
        raise CellError("nan is not a number: a value is missing here")
    if cell in (float("inf"), float("-inf")):
        raise CellError("an infinite number is no value")
    return parse(str(cell))


def column_of_text(cells: Sequence[str]) -> Column:
    """A column of a file."""
    return _factorise(cells, text=True)


def column_of_objects(cells: Iterable[Any]) -> Column:
    """A column of Python scalars. Raises CellMistake where cells cannot be told apart (lists, …)."""
    cells = cells if isinstance(cells, list | tuple) else list(cells)
    kinds = set(map(type, cells))
    if any(issubclass(kind, bool | np.bool_) for kind in kinds) and len(kinds) > 1:
        tagged = _factorise([(isinstance(cell, bool | np.bool_), cell) for cell in cells])
        return Column([cell for _, cell in tagged.distinct], tagged.codes)
    return _factorise(cells)


def truths(column: Column) -> Column:
    """The column with ``false`` and ``true`` for 0 and 1, if it has no other numbers."""
    if not all(type(cell) is int and cell in (0, 1) for cell in column.distinct):
        return column
    return Column([cell == 1 for cell in column.distinct], column.codes)


def column_of_array(array: npt.NDArray[Any]) -> Column:
    """A column held by a one-dimensional numpy array."""
    if array.dtype.kind not in "biuf":
        return column_of_objects(array.tolist())
    if array.dtype.kind in "iu":
        return column_of_integers([array])
    return _sorted(array)


def column_of_integers(portions: Sequence[npt.NDArray[np.integer]]) -> Column:
    """A column whose cells are whole numbers, in portions one after the other."""
    some = [portion for portion in portions if len(portion)]
    n = sum(map(len, some))
    low = min((int(portion.min()) for portion in some), default=0)
    high = max((int(portion.max()) for portion in some), default=0)
    if n and high < 2**63 and lie_close(low, high, n):
        return _close_together(some, n, low, high)
    return _sorted(np.concatenate([*some, np.empty(0, dtype=np.int64)]) if len(some) != 1 else some[0])


def _sorted(array: npt.NDArray[Any]) -> Column:
    distinct, codes = np.unique(array, return_inverse=True)
    cells = list(distinct) if array.dtype.kind == "f" else distinct.tolist()
    return Column(cells, codes.reshape(-1).astype(np.int64, copy=False))


_DENSE = 1 << 20
"""Integers that lie this close together are told apart by a table, several times as fast as by sorting."""


def lie_close(low: int, high: int, n: int) -> bool:
    """Whether ``n`` integers from ``low`` to ``high`` are worth a table of all between."""
    return high - low < min(max(_DENSE, 4 * n), 2**31)


def _close_together(
    portions: Sequence[npt.NDArray[np.integer]], n: int, low: int, high: int
) -> CloseIntegers:
    cells, at = np.empty(n, dtype=np.int32), 0
    for portion in portions:
        for part in pieces(len(portion), _PIECE):
            piece = portion[part]
            np.subtract(piece.astype(np.int64), low, out=cells[at : at + len(piece)], casting="unsafe")
            at += len(piece)
    return close_integers(cells, low, high)


def close_integers(cells: npt.NDArray[np.int32], low: int, high: int) -> CloseIntegers:
    """The column of ``low + cells``, none of which is above ``high``."""
    present = np.zeros(high - low + 1, dtype=bool)

    def mark(part: slice) -> None:
        present[cells[part].astype(np.int64)] = True  # by several threads: all write the same

    spread(mark, pieces(len(cells), _PIECE))
    return CloseIntegers(cells, low, present)


def look_up(table: npt.NDArray[Any], places: npt.NDArray[np.integer], out: npt.NDArray[Any]) -> None:
    """Write ``table[places]`` to ``out``, which may be ``places`` itself. No place is outside the table."""

    def some(part: slice) -> None:
        np.take(table, places[part].astype(np.int64), out=out[part], mode="clip")

    spread(some, pieces(len(places), _PIECE))


_PIECE = 1 << 18
"""Cells are counted and numbered so many at a time, so that what is between stays in the cache."""


def _factorise(cells: Sequence[Any], text: bool = False) -> Column:
    try:
        code = dict.fromkeys(cells)
    except TypeError:
        raise CellError("each cell must be a symbol, a number or a truth value") from None
    if len(code) == len(cells):
        return Column(list(code), np.arange(len(cells)), text)
    code = dict(zip(code, range(len(code)), strict=True))
    codes = np.fromiter(map(code.__getitem__, cells), dtype=np.int64, count=len(cells))
    return Column(list(code), codes, text)


def convert(column: Column, loose: bool) -> tuple[list[Value], list[tuple[int, str]]]:
    """The distinct values of a column, and its mistakes as (code, message)."""
    if not column.text:
        plain = set(map(type, column.distinct)) <= {str, int}
        return (list(column.distinct), []) if plain else _convert(column.distinct, from_python)
    if loose and all(map(_is_meant_as_number, column.distinct)):
        return _convert(column.distinct, _number)
    if all(cell >= ":" for cell in column.distinct) and not {"true", "false"} & set(column.distinct):
        return list(column.distinct), []  # symbols all: what begins so is no number, and not empty
    return _convert(column.distinct, _nonempty)


def _nonempty(text: str) -> Value:
    if not text:
        raise CellError("an empty cell")
    return from_text(text)


_DECIMAL_COMMA = re.compile(r"([-+]?\d+),(\d+(?:[eE][-+]?\d+)?)", re.ASCII)


def _is_meant_as_number(text: str) -> bool:
    try:
        return bool(_DECIMAL_COMMA.fullmatch(text)) or not isinstance(from_loose_text(text), str | bool)
    except WeightError:  # a number past all proportion
        return True


def _number(text: str) -> Value:
    """A cell of a column of numbers."""
    if comma := _DECIMAL_COMMA.fullmatch(text):
        raise CellError(f"`{text}` is no number: write a decimal point, {comma[1]}.{comma[2]}")
    return from_loose_text(text)


def _convert(cells: Iterable[Any], one: Callable[[Any], Value]) -> tuple[list[Value], list[tuple[int, str]]]:
    found: list[Value] = []
    mistakes: list[tuple[int, str]] = []
    for code, cell in enumerate(cells):
        try:
            found.append(one(cell))
        except (CellError, WeightError) as mistake:
            found.append(False)
            mistakes.append((code, str(mistake)))
    return found, mistakes
