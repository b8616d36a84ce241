"""Columns whose cells come in portions, of which only what is distinct is kept as objects.

Portions of whole numbers, and of texts where there are many, are packed as arrays, which tell their cells
apart several times as fast as a dict of objects does.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from plx.data.cells import Column, NoValue, column_of_integers
from plx.extras import MissingLibraryError, library
from plx.values import IntArray

_MANY = 1 << 17
"""Cells after which texts are worth the time that Arrow takes to load."""


class ColumnBuilder:
    """A column of scalars that comes in portions."""

    def __init__(self) -> None:
        self._code = _Codes()
        self._codes: list[IntArray] = []
        self._rows = 0
        self._kind: type = object
        self._packed: list[Any] = []  # portions of this kind that have no codes yet

    def add(self, cells: Sequence[Any]) -> None:
        """More cells: scalars of Python; others are counted as no values."""
        kinds = set(map(type, cells))
        kind = kinds.pop() if len(kinds) == 1 else object
        packed = self._pack(kind, cells)
        self._rows += len(cells)
        if packed is None or kind is not self._kind:
            self._unpack()
        self._kind = kind
        if packed is not None:
            self._packed.append(packed)
        else:
            self._codes.append(self._coded(cells))

    def column(self) -> Column:
        """All cells so far."""
        self._unpack()
        distinct = [cell[0] if type(cell) is tuple else cell for cell in self._code]
        return Column(distinct, np.concatenate([np.zeros(0, dtype=np.int64), *self._codes]))

    def _pack(self, kind: type, cells: Sequence[Any]) -> Any:
        """Cells of one kind as an array; None where there is none for them."""
        try:
            if kind is int:
                return np.fromiter(cells, dtype=np.int64, count=len(cells))
            if kind is str and self._rows >= _MANY:
                return library("pyarrow", "columns of texts").array(cells, "string")
        except (OverflowError, UnicodeEncodeError, MissingLibraryError):
            pass
        return None

    def _unpack(self) -> None:
        """Give codes to what is packed."""
        if not self._packed:
            return
        column = _column_of_texts(self._packed) if self._kind is str else _column_of_integers(self._packed)
        self._packed = []
        self._codes.append(self._coded(column.distinct)[column.codes])

    def _coded(self, cells: Sequence[Any]) -> IntArray:
        if not set(map(type, cells)) <= _HASHED:
            cells = [_told_apart(cell) for cell in cells]
        return np.fromiter(map(self._code.__getitem__, cells), dtype=np.int64, count=len(cells))


class _Codes(dict[Any, int]):
    """Cell → how many others came before it. One look for each cell, where it is known."""

    def __missing__(self, cell: Any) -> int:
        code = self[cell] = len(self)
        return code


def _column_of_integers(portions: Sequence[Any]) -> Column:
    return column_of_integers(portions)


def _column_of_texts(portions: Sequence[Any]) -> Column:
    from plx.data.arrow_columns import column_of_arrow

    column = column_of_arrow(library("pyarrow", "columns of texts").chunked_array(portions))
    assert column is not None
    return column


_HASHED = {str, int, float, Decimal, type(None)}
_SHAPES: dict[type, str] = {list: "a list", dict: "an object", bytes: "a blob"}


def _told_apart(cell: Any) -> Any:
    """A key of its own for ``true``, which equals 1, and for what is no scalar."""
    if isinstance(cell, bool):
        return (cell, bool)
    return NoValue(_SHAPES[type(cell)]) if type(cell) in _SHAPES else cell
