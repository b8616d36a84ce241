"""By how much the weights that unknowns feel exceed what these expect given all others, over many chains."""

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


class Controlled(NamedTuple):
    """Unknowns, and where each reads its table: at ``entry`` + state · ``plane`` + Σ stride · other's
    state."""

    variable: Int32  # [N]
    entry: Int64  # [N]
    plane: Int64  # [N]
    reader_start: Int64  # [N + 1]
    reader_row: Int32
    reader_stride: Int32


def _control(m: Controlled, excess: Float64, state: States, out: Float64) -> None:
    """out [C] += Σ over the unknowns of the entry that each is in, for state [V, C]."""
    variable, entry, plane = m.variable, m.entry, m.plane
    reader_start, row, stride = m.reader_start, m.reader_row, m.reader_stride
    lanes = state.shape[1]
    index = np.empty(lanes, dtype=np.int32)
    for i in range(variable.shape[0]):
        index[:] = 0
        r, last = reader_start[i], reader_start[i + 1]
        while r + 1 < last:
            _add_two(row[r], stride[r], row[r + 1], stride[r + 1], state, index)
            r += 2
        if r < last:
            _add_row(row[r], stride[r], state, index)
        v, base, step = np.uint64(variable[i]), np.uint64(entry[i]), np.uint64(plane[i])
        for c in range(lanes):
            out[c] += excess[base + np.uint64(state[v, c]) * step + np.uint64(index[c])]


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_control` compiled for one type of state, uint8 or uint16."""
    line = array("float64")
    return Kernel(_control, [Controlled, line, array(state, 2), line]).compiled
