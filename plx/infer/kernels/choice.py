"""Choosing a state in every lane, given its random number: by a table of thresholds, or by log weights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.random import BITS
from plx.jit import inner

Int32 = npt.NDArray[np.int32]
Float64 = npt.NDArray[np.float64]
States = npt.NDArray[np.integer]
Number = int | np.int64 | np.int32

SEARCHED = 64
"""With more states than this, the thresholds that a draw reaches are counted by bisection."""

_UNIT, _POWER = 2.0**-BITS, 2.0 ** -np.arange(80.0)


@inner(inline=True)
def _look_up(start: Number, size: Number, threshold: Int32, index: Int32, cut: Int32) -> None:
    """cut = threshold[start + index], lane by lane; a choice among few is faster than reading memory."""
    base = np.uint64(start)
    if size > 8:
        for c in range(index.shape[0]):
            cut[c] = threshold[base + np.uint64(index[c])]
        return
    last = start + size - 1
    t0, t1 = threshold[start], threshold[min(start + 1, last)]
    t2, t3 = threshold[min(start + 2, last)], threshold[min(start + 3, last)]
    for c in range(index.shape[0]):
        k = index[c]
        low, high = t0 if k < 1 else t1, t2 if k < 3 else t3
        cut[c] = low if k < 2 else high
    if size > 4:
        t4, t5 = threshold[start + 4], threshold[min(start + 5, last)]
        t6, t7 = threshold[min(start + 6, last)], threshold[last]
        for c in range(index.shape[0]):
            k = index[c]
            low, high = t4 if k < 5 else t5, t6 if k < 7 else t7
            cut[c] = cut[c] if k < 4 else (low if k < 6 else high)


@inner(inline=True)
def _threshold(
    v: Number, card: Number, start: Number, plane: Number, threshold: Int32, index: Int32, draw: Int32,
    cut: Int32, state: States,
) -> None:  # fmt: skip
    """Draw v from a table: the number of thresholds that the random integer reaches."""
    row = np.uint64(v)
    if card > SEARCHED:
        for c in range(index.shape[0]):
            first, left = np.int64(0), np.int64(card - 1)
            while left > 0:
                half = left >> 1
                if draw[c] >= threshold[start + (first + half) * plane + index[c]]:
                    first, left = first + half + 1, left - half - 1
                else:
                    left = half
            state[row, c] = first
        return
    for k in range(max(1, card - 1)):
        _look_up(start + k * plane, plane, threshold, index, cut)
        if k == 0:
            for c in range(index.shape[0]):
                state[row, c] = draw[c] >= cut[c]
        else:
            for c in range(index.shape[0]):
                state[row, c] += draw[c] >= cut[c]


@inner(inline=True)
def _by_product(
    v: Number, row: Number, value: Number, row_b: Number, value_b: Number, otherwise: Number, both: Number,
    draw: Int32, state: States,
) -> None:  # fmt: skip
    """Draw v, of two states, in one pass: its threshold is ``both`` where both literals hold."""
    negated, negated_b = value < 0, value_b < 0
    k = state.dtype.type(~value if negated else value)
    k_b = state.dtype.type(~value_b if negated_b else value_b)
    target, source, source_b = np.uint64(v), np.uint64(row), np.uint64(row_b)
    high, low = np.int32(both), np.int32(otherwise)
    for c in range(draw.shape[0]):
        holds = ((state[source, c] == k) != negated) & ((state[source_b, c] == k_b) != negated_b)
        state[target, c] = draw[c] >= (high if holds else low)


@inner(inline=True)
def _by_two(
    v: Number, row: Number, stride: Number, row_b: Number, stride_b: Number, base: Number, threshold: Int32,
    draw: Int32, state: States,
) -> None:  # fmt: skip
    """Draw v, of two states, in one pass: its threshold is one of four, by two others of two states."""
    t00, t01 = threshold[base], threshold[base + stride_b]
    t10, t11 = threshold[base + stride], threshold[base + stride + stride_b]
    target, source, source_b = np.uint64(v), np.uint64(row), np.uint64(row_b)
    for c in range(draw.shape[0]):
        other = state[source_b, c] != 0
        low, high = t01 if other else t00, t11 if other else t10
        state[target, c] = draw[c] >= (high if state[source, c] != 0 else low)


@inner
def _exp(x: float) -> float:
    """exp(x) for x ≤ 0, relative error below 1e-10, 0 below -50; the same on every machine."""
    if not x > -50.0:
        return 0.0
    n = np.int64(0.5 - x * 1.4426950408889634)
    f = x + n * 0.6931471805599453
    p = 1.0 / 40320.0 + f * (1.0 / 362880.0)
    p = 1.0 / 720.0 + f * (1.0 / 5040.0 + f * p)
    p = 1.0 / 24.0 + f * (1.0 / 120.0 + f * p)
    p = 1.0 + f * (1.0 + f * (0.5 + f * (1.0 / 6.0 + f * p)))
    return float(p * _POWER[n])


@inner
def _score(k: Number, start: Number, potential: Float64, index: Int32, score: Float64) -> None:
    """score[k] += potential[start + index], lane by lane."""
    base = np.uint64(start)
    for c in range(index.shape[0]):
        score[k, c] += potential[base + np.uint64(index[c])]


@inner
def _cumulate(count: Number, draw: Int32, score: Float64) -> None:
    """Cumulative weights from logs, rows 0 … count - 1 of score; row ``count`` tells where the draw falls."""
    for c in range(draw.shape[0]):
        score[count, c] = score[0, c]
    for k in range(1, count):
        for c in range(draw.shape[0]):
            score[count, c] = max(score[count, c], score[k, c])
    for c in range(draw.shape[0]):
        score[0, c] = _exp(score[0, c] - score[count, c])
    for k in range(1, count):
        for c in range(draw.shape[0]):
            score[k, c] = score[k - 1, c] + _exp(score[k, c] - score[count, c])
    for c in range(draw.shape[0]):
        score[count, c] = score[count - 1, c] * (draw[c] * _UNIT)


@inner
def _choose(v: Number, card: Number, state: States, draw: Int32, score: Float64) -> None:
    """Draw v with probabilities ∝ exp(score); row ``card`` of score is scratch."""
    _cumulate(card, draw, score)
    for c in range(draw.shape[0]):
        state[v, c] = 0
    for k in range(card - 1):
        for c in range(draw.shape[0]):
            state[v, c] += score[k, c] <= score[card, c]
