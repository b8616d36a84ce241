"""Columns of whole numbers in Parquet files, decoded some rows at a time on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.data.cells import CloseIntegers, close_integers, lie_close
from plx.extras import library
from plx.threads import spread

_BATCH = 1 << 18
"""Cells that are decoded at a time, so that what is between stays in the cache."""


class _OtherError(Exception):
    """Cells are missing, or too far from others to be written as narrow integers."""


def integer_columns(path: Path, file: Any, names: Sequence[str]) -> list[CloseIntegers | None]:
    """The columns of a Parquet file that are whole numbers close together; None for each other one.

    Their cells are rows of one array in the order of ``names``, which are flat columns of ``file``. Raises
    ArrowException or OSError for a damaged file.
    """
    types, metadata = library("pyarrow", "Parquet files").types, file.metadata
    whole = [types.is_integer(file.schema_arrow.field(name).type) for name in names]
    try:
        room = np.empty((sum(whole), metadata.num_rows), dtype=np.int32)
    except MemoryError:  # a damaged file may claim any number of rows
        return [None] * len(names)
    rows = iter(room)
    return [
        _column(path, metadata, name, next(rows)) if is_ else None
        for name, is_ in zip(names, whole, strict=True)
    ]


def _column(path: Path, metadata: Any, name: str, cells: npt.NDArray[np.int32]) -> CloseIntegers | None:
    """The column, written to ``cells``."""
    sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    base, begins, ends = _least(metadata, name), [*accumulate(sizes, initial=0)], [(0, 0)] * len(sizes)
    if not len(cells) or begins[-1] != len(cells):
        return None

    def decode(group: int) -> None:
        ends[group] = _decode(path, metadata, name, group, base, cells[begins[group] : begins[group + 1]])

    try:
        spread(decode, [group for group, size in enumerate(sizes) if size])
    except _OtherError:
        return None
    some = [pair for pair, size in zip(ends, sizes, strict=True) if size]
    low, high = min(low for low, _ in some), max(high for _, high in some)
    if not lie_close(low, high, len(cells)):
        return None
    if low != base:
        cells -= np.int32(low - base)
    return close_integers(cells, low, high)


def _decode(
    path: Path, metadata: Any, name: str, group: int, base: int, out: npt.NDArray[np.int32]
) -> tuple[int, int]:
    """Write a group of rows, less ``base``, to ``out``; the least and the greatest cell."""
    low, high, at = base + 2**31, base - 2**31, 0
    with library("pyarrow.parquet", "Parquet files").ParquetFile(path, metadata=metadata) as file:
        for batch in file.iter_batches(_BATCH, row_groups=[group], columns=[name], use_threads=False):
            array = batch.column(0)
            if array.null_count:
                raise _OtherError
            portion = array.to_numpy()
            low, high = min(low, int(portion.min())), max(high, int(portion.max()))
            if not (
                base - 2**31 <= low and high < min(base + 2**31, 2**63) and at + len(portion) <= len(out)
            ):
                raise _OtherError
            part = out[at : at + len(portion)]
            np.subtract(portion.astype(np.int64, copy=False), base, out=part, casting="unsafe")
            at += len(portion)
    if at != len(out):
        raise _OtherError
    return low, high


def _least(metadata: Any, name: str) -> int:
    """The least cell by the statistics of the file, which may be wrong; 0 where it has none."""
    found: list[int] = []
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            if chunk.path_in_schema != name:
                continue
            least = chunk.statistics.min if chunk.is_stats_set and chunk.statistics.has_min_max else None
            if not isinstance(least, int) or abs(least) >= 2**62:
                return 0
            found.append(least)
    return min(found, default=0)
