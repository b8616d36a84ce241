"""Dense arrays → tables: one axis per slot, and a cell for every index, in the order of the sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.data.arrange import ids_of
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

    def words(self, row: int) -> str:
        """``, at [0, 2] of the array given for `w```; positions are counted from 0."""
        at = ", ".join(str(int(i)) for i in np.unravel_index(row, self.sizes))
        return f", at [{at}] of the array given for `{self.name}`"


def as_array(value: Any, shape: Shape) -> npt.NDArray[Any] | None:
    """A param as an array with an axis per slot, or a relation as an array of truth values; else None."""
    if shape.kind not in ("param", "relation") or not shape.slots:
        return None
    if hasattr(value, "columns") or (hasattr(value, "index") and not isinstance(value, list | tuple)):
        return None
    if isinstance(value, list | tuple):
        value = _nested(value, shape)
    array = value.to_numpy() if hasattr(value, "to_numpy") else value
    if not isinstance(array, np.ndarray) or array.ndim != len(shape.slots) or array.dtype.names:
        return None
    return array if shape.kind == "param" or array.dtype.kind == "b" else None


def _nested(value: Sequence[Any], shape: Shape) -> npt.NDArray[Any] | None:
    """Nested lists of equal lengths, as deep as there are slots, as an array; else None."""
    first, depth = value, 0
    while isinstance(first, list | tuple) and first:
        first, depth = first[0], depth + 1
    truth = isinstance(first, bool | np.bool_)
    if depth != len(shape.slots) or (shape.kind == "relation" and not truth):
        return None
    try:
        array = np.array(value, dtype=object)
    except ValueError:  # the lengths differ
        return None
    all_truth = truth and all(isinstance(cell, bool | np.bool_) for cell in array.flat)
    return array.astype(bool) if all_truth else array


def may_be_rows(array: npt.NDArray[Any], shape: Shape) -> bool:
    """Whether an array may list rows as well: the checker, which knows the sizes of the slots, decides."""
    return array.ndim == 2 and array.dtype.kind != "b" and shape.fits(array.shape[1])


def read_grid(array: npt.NDArray[Any], shape: Shape, values: Values) -> Table:
    """A table without rows, whose ``grid`` holds the cells. Raises PlxError for cells that are no values."""
    flat = array.reshape(-1)
    column = column_of_objects(flat.tolist()) if array.dtype.kind == "O" else column_of_array(flat)
    origin = GridOrigin(shape.name, array.shape)
    problems: list[Diagnostic] = []
    ids = ids_of(column, len(shape.slots), False, origin, values, problems)
    if problems:
        raise PlxError(problems)
    none = np.zeros(0, dtype=np.int64)
    return Table(shape.name, none.reshape(0, len(shape.slots)), none, origin, ids.reshape(array.shape))


def with_grid(rows: Table) -> Table:
    """Rows of two indexes and a value, which may as well be an array of three columns."""
    assert rows.value is not None
    return replace(rows, grid=np.column_stack([rows.index, rows.value]))
