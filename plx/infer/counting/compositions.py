"""How n interchangeable blocks spread over b states: count vectors, their numbers and weights."""

from __future__ import annotations

import math

import numpy as np

from plx.graph.ragged import segments
from plx.values import FloatArray, IntArray

_EXACT_BITS = 50
"""Past so many bits one state more or less makes no difference."""


def log2_how_many(n: int, bits: float) -> float:
    """log₂ of the number of count vectors of n blocks with b = 2^bits states, C(n + b − 1, b − 1)."""
    others = math.log2(round(2.0**bits) - 1) if 0.5 < bits < _EXACT_BITS else bits or -math.inf
    return float(np.logaddexp2(0.0, others - np.log2(np.arange(1, n + 1))).sum())


def compositions(n: int, b: int) -> IntArray:
    """All vectors of b counts ≥ 0 that add up to n, shape (C(n + b − 1, b − 1), b)."""
    columns: list[IntArray] = []
    left = np.array([n], dtype=np.int64)
    for _ in range(b - 1):
        choices = left + 1
        column = segments(np.zeros(len(left), dtype=np.int64), choices)
        columns = [np.repeat(before, choices) for before in columns] + [column]
        left = np.repeat(left, choices) - column
    return np.stack([*columns, left], axis=1)


def log_multinomial(counts: IntArray) -> FloatArray:
    """log of the number of ways to give n blocks their states so, shape (rows,)."""
    n = int(counts[0].sum())
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    return np.asarray(log_factorial[n] - log_factorial[counts].sum(axis=1))


def weighted_sum(times: IntArray, log_weight: FloatArray) -> FloatArray:
    """``times @ log_weight`` where a weight of −inf counts only if it is taken at least once."""
    finite = np.where(log_weight > -np.inf, log_weight, 0.0)
    impossible = times @ (log_weight == -np.inf).astype(np.int64) > 0
    return np.asarray(np.where(impossible, -np.inf, times @ finite))


def pairs_within(counts: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """States s ≤ t, and how many unordered pairs of blocks are in s and t, shape (rows, pairs)."""
    s, t = np.triu_indices(counts.shape[1])
    both = np.where(s == t, counts[:, s] * (counts[:, t] - 1) // 2, counts[:, s] * counts[:, t])
    return s, t, both


def falling(counts: IntArray, blocks: int) -> FloatArray:
    """P(the states of so many different blocks | counts), shape (rows, b, …, b)."""
    rows, b = counts.shape
    out: FloatArray = np.ones(rows)
    n = int(counts[0].sum())
    for k in range(blocks):
        earlier = np.indices((b,) * k).reshape(k, *(b,) * k)
        taken = np.stack([(earlier == s).sum(axis=0) for s in range(b)], axis=-1)
        left = counts.reshape(rows, *(1,) * k, b) - taken
        out = out[..., None] * np.maximum(left, 0) / (n - k)
    return out
