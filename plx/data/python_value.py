"""Python values → columns: lists, dicts, numpy arrays, and frames, which are known by what they offer
(pandas, polars, pyarrow and their like), so that none of their libraries is imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np

from plx.data.arrange import Raw
from plx.data.cells import Column, column_of_array, column_of_objects
from plx.data.shape import VALUE, Shape
from plx.errors import Diagnostic, PlxError
from plx.source import Span


@dataclass(frozen=True)
class GivenOrigin:
    """Rows of a Python value given for a name."""

    name: str

    def arranged(self, order: tuple[int, ...]) -> GivenOrigin:
        """The same: rows are told by number, columns by name."""
        return self

    def span(self, row: int, column: int) -> Span | None:
        """None: there is no text to point into."""
        return None

    def words(self, row: int, column: int | None = None) -> str:
        """``, in row 3 of the value given for `friends```; rows are counted from 1."""
        return f", in row {row + 1} of what is given for `{self.name}`"


def read_python(value: Any, shape: Shape) -> Raw:
    """The columns of a Python value for one declaration.

    Raises PlxError if the value has no form that the declaration can take.
    """
    origin = GivenOrigin(shape.name)
    try:
        names, columns = _columns(value, shape)
        _same_length(columns)
    except (TypeError, ValueError) as mistake:
        message = f"what is given for `{shape.name}` cannot be used: {mistake}"
        raise PlxError(Diagnostic(message, shape.span, hint=_hint(value, shape))) from None
    made = isinstance(value, Mapping)
    return Raw(names, tuple(columns), origin, header=made, advice=_ADVICE)


_ADVICE = "rename the columns; rows without names, as of `frame.to_numpy()`, are read by position"


Columns = tuple[tuple[str, ...] | None, Sequence[Column]]


def _columns(value: Any, shape: Shape) -> Columns:
    iterable = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    if not iterable:
        return None, [column_of_objects([cell]) for cell in _scalar(value, shape)]
    if hasattr(value, "column_names"):
        return _frame(value.column_names, lambda name: value.column(name).to_pylist(), shape)
    if hasattr(value, "columns"):
        return _frame(list(value.columns), lambda name: _array(value[name]), shape)
    if isinstance(value, Mapping):
        return _mapping(value, shape)
    if hasattr(value, "index") and hasattr(value, "to_numpy") and shape.slots:
        return _series(value, shape)
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        return _numpy(value, shape)
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)  # the order of a set differs from run to run
    return _rows(value if isinstance(value, list | tuple) else list(value), shape)


def _scalar(value: Any, shape: Shape) -> list[Any]:
    if shape.kind == "type" or shape.slots:
        kind = type(value).__name__
        raise TypeError(f"it is the {kind} `{value}`, not a list")
    return [value]


def _frame(names: Sequence[Any], column: Any, shape: Shape) -> Columns:
    if not len(names):
        return None, _no_rows(shape)
    return _labels(names), [_column(column(name)) for name in names]


def _labels(names: Sequence[Any]) -> tuple[str, ...] | None:
    """The names of columns; None for numbers, and for those that a library gives for want of any."""
    if all(isinstance(name, int | np.integer) for name in names):
        return None
    labels = tuple(map(str, names))
    numbers = [tuple(f"{stem}{i}" for i in range(first, first + len(labels))) for stem, first in _NAMELESS]
    return None if labels in numbers else labels


_NAMELESS = (("column_", 0), ("column_", 1), ("f", 0))
"""How polars, its CSV reader, and numpy and pyarrow number columns that have no names."""


def _series(series: Any, shape: Shape) -> Columns:
    """A column with an index of its own; the names of several levels are those of slots."""
    names, columns = _rows(
        [(*_key(key), cell) for key, cell in zip(series.index, series, strict=True)], shape
    )
    levels = list(getattr(series.index, "names", ()))
    if len(levels) < 2 or None in levels or len(columns) != len(levels) + 1:
        return names, columns
    return _labels([*levels, VALUE]), columns


def _same_length(columns: Sequence[Column]) -> None:
    lengths = sorted({len(column) for column in columns})
    if len(lengths) > 1:
        raise ValueError(f"its columns have different lengths, {' and '.join(map(str, lengths))}")


def _array(series: Any) -> Any:
    return series.to_numpy() if hasattr(series, "to_numpy") else series


def _column(cells: Any) -> Column:
    if isinstance(cells, np.ndarray):
        if cells.ndim != 1:
            raise ValueError("two columns have one name")
        return column_of_array(cells)
    return column_of_objects(cells)


def _numpy(array: Any, shape: Shape) -> Columns:
    if array.dtype.names:
        return _frame(array.dtype.names, lambda name: array[name], shape)
    if array.ndim == 0:
        return None, [column_of_objects([cell]) for cell in _scalar(array.item(), shape)]
    if not array.size and array.ndim < 2:
        return None, _no_rows(shape)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"it has {array.ndim} dimensions; one row per entry is expected")
    return None, [column_of_array(array[:, at]) for at in range(array.shape[1])]


def _mapping(value: Mapping[Any, Any], shape: Shape) -> Columns:
    if shape.slots and shape.kind != "type" and _is_column_table(value):
        return _frame(list(value), lambda name: value[name], shape)
    if not shape.slots:
        if shape.kind != "type":
            raise TypeError("it is a dict, but there is no index")
        return None, [column_of_objects(list(value))]
    rows = _flatten(value, len(shape.slots))
    if shape.kind == "type":
        rows = [(*key, member) for key, members in rows for member in members]
    else:
        rows = [(*key, cell) for key, cell in rows]
    return _rows(rows, shape)


def _is_column_table(value: Mapping[Any, Any]) -> bool:
    """``{"x": [...], "y": [...]}``: the names of columns and their cells."""
    listed = all(isinstance(cells, list | tuple | np.ndarray) for cells in value.values())
    return bool(value) and listed and all(isinstance(name, str) for name in value)


def _flatten(value: Any, depth: int) -> list[Any]:
    """``{i: {j: v}}`` and ``{(i, j): v}`` as ``[((i, j), v)]``."""
    return list(_entries(value, depth, ()))


def _entries(value: Any, depth: int, key: tuple[Any, ...]) -> Iterator[Any]:
    for part, inner in value.items():
        whole = (*key, *_key(part))
        if len(whole) < depth and isinstance(inner, Mapping):
            yield from _entries(inner, depth, whole)
        else:
            yield whole, inner


def _key(part: Any) -> tuple[Any, ...]:
    return tuple(part) if isinstance(part, tuple | list) else (part,)


def _rows(rows: Sequence[Any], shape: Shape) -> Columns:
    if not rows:
        return None, _no_rows(shape)
    nested = [issubclass(kind, list | tuple | np.ndarray) for kind in set(map(type, rows))]
    if not any(nested):
        return None, [column_of_objects(rows)]
    if not all(nested):
        raise ValueError("some of its rows are tuples and some are not")
    widths = set(map(len, rows))
    if len(widths) > 1:
        listed = " and ".join(map(str, sorted(widths)))
        raise ValueError(f"its rows have different lengths, {listed}")
    return None, [column_of_objects(list(map(itemgetter(at), rows))) for at in range(widths.pop())]


def _no_rows(shape: Shape) -> list[Column]:
    """The columns of a value that is empty."""
    width = len(shape.slots) + (shape.value == "needed") if shape.slots else 1
    return [column_of_objects([])] * width


def _one_list(value: Any, name: str) -> str:
    if not isinstance(value, str | int | Fraction):
        return "give a list of members, or the path of a CSV file"
    return f"give a list of members; on the command line --bind {name}={value}, (with a comma) is one"


def _hint(value: Any, shape: Shape) -> str:
    if shape.kind == "type":
        return "give a family as a dict of lists" if shape.slots else _one_list(value, shape.name)
    if not shape.slots:
        return "give a number, a truth value or a symbol"
    columns = ", ".join(shape.slots)
    if shape.kind == "relation":
        return f"give a list of ({columns})"
    return f"give {{({columns}): value}}, a list of ({columns}, value), or a data frame"
