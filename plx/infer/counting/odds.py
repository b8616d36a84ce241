"""Members with weights of their own: how much weight all ways to have a histogram have together.

It is a coefficient of the product of one linear form per member, an elementary symmetric polynomial in their
odds where there are two cells. Arrays of logs [n + 1, …] have an axis for each cell but the last; n is how
many members there are at most, so that those of fewer have the same shape.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from plx import deadline
from plx.graph.sizes import from_bits
from plx.infer.counting.compositions import compositions
from plx.values import FloatArray, IntArray

Members = tuple[int, FloatArray]
"""How many members are alike, and the log weights [c] of the cells of one of them."""


def size(members: int, cells: int) -> float:
    """How many numbers an array has."""
    return float(members + 1) ** max(cells - 1, 0)


class OddsSize(NamedTuple):
    """What the products for n blocks of so many joint states take."""

    blocks: int
    states: float

    @property
    def whole(self) -> float:
        """Numbers of the product over all blocks."""
        return from_bits((self.states - 1) * math.log2(self.blocks + 1))

    @property
    def arrays(self) -> float:
        """Numbers that are held where single blocks are asked about, twice that for pairs."""
        return 2 * self.blocks * self.whole

    @property
    def operations(self) -> float:
        """Numbers touched for the product over all blocks, and all but each."""
        return 8 * self.whole * self.states * self.blocks * (1 + math.log2(self.blocks))


def steps(members: Sequence[Members], cells: int) -> float:
    """About how many numbers `product` adds."""
    whole = size(sum(count for count, _ in members), cells)
    return whole * sum(math.comb(count + cells - 1, cells - 1) for count, _ in members)


def one(n: int, cells: int) -> FloatArray:
    """The empty product, of at most n members."""
    shape = (n + 1,) * max(cells - 1, 0)
    logs = np.full(shape, -np.inf)
    logs[(0,) * len(shape)] = 0.0
    return logs


def product(members: Sequence[Members], cells: int) -> FloatArray:
    """The product of the forms of all members."""
    logs = one(sum(count for count, _ in members), cells)
    for count, own in members:
        deadline.check()
        logs = times(logs, count, own, cells)
    return logs


def times(logs: FloatArray, count: int, own: FloatArray, cells: int) -> FloatArray:
    """The product with the forms of some members that are alike."""
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, count + 1)))])
    out = np.full(logs.shape, -np.inf)
    for row in compositions(count, cells).tolist():
        if any(k and own[c] == -np.inf for c, k in enumerate(row)):
            continue
        weight = factorial[count] + sum(k * own[c] - factorial[k] for c, k in enumerate(row) if k)
        to = tuple(slice(k, None) for k in row[:-1])
        of = tuple(slice(0, n - k) for k, n in zip(row[:-1], logs.shape, strict=True))
        out[to] = np.logaddexp(out[to], logs[of] + weight)
    return out


def without_each(own: FloatArray, n: int) -> FloatArray:
    """The product of the forms of all members but one, for each of them: [members, n + 1, …].

    ``own`` [members, c] are their log weights. Halves are multiplied in turn, all of one size at once: there
    is no division, which would cancel.
    """
    count, cells = own.shape
    width = 1 << max(count - 1, 0).bit_length()
    last = np.where(np.arange(cells) == cells - 1, 0.0, -np.inf)  # a form that changes nothing
    groups = np.concatenate([own, np.tile(last, (width - count, 1))])[None]
    logs = one(n, cells)[None]
    while width > 1:
        width //= 2
        groups = groups.reshape(-1, 2, width, cells)
        others = groups[:, ::-1].reshape(-1, width, cells)
        groups = groups.reshape(-1, width, cells)
        logs = np.repeat(logs, 2, axis=0)
        for k in range(width):
            deadline.check()
            logs = _times_each(logs, others[:, k])
    return logs[:count]


def _times_each(logs: FloatArray, own: FloatArray) -> FloatArray:
    """Products [k, …] with the form [k, c] of one member each."""
    lead = (slice(None), *(None,) * (logs.ndim - 1))
    out: FloatArray = logs + own[:, -1][lead]
    for cell in range(own.shape[1] - 1):
        to: list[slice] = [slice(None)] * logs.ndim
        of = to.copy()
        to[1 + cell], of[1 + cell] = slice(1, None), slice(None, -1)
        out[tuple(to)] = np.logaddexp(out[tuple(to)], logs[tuple(of)] + own[:, cell][lead])
    return out


class Odds:
    """Blocks that weigh ``own`` [n, b], as logs, in each of their joint states."""

    def __init__(self, own: FloatArray) -> None:
        self.own = own
        self._left: dict[tuple[int, ...], dict[int, FloatArray]] = {}

    @cached_property
    def _whole(self) -> FloatArray:
        kinds, often = np.unique(self.own, axis=0, return_counts=True)
        return product([*zip(often.tolist(), kinds, strict=True)], self.own.shape[1])

    def logs(self, counts: IntArray) -> FloatArray:
        """The log weight of all ways to have each of some count vectors [rows, b]."""
        found: FloatArray = self._whole[tuple(counts.T[:-1])]
        return found

    def seen(self, counts: IntArray, blocks: Sequence[int]) -> FloatArray:
        """P(the states of these blocks | counts), shape (rows, b, …, b)."""
        rows, b = counts.shape
        if not blocks:
            return np.ones(rows)
        left = self._without(tuple(blocks))
        out = np.full((rows, *(b,) * len(blocks)), -np.inf)
        for states in itertools.product(range(b), repeat=len(blocks)):
            own = sum(float(self.own[block, state]) for block, state in zip(blocks, states, strict=True))
            rest = counts - np.bincount(states, minlength=b)
            possible = (rest >= 0).all(axis=1)
            out[(possible, *states)] = own + left[tuple(rest[possible].T[:-1])]
        whole = self.logs(counts).reshape(rows, *(1,) * len(blocks))
        p: FloatArray = np.exp(out - np.where(whole > -np.inf, whole, 0.0))
        return p

    def _without(self, blocks: tuple[int, ...]) -> FloatArray:
        """The product over all blocks but these; those of the last that was left out are kept."""
        *first, last = blocks
        key = tuple(first)
        if key not in self._left:
            self._left = {kept: arrays for kept, arrays in self._left.items() if not kept}
            n = len(self.own)
            others = [block for block in range(n) if block not in key]
            self._left[key] = dict(zip(others, without_each(self.own[others], n), strict=True))
        return self._left[key][last]
