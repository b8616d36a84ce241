"""Sums over histograms where members have weights of their own: elementary symmetric polynomials.

How much weight the members of one kind give to each histogram of cells, pairs aside, is a coefficient of the
product of one linear form per member (`plx.infer.counting.odds`), in O(n^c) for c cells, in place of a group
of its own for every member.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plx.infer.counting.odds import Members, product, size, steps
from plx.values import FloatArray, IntArray

__all__ = ["KindSum", "Members", "kind_sum", "log_weights", "size", "steps"]


@dataclass(frozen=True, eq=False)
class KindSum:
    """The histograms of one kind: ``counts`` [N, c], and the log of how much weight has each [N]."""

    counts: IntArray
    logs: FloatArray


def kind_sum(members: Sequence[Members], cells: int) -> KindSum:
    """The histograms of the members of a kind, each with the sum of the weights of all ways to have it."""
    logs = product(members, cells)
    n = sum(count for count, _ in members)
    shape = logs.shape
    counts = np.indices(shape).reshape(len(shape), -1).T if shape else np.zeros((1, 0), dtype=np.int64)
    last = n - counts.sum(axis=1)
    kept = np.flatnonzero((last >= 0) & np.isfinite(logs.ravel()))
    return KindSum(np.column_stack([counts, last])[kept].astype(np.int64), logs.ravel()[kept])


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
