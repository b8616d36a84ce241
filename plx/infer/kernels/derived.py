"""Derived nodes that a variable affects: kept up to date as it changes, or what they would be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.rows import _add_mapped, _add_scaled, _map
from plx.jit import inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
States = npt.NDArray[np.integer]
Number = int | np.int64 | np.int32

NO_STEP = -(2**31)
"""Stands for contributions that differ by no constant from one state to the next."""

_LESS, _MORE = np.int64(-1), np.int64(1)


@inner(inline=True)
def _shift(
    first: Number, last: Number, v: Number, sign: Number, affected: Int32, edge_start: Int64,
    edge_source: Int32, edge_contribution: Int64, edge_step: Int32, contribution: Int32,
    output_start: Int64, output: Int32, awaited: Int32, all_now: bool, state: States, total: Int32,
    level: Int32,
) -> None:  # fmt: skip
    """Add (sign 1) or take away (-1) what v gives to its affected nodes; then bring awaited states, or
    all, up to date."""
    for a in range(first, last):
        row = np.int64(affected[a])
        for e in range(edge_start[a], edge_start[a + 1]):
            start, step = edge_contribution[e], edge_step[e]
            if edge_source[e] >= 0:
                source = np.int64(affected[first + edge_source[e]])
                _add_mapped(source, level, start, contribution, sign, total, row)
            elif step == NO_STEP:
                _add_mapped(v, state, start, contribution, sign, total, row)
            else:
                _add_scaled(v, state, sign * contribution[start], sign * step, total, row)
        if sign > 0 and (all_now or awaited[row]):
            _map(output_start[row], output, total, row, level, row)


@inner
def _candidates(
    first: Number, last: Number, k: Number, affected: Int32, edge_start: Int64, edge_source: Int32,
    edge_contribution: Int64, contribution: Int32, output_start: Int64, output: Int32, total: Int32,
    candidate: Int32,
) -> None:  # fmt: skip
    """States of the nodes affected[first : last] if the variable, now taken away, were k."""
    for a in range(first, last):
        own = a - first
        for c in range(total.shape[1]):
            candidate[own, c] = total[affected[a], c]
        for e in range(edge_start[a], edge_start[a + 1]):
            start = edge_contribution[e]
            if edge_source[e] < 0:
                for c in range(total.shape[1]):
                    candidate[own, c] += contribution[start + k]
            else:
                source = np.int64(edge_source[e])
                _add_mapped(source, candidate, start, contribution, _MORE, candidate, own)
        _map(output_start[affected[a]], output, candidate, own, candidate, own)
