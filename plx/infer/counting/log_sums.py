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


class _Layer(NamedTuple):
    """Log-sums that need only terms of earlier layers, one after the other."""

    out: IntArray  # [m] the terms
    start: IntArray  # [m + 1] of their rows
    constant: FloatArray  # [rows]
    row: IntArray  # [entries]
    term: IntArray
    times: FloatArray


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
            by_row = share * np.repeat(moved[layer.out], np.diff(layer.start))
            moved += np.bincount(layer.term, by_row[layer.row] * layer.times, self._size)
        return float(self._root_times @ value[self._root]), moved[: self._given]

    def second(self, given: FloatArray, along: FloatArray) -> FloatArray:
        """The second derivatives along K directions, ``along`` (given, K), shape (K, K).

        A log-sum adds the covariance of its rows' slopes, as often as it moves the root.
        """
        _, shares = self._forward(given)
        slopes = np.zeros((self._size, along.shape[1]))
        slopes[: self._given] = along
        centred = []
        for layer, share in zip(self._layers, shares, strict=True):
            columns = slopes.T[:, layer.term] * layer.times
            by_row = np.stack([np.bincount(layer.row, one, len(layer.constant)) for one in columns], axis=1)
            mean = np.add.reduceat(share[:, None] * by_row, layer.start[:-1])
            slopes[layer.out] = mean
            centred.append(by_row - np.repeat(mean, np.diff(layer.start), axis=0))
        moved = self._root_moves()
        out = np.zeros((along.shape[1], along.shape[1]))
        for layer, share, slope in zip(
            reversed(self._layers), reversed(shares), reversed(centred), strict=True
        ):
            weight = share * np.repeat(moved[layer.out], np.diff(layer.start))
            moved += np.bincount(layer.term, weight[layer.row] * layer.times, self._size)
            out += slope.T @ (slope * weight[:, None])
        return out

    def _root_moves(self) -> FloatArray:
        return np.bincount(self._root, self._root_times, self._size).astype(np.float64)

    def _forward(self, given: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """The value of every term, and the share of each row in its log-sum, layer by layer."""
        value = np.zeros(self._size)
        value[: self._given] = given
        shares = []
        for layer in self._layers:
            logs = layer.constant + np.bincount(
                layer.row, layer.times * value[layer.term], len(layer.constant)
            )
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


def _layers(terms: Terms, root: IntArray) -> list[_Layer]:
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
    return [
        _layer([(term, terms.made[term - terms.given]) for term in sorted(needed) if depth[term] == level])
        for level in range(1, deepest + 1)
    ]


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
