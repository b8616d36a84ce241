"""Sums of logs where counts of 0 make nothing of −inf."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.values import FloatArray, IntArray


def times(counts: IntArray, logs: FloatArray) -> FloatArray:
    """``counts * logs``, 0 where the count is."""
    with np.errstate(invalid="ignore"):
        found: FloatArray = np.where(counts > 0, counts * logs, 0.0)
    return found


class Pairs:
    """Log weights [C, C] between two elements of any cells, symmetric: ``finite`` has 0 in the place of -inf,
    and ``never`` 1 there."""

    def __init__(self, logs: FloatArray) -> None:
        self.logs = logs
        self.finite = np.where(np.isfinite(logs), logs, 0.0)
        self.never = np.where(logs == -np.inf, 1.0, 0.0)

    def within(self, counts: IntArray) -> FloatArray:
        """The log weights [N] of all pairs among so many of each cell, ``counts`` [N, C]."""
        h = counts.astype(np.float64)
        parts = [((h @ m) * h).sum(axis=1) - h @ np.diag(m) for m in (self.finite, self.never)]
        return np.where(parts[1] > 0, -np.inf, 0.5 * parts[0])

    def between(self, counts: IntArray, others: IntArray) -> FloatArray:
        """The log weights [N] of all pairs of one of some and one of others."""
        a, b = counts.astype(np.float64), others.astype(np.float64)
        parts = [((a @ m) * b).sum(axis=1) for m in (self.finite, self.never)]
        return np.where(parts[1] > 0, -np.inf, parts[0])

    def between_one(self, cell: int, others: IntArray) -> FloatArray:
        """The log weights [N] of all pairs of one element of a cell and one of others."""
        found: FloatArray = times(others, self.logs[cell]).sum(axis=1)
        return found


def log_product(a: FloatArray, b: FloatArray) -> FloatArray:
    """The log of the product of vectors [N, S] of logs with a matrix [S, T] of logs."""
    found: FloatArray = np.logaddexp.reduce(a[:, :, None] + b[None], axis=1)
    return found


def log_power(vectors: FloatArray, matrix: FloatArray, exponents: npt.NDArray[np.int64]) -> FloatArray:
    """Vectors [N, S] of logs, each times a power of a matrix [S, S] of logs."""
    left = exponents.copy()
    while left.any():
        odd = (left & 1).astype(bool)
        if odd.any():
            vectors = np.where(odd[:, None], log_product(vectors, matrix), vectors)
        left >>= 1
        if left.any():
            matrix = log_product(matrix, matrix)
    return vectors
