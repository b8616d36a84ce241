"""Sums over histograms where members have weights of their own: elementary symmetric polynomials.

How much weight the members of one kind give to each histogram of cells, pairs aside, is a coefficient of the
product of one linear form per member. The product is built up member by member, O(n^c) for c cells, in place
of a group of its own for every member.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plx.infer.counting.compositions import compositions
from plx.values import FloatArray, IntArray

Members = tuple[int, FloatArray]
"""How many members are alike, and the log weights [c] of the cells of one of them."""


@dataclass(frozen=True, eq=False)
class KindSum:
    """The histograms of one kind: ``counts`` [N, c], and the log of how much weight has each [N]."""

    counts: IntArray
    logs: FloatArray


def size(members: int, cells: int) -> float:
    """How many numbers the array of a kind has."""
    return float(members + 1) ** max(cells - 1, 0)


def kind_sum(members: Sequence[Members], cells: int) -> KindSum:
    """The histograms of the members of a kind, each with the sum of the weights of all ways to have it."""
    n = sum(count for count, _ in members)
    shape = (n + 1,) * max(cells - 1, 0)
    logs = np.full(shape, -np.inf)
    logs[(0,) * len(shape)] = 0.0
    for count, own in members:
        logs = _times(logs, count, own, cells)
    counts = np.indices(shape).reshape(len(shape), -1).T if shape else np.zeros((1, 0), dtype=np.int64)
    last = n - counts.sum(axis=1)
    kept = np.flatnonzero((last >= 0) & np.isfinite(logs.ravel()))
    return KindSum(np.column_stack([counts, last])[kept].astype(np.int64), logs.ravel()[kept])


def _times(logs: FloatArray, count: int, own: FloatArray, cells: int) -> FloatArray:
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


def steps(members: Sequence[Members], cells: int) -> float:
    """About how many numbers `kind_sum` adds."""
    whole = size(sum(count for count, _ in members), cells)
    return whole * sum(math.comb(count + cells - 1, cells - 1) for count, _ in members)


def log_weights(
    sums: Sequence[KindSum], pairs: dict[tuple[int, int], FloatArray]
) -> tuple[FloatArray, list[IntArray]]:
    """The log weight of every choice of a histogram for each kind, flat in C order, and which one each takes.

    ``pairs`` are the log weights [c, c'] between cells of two kinds, by their numbers.
    """
    sizes = [len(one.logs) for one in sums]
    which = [axis.ravel() for axis in np.indices(sizes)]
    total = np.zeros(math.prod(sizes))
    for one, at in zip(sums, which, strict=True):
        total = total + one.logs[at]
    for (a, b), weights in pairs.items():
        left, right = sums[a].counts[which[a]], sums[b].counts[which[b]]
        for c, d in itertools.product(range(weights.shape[0]), range(weights.shape[1])):
            if a == b and d < c:
                continue
            within = a == b and c == d
            often = left[:, c] * (left[:, c] - 1) // 2 if within else left[:, c] * right[:, d]
            if weights[c, d] == -np.inf:
                total[often > 0] = -np.inf
            else:
                total += often * weights[c, d]
    return total, which
