"""Sums over rows of states, lane by lane: of states times strides, or of what tables say of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.jit import inner

Int32 = npt.NDArray[np.int32]
States = npt.NDArray[np.integer]
Number = int | np.int64 | np.int32


@inner
def _add_row(row: Number, stride: Number, source: States, index: Int32) -> None:
    """index += stride * source[row], lane by lane."""
    step = np.int32(stride)
    for c in range(index.shape[0]):
        index[c] += step * np.int32(source[row, c])


@inner(inline=True)
def _add_two(
    row: Number, stride: Number, row_b: Number, stride_b: Number, source: States, index: Int32
) -> None:
    """index += stride * source[row] + stride_b * source[row_b], lane by lane."""
    step, step_b = np.int32(stride), np.int32(stride_b)
    for c in range(index.shape[0]):
        index[c] += step * np.int32(source[row, c]) + step_b * np.int32(source[row_b, c])


@inner(inline=True)
def _add_product(
    row: Number, value: Number, row_b: Number, value_b: Number, step: Number, state: States, index: Int32
) -> None:
    """index += step where both literals hold, lane by lane."""
    negated, negated_b, one = value < 0, value_b < 0, np.int32(step)
    k = state.dtype.type(~value if negated else value)
    k_b = state.dtype.type(~value_b if negated_b else value_b)
    for c in range(index.shape[0]):
        both = ((state[row, c] == k) != negated) & ((state[row_b, c] == k_b) != negated_b)
        index[c] += one if both else np.int32(0)


@inner
def _add_mapped(
    row: Number, source: States, start: Number, table: Int32, sign: Number, out: Int32, to: Number
) -> None:
    """out[to] += sign * table[start + source[row]], lane by lane."""
    base = np.uint64(start)
    for c in range(out.shape[1]):
        out[to, c] += np.int32(sign) * table[base + np.uint64(source[row, c])]


@inner(inline=True)
def _add_scaled(row: Number, state: States, base: Number, step: Number, out: Int32, to: Number) -> None:
    """out[to] += base + step * state[row], lane by lane."""
    first, slope, source, target = np.int32(base), np.int32(step), np.uint64(row), np.uint64(to)
    for c in range(out.shape[1]):
        out[target, c] += first + slope * np.int32(state[source, c])


@inner
def _map(start: Number, table: Int32, source: Int32, row: Number, out: Int32, to: Number) -> None:
    """out[to] = table[start + source[row]], lane by lane."""
    base = np.uint64(start)
    for c in range(out.shape[1]):
        out[to, c] = table[base + np.uint64(source[row, c])]


@inner
def _add_rows(
    first: Number, last: Number, rows: Int32, strides: Int32, state: States, level: Int32, total: Int32,
    candidate: Int32, index: Int32,
) -> None:  # fmt: skip
    """index += Σ strides[i] * row rows[i], for i from first to last - 1."""
    n, d = state.shape[0], level.shape[0]
    for i in range(first, last):
        row = np.int64(rows[i])
        if row < n:
            _add_row(row, strides[i], state, index)
        else:
            row -= n
            part = level if row < d else (total if row < 2 * d else candidate)
            _add_row(row if row < d else (row - d if row < 2 * d else row - 2 * d), strides[i], part, index)
