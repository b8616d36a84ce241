"""Sums over the partitions of a set into blocks, where a partition weighs what each two of its elements do.

The block that holds the last element of a set is chosen first: Z(S) = Σ over blocks B of S that hold it of
w(B) Z(S \\ B), for all subsets S of the elements (the recurrence of the Bell numbers, by weight). For each
last element that is a subset convolution, and takes 3^k products for k elements before it. All in logs.

A block is a mask of bits, bit i for element i. Weights of a pair are those of being together, less those of
being apart; -inf keeps it apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plx import deadline
from plx.infer.exact.drawing import drawn
from plx.values import FloatArray, IntArray

_TOGETHER = 1 << 20
"""Sums that are split in three at once: more are split one after the other."""

Combine = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class SetPartitions:
    """The partitions of n elements, by the symmetric log weights of pairs, shape (n, n)."""

    pair: FloatArray

    @property
    def n(self) -> int:
        """How many elements there are."""
        return len(self.pair)

    @cached_property
    def block(self) -> FloatArray:
        """The log weight of each block, shape (2^n,)."""
        block = np.zeros(1)
        for i in range(self.n):
            joined = np.zeros(1)  # of element i with each subset of those before it
            for j in range(i):
                joined = np.concatenate([joined, joined + self.pair[i, j]])
            block = np.concatenate([block, block + joined])
        return block

    @cached_property
    def inside(self) -> FloatArray:
        """The log of the sum over all partitions of each subset, shape (2^n,)."""
        return self._over_blocks(1, np.logaddexp)[:, 0]

    @property
    def log_sum(self) -> float:
        """The log of the sum over all partitions; -inf is not possible, as all may be apart."""
        return float(self.inside[-1])

    @cached_property
    def together(self) -> FloatArray:
        """The probability that two elements are in one block, shape (n, n)."""
        p = np.exp(self.block + self.inside[::-1] - self.log_sum)  # the rest of mask m is at 2^n - 1 - m
        p[0] = 0.0
        has = ((np.arange(len(p))[:, None] >> np.arange(self.n)) & 1).astype(np.float64)
        return np.clip(has.T @ (p[:, None] * has), 0.0, 1.0)

    def draw(self, count: int, random: np.random.Generator) -> IntArray:
        """Independent partitions: the block of each element, shape (n, count), as a mask."""
        out = np.zeros((self.n, count), dtype=np.int64)
        waiting = {2**self.n - 1: np.arange(count)}
        while waiting:
            deadline.check()
            largest = max(waiting)
            worlds = waiting.pop(largest)
            blocks = _with_last(largest)
            chosen = blocks[drawn(self.block[blocks] + self.inside[largest ^ blocks], len(worlds), random)]
            _enter(out, worlds, chosen)
            for block in np.unique(chosen).tolist():
                if rest := largest ^ block:
                    mine = worlds[chosen == block]
                    waiting[rest] = np.concatenate([waiting[rest], mine]) if rest in waiting else mine
        return out

    def best(self, count: int) -> tuple[IntArray, FloatArray]:
        """The partitions of the largest weights, largest first, as `draw` gives them, and the weights."""
        best = self._over_blocks(count, _largest)
        found = int((best[-1] > -np.inf).sum())
        out = np.zeros((self.n, found), dtype=np.int64)
        for world in range(found):
            deadline.check()
            left, rank = 2**self.n - 1, world
            while left:
                blocks = _with_last(left)
                weights = (self.block[blocks][:, None] + best[left ^ blocks]).ravel()
                at, rank = divmod(int(np.argsort(-weights, kind="stable")[rank]), count)
                _enter(out, np.array([world]), blocks[at : at + 1])
                left ^= int(blocks[at])
        return out, best[-1, :found]

    def _over_blocks(self, count: int, combine: Combine) -> FloatArray:
        """The ``count`` numbers of each subset, shape (2^n, count), where ``combine`` joins those of some
        partitions of it with those of others."""
        total = np.full((2**self.n, count), -np.inf)
        total[0, 0] = 0.0
        for i in range(self.n):
            first, end = 1 << i, 2 << i
            total[first:end] = _convolved(self.block[first:end, None], total[:first], combine)
        return total


def _convolved(blocks: FloatArray, rest: FloatArray, combine: Combine) -> FloatArray:
    """Of each set [..., 2^k, count] what blocks [..., 2^k, 1] within it come to, with the rest of the set."""
    half = blocks.shape[-2] // 2
    if not half:
        return blocks + rest
    deadline.check()
    without, within = blocks[..., :half, :], blocks[..., half:, :]
    left, full = rest[..., :half, :], rest[..., half:, :]
    pairs = (without, left), (within, left), (without, full)
    if rest.size > _TOGETHER:
        none, one, other = (_convolved(*pair, combine) for pair in pairs)
    else:
        none, one, other = _convolved(
            np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs]), combine
        )
    return np.concatenate([none, combine(one, other)], axis=-2)


def _largest(one: FloatArray, other: FloatArray) -> FloatArray:
    """The largest of both, largest first, as many as each has."""
    both: FloatArray = -np.sort(-np.concatenate([one, other], axis=-1), axis=-1)
    return both[..., : one.shape[-1]]


def _with_last(elements: int) -> IntArray:
    """The subsets of a set that hold its last element."""
    last = elements.bit_length() - 1
    subsets = np.array([1 << last], dtype=np.int64)
    for i in range(last):
        if elements >> i & 1:
            subsets = np.concatenate([subsets, subsets | 1 << i])
    return subsets


def _enter(out: IntArray, worlds: IntArray, blocks: IntArray) -> None:
    """Enter the block of each of some worlds at all of its elements."""
    for i in range(len(out)):
        mine = blocks >> i & 1 == 1
        out[i, worlds[mine]] = blocks[mine]


def contracted(pair: FloatArray, labels: IntArray) -> tuple[SetPartitions, float]:
    """The partitions in which elements of equal labels [n] are together, and the log weight of that.

    Labels are 0, 1, …; -inf between elements of one label makes the weight -inf.
    """
    of = np.eye(int(labels.max(initial=-1)) + 1)[labels]
    finite = np.where(np.isfinite(pair), pair, 0.0)
    never = of.T @ np.isinf(pair) @ of > 0
    merged = np.where(never, -np.inf, of.T @ finite @ of)
    inner = -np.inf if never.diagonal().any() else float(np.trace(merged)) / 2
    np.fill_diagonal(merged, 0.0)
    return SetPartitions(merged), inner


def labellings(n: int) -> Iterator[IntArray]:
    """All partitions of n elements, each as labels 0, 1, … in the order in which they come up."""
    labels, highest = np.zeros(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    while True:
        yield labels.copy()
        i = n - 1
        while i > 0 and labels[i] > highest[i - 1]:
            i -= 1
        if i <= 0:
            return
        labels[i] += 1
        labels[i + 1 :] = 0
        highest[i:n] = max(highest[i - 1], labels[i])
