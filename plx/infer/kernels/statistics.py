"""Sufficient statistics of the worlds that lanes stand at, in one pass over the factors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.rows import _add_row, _add_two
from plx.jit import Kernel, array

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
States = npt.NDArray[np.integer]


class Tallied(NamedTuple):
    """Factors whose entries count. A table has a part for each number that it depends on: a column of
    coefficients, one for each of its entries."""

    table: Int32  # [F]
    scope_start: Int64  # [F + 1]
    scope_row: Int32  # variables from 0, then derived nodes
    scope_stride: Int32
    part_start: Int64  # [tables + 1]
    number: Int32  # [parts] what a part adds to
    column: Int64  # [parts] start in coefficient
    coefficient: Float64


def _tally(m: Tallied, state: States, level: Int32, total: Float64) -> None:
    """Add the coefficients of the present entry of every factor to ``total`` [numbers, C].

    Arrays: state [V, C], level [D, C].
    """
    n, lanes = state.shape
    table, scope_start, scope_row, scope_stride = m.table, m.scope_start, m.scope_row, m.scope_stride
    part_start, number, column, coefficient = m.part_start, m.number, m.column, m.coefficient
    index = np.empty(lanes, dtype=np.int32)
    for f in range(table.shape[0]):
        index[:] = 0
        begin, end = scope_start[f], scope_start[f + 1]
        if end - begin == 2 and scope_row[begin] < n and scope_row[begin + 1] < n:
            _add_two(scope_row[begin], scope_stride[begin], scope_row[begin + 1], scope_stride[begin + 1],
                     state, index)  # fmt: skip
            begin = end
        for o in range(begin, end):
            row = np.int64(scope_row[o])
            if row < n:
                _add_row(row, scope_stride[o], state, index)
            else:
                _add_row(row - n, scope_stride[o], level, index)
        for p in range(part_start[table[f]], part_start[table[f] + 1]):
            base, k = np.uint64(column[p]), np.uint64(number[p])
            for c in range(lanes):
                total[k, c] += coefficient[base + np.uint64(index[c])]


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_tally` compiled for one type of state, uint8 or uint16."""
    lanes, level, total = array(state, 2), array("int32", 2), array("float64", 2)
    return Kernel(_tally, [Tallied, lanes, level, total]).compiled
