"""Terms worked out: log-sums over log-sums, and by how much each given log potential moves the last of them.

The derivatives are those of reverse accumulation: one pass forward, one pass back, whatever the number of
log potentials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plx.graph.ragged import starts
from plx.infer.counting.terms import LogSum, Terms
from plx.values import FloatArray, IntArray

_MANY_ROWS = 256
"""A log-sum over so many rows is a matrix product of its own: it is over counts, and its terms are few."""


class _Layer(NamedTuple):
    """Log-sums that need only terms of earlier layers, one after the other."""

    out: IntArray  # [m] the terms
    start: IntArray  # [m + 1] of their rows
    constant: FloatArray  # [rows]
    row: IntArray  # [entries]
    term: IntArray
    times: FloatArray

    def sums(self, value: FloatArray) -> FloatArray:
        """Σ times · value of the terms of each row."""
        return _sums(self.row, self.times * value[self.term], len(self.constant))

    def back(self, weight: FloatArray, size: int) -> FloatArray:
        """Σ weight · times of the rows of each term."""
        return _sums(self.term, weight[self.row] * self.times, size)

    def slopes(self, share: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The slopes of the log-sums by those of terms (size, K): their means over rows, and what is left
        of each row, as the columns of a first array and a map of these to the K."""
        columns = slopes.T[:, self.term] * self.times
        by_row = np.stack([np.bincount(self.row, one, len(self.constant)) for one in columns], axis=1)
        mean = np.add.reduceat(share[:, None] * by_row, self.start[:-1])
        return mean, by_row - np.repeat(mean, np.diff(self.start), axis=0), np.eye(slopes.shape[1])


class _Counted(NamedTuple):
    """One log-sum over many rows of the same terms, as a layer: ``counts`` (rows, T) is how often each of
    these is added."""

    out: IntArray  # [1]
    start: IntArray
    constant: FloatArray
    counts: FloatArray
    used: IntArray  # [T]

    def sums(self, value: FloatArray) -> FloatArray:
        return self.counts @ value[self.used]

    def back(self, weight: FloatArray, size: int) -> FloatArray:
        out = np.zeros(size)
        out[self.used] = weight @ self.counts
        return out

    def slopes(self, share: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        mean, by_term = share @ self.counts, slopes[self.used]
        return (mean @ by_term)[None], self.counts - mean, by_term


class LogSums:
    """A sum of terms as a function of the given ones. ``root`` are its terms and how often each is added."""

    def __init__(self, terms: Terms, root: Sequence[tuple[int, float]]) -> None:
        self._given, self._size = terms.given, terms.given + len(terms.made)
        self._root = np.array([term for term, _ in root], dtype=np.int64)
        self._root_times = np.array([times for _, times in root], dtype=np.float64)
        self._layers = _layers(terms, self._root)

    @property
    def n_rows(self) -> int:
        """How many rows are summed: what one evaluation costs."""
        return sum(len(layer.constant) for layer in self._layers)

    def __call__(self, given: FloatArray) -> tuple[float, FloatArray]:
        """The sum at these log potentials, and its derivatives by them; −∞ if no row is possible."""
        value, shares = self._forward(given)
        moved = self._root_moves()
        for layer, share in zip(reversed(self._layers), reversed(shares), strict=True):
            moved += layer.back(share * np.repeat(moved[layer.out], np.diff(layer.start)), self._size)
        return float(self._root_times @ value[self._root]), moved[: self._given]

    def second(self, given: FloatArray, along: FloatArray) -> FloatArray:
        """The second derivatives along K directions, ``along`` (given, K), shape (K, K).

        A log-sum adds the covariance of its rows' slopes, as often as it moves the root.
        """
        _, shares = self._forward(given)
        slopes = np.zeros((self._size, along.shape[1]))
        slopes[: self._given] = along
        spread = []
        for layer, share in zip(self._layers, shares, strict=True):
            slopes[layer.out], *rest = layer.slopes(share, slopes)
            spread.append(rest)
        moved = self._root_moves()
        out = np.zeros((along.shape[1], along.shape[1]))
        for layer, share, (centred, onto) in zip(
            reversed(self._layers), reversed(shares), reversed(spread), strict=True
        ):
            weight = share * np.repeat(moved[layer.out], np.diff(layer.start))
            moved += layer.back(weight, self._size)
            out += onto.T @ (centred.T @ (centred * weight[:, None])) @ onto
        return out

    def _root_moves(self) -> FloatArray:
        return _sums(self._root, self._root_times, self._size)

    def _forward(self, given: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """The value of every term, and the share of each row in its log-sum, layer by layer."""
        value = np.zeros(self._size)
        value[: self._given] = given
        shares = []
        for layer in self._layers:
            logs = layer.constant + layer.sums(value)
            top = np.maximum.reduceat(logs, layer.start[:-1])
            repeated = np.repeat(np.maximum(top, np.finfo(np.float64).min), np.diff(layer.start))
            powers = np.exp(logs - repeated)
            total = np.add.reduceat(powers, layer.start[:-1])
            with np.errstate(divide="ignore"):
                value[layer.out] = top + np.log(total)
            shares.append(
                powers / np.repeat(np.maximum(total, np.finfo(np.float64).tiny), np.diff(layer.start))
            )
        return value, shares


def _layers(terms: Terms, root: IntArray) -> list[_Layer | _Counted]:
    """The log-sums that the root needs, by their depth."""
    needed = set(root[root >= terms.given].tolist())
    depth: dict[int, int] = {}
    for term in range(terms.given + len(terms.made) - 1, terms.given - 1, -1):
        if term in needed:
            inner = terms.made[term - terms.given].term
            needed.update(np.unique(inner[inner >= terms.given]).tolist())
    for term in sorted(needed):
        inner = np.unique(terms.made[term - terms.given].term).tolist()
        depth[term] = 1 + max((depth.get(one, 0) for one in inner), default=0)
    deepest = max(depth.values(), default=0)
    out: list[_Layer | _Counted] = []
    for level in range(1, deepest + 1):
        sums = [(term, terms.made[term - terms.given]) for term in sorted(needed) if depth[term] == level]
        small = [one for one in sums if len(one[1].constant) < _MANY_ROWS]
        out += [_counted(*one) for one in sums if len(one[1].constant) >= _MANY_ROWS]
        out += [_layer(small)] if small else []
    return out


def _counted(term: int, one: LogSum) -> _Counted:
    n = len(one.constant)
    used, column = np.unique(one.term, return_inverse=True)
    counts = _sums(one.row * len(used) + column, one.times, n * len(used)).reshape(n, len(used))
    return _Counted(np.array([term]), starts([n]), one.constant, counts, used)


def _layer(sums: Sequence[tuple[int, LogSum]]) -> _Layer:
    start = starts([len(one.constant) for _, one in sums])
    return _Layer(
        np.array([term for term, _ in sums], dtype=np.int64),
        start,
        np.concatenate([one.constant for _, one in sums]),
        np.concatenate([one.row + first for (_, one), first in zip(sums, start[:-1], strict=True)]),
        np.concatenate([one.term for _, one in sums]),
        np.concatenate([one.times for _, one in sums]),
    )


def _sums(index: IntArray, parts: FloatArray, size: int) -> FloatArray:
    """The sums of parts by index 0 … size - 1."""
    return np.bincount(index, parts, size).astype(np.float64, copy=False)
