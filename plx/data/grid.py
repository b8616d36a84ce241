"""Dense arrays → tables: one axis per slot, and a cell for every index, in the order of the sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.data.arrange import fill
from plx.data.cells import column_of_array, column_of_objects
from plx.data.shape import Shape
from plx.data.table import Table
from plx.errors import Diagnostic, PlxError
from plx.source import Span
from plx.values import Values


@dataclass(frozen=True)
class GridOrigin:
    """The cells of an array, row by row of a table that has one row per cell."""

    name: str
    sizes: tuple[int, ...]

    def span(self, row: int, column: int) -> Span | None:
        """None: there is no text to point into."""
        return None

    def words(self, row: int, column: int | None = None) -> str:
        """``, at [0, 2] of the array given for `w```; positions are counted from 0."""
        at = ", ".join(str(int(i)) for i in np.unravel_index(row, self.sizes))
        return f", at [{at}] of the array given for `{self.name}`"


def as_array(value: Any, shape: Shape) -> npt.NDArray[Any] | None:
    """What may be an array with an axis per slot; else None. Zeros and ones for truth values are one, too:
    the checker asks for true and false."""
    if shape.kind == "type" or not shape.slots:
        return None
    if hasattr(value, "columns") or (hasattr(value, "index") and not isinstance(value, list | tuple)):
        return None
    if isinstance(value, list | tuple):
        value = _nested(value, shape)
    array = value.to_numpy() if hasattr(value, "to_numpy") else value
    if not isinstance(array, np.ndarray) or array.ndim != len(shape.slots) or array.dtype.names:
        return None
    array = _plain(array)
    return array if not shape.truth or _is_truth(array) else None


def _is_truth(array: npt.NDArray[Any]) -> bool:
    """Truth values, or numbers that are all 0 or 1."""
    if not array.size or array.dtype.kind == "b":
        return bool(array.size)
    return array.dtype.kind in "iuf" and bool(np.isin(array, (0, 1)).all())


def _nested(value: Sequence[Any], shape: Shape) -> npt.NDArray[Any] | None:
    """Nested lists of equal lengths, as deep as there are slots, as an array; else None.

    Tuples are rows of what is true or was observed.
    """
    first, depth = value, 0
    while isinstance(first, list | tuple) and first:
        if depth and shape.kind not in ("param", "learn") and isinstance(first, tuple):
            return None
        first, depth = first[0], depth + 1
    if depth != len(shape.slots) or (shape.truth and isinstance(first, str)):
        return None
    try:
        return np.array(value, dtype=object)
    except ValueError:  # the lengths differ
        return None


def _plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Objects that are all truth values, or all 0 or 1, as an array of these."""
    if array.dtype.kind != "O":
        return array
    kinds = set(map(type, array.flat))
    if kinds and kinds <= {bool, np.bool_}:
        return array.astype(bool)
    return array.astype(np.int64) if kinds == {int} and np.isin(array, (0, 1)).all() else array


def may_be_rows(array: npt.NDArray[Any], shape: Shape) -> bool:
    """Whether an array may list rows as well: the checker, which knows the sizes of the slots, decides."""
    width = array.shape[1] if array.ndim == 2 else 1
    return array.ndim <= 2 and array.dtype.kind != "b" and shape.fits(width)


def read_grid(array: npt.NDArray[Any], shape: Shape, values: Values) -> Table:
    """A table without rows, whose ``grid`` holds the cells. Raises PlxError for cells that are no values."""
    flat = array.reshape(-1)
    column = column_of_objects(flat.tolist()) if array.dtype.kind == "O" else column_of_array(flat)
    origin = GridOrigin(shape.name, array.shape)
    problems: list[Diagnostic] = []
    ids = np.empty(len(flat), dtype=np.int64)
    fill(ids, column, len(shape.slots), False, origin, values, problems)
    if problems:
        raise PlxError(problems)
    none = np.zeros(0, dtype=np.int64)
    return Table(shape.name, none.reshape(0, len(shape.slots)), none, origin, ids.reshape(array.shape))


def with_grid(rows: Table, grid: Table) -> Table:
    """Rows that may as well be an array with an axis per slot."""
    return replace(rows, grid=grid.grid)
