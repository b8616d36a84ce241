"""Columns of Apache Arrow → columns of cells, coded by Arrow without a Python object per cell."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from plx.data.cells import Column, column_of_integers
from plx.extras import library


def column_of_arrow(array: Any) -> Column | None:
    """The cells of a chunked array; None for a type whose cells are no values (lists, blobs, durations).

    Dates and times are symbols in the form of ISO 8601. What is missing is None.
    """
    types = library("pyarrow", "columns of Arrow").types
    if types.is_integer(array.type) and not array.null_count:
        return column_of_integers([chunk.to_numpy() for chunk in array.chunks])
    if types.is_null(array.type):  # which has no dictionaries
        array = array.cast("string")
    if types.is_dictionary(array.type) and not types.is_string(array.type.value_type):
        array = array.cast(array.type.value_type)
    if not types.is_dictionary(array.type):
        if not _is_scalar(array.type, types):
            return None
        whole = _in_one(array)  # else each chunk would have a dictionary of all before it
        array = whole.dictionary_encode(null_encoding="encode")
    array = array.unify_dictionaries().combine_chunks()
    return _used(_cells(array.dictionary, types), _codes(array))


def _in_one(array: Any) -> Any:
    """The chunks of an array as one, but for texts that are too long for it."""
    if array.num_chunks == 1:
        return array
    whole = array.combine_chunks()
    return (
        whole if hasattr(whole, "chunks") else library("pyarrow", "columns of Arrow").chunked_array([whole])
    )


def _is_scalar(kind: Any, types: Any) -> bool:
    checks = (
        *(types.is_string, types.is_large_string, types.is_string_view, types.is_boolean, types.is_null),
        *(
            types.is_integer,
            types.is_floating,
            types.is_decimal,
            types.is_date,
            types.is_timestamp,
            types.is_time,
        ),
    )
    return any(check(kind) for check in checks)


def _codes(array: Any) -> Any:
    """The places of cells in the dictionary of an array; one past its end where a cell is missing."""
    indices = array.indices
    if indices.null_count:
        indices = indices.cast("int64").fill_null(len(array.dictionary))
    return indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


def _cells(dictionary: Any, types: Any) -> list[Any]:
    """The cells of a dictionary, and None, which some codes may mean."""
    kind = dictionary.type
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind):
        cells = [cell and _iso(cell) for cell in dictionary.cast("string").to_pylist()]
    elif types.is_floating(kind):  # as numpy's, a float of 32 bits is printed as short as it can be
        given = dictionary.is_valid().to_pylist()
        floats = dictionary.to_numpy(zero_copy_only=False)
        cells = [cell if there else None for cell, there in zip(floats, given, strict=True)]
    else:
        cells = dictionary.to_pylist()
    return [*cells, None]


def _iso(text: str) -> str:
    """``2024-05-01 08:30:00.000+0200`` as ``2024-05-01T08:30:00+02:00``."""
    short = _FRACTION.sub(lambda found: found[0].rstrip("0").rstrip("."), text.replace(" ", "T", 1))
    return _OFFSET.sub(r"\1:\2", short)


_FRACTION = re.compile(r"\.\d+")
_OFFSET = re.compile(r"([+-]\d\d)(\d\d)$")


def _used(cells: list[Any], codes: Any) -> Column:
    """The column without the cells of the dictionary that no row has; the last, None, is mostly one."""
    used = np.zeros(len(cells), dtype=bool)
    used[codes] = True
    if used[:-1].all():
        return Column(cells if used[-1] else cells[:-1], codes)
    kept = [cells[at] for at in np.flatnonzero(used)]
    return Column(kept, (np.cumsum(used) - 1)[codes])
