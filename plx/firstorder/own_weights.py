"""Sums over histograms where members have weights of their own: elementary symmetric polynomials.

How much weight the members of one kind give to each histogram of cells, pairs aside, is a coefficient of the
product of one linear form per member. The product is built up member by member, O(n^c) for c cells, in place
of a group of its own for every member.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plx.infer.counting.compositions import compositions
from plx.infer.counting.odds import Members, product
from plx.values import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class KindSum:
    """The histograms of one kind: ``counts`` [N, c], and the log of how much weight has each [N]."""

    counts: IntArray
    logs: FloatArray


def kind_sum(members: Sequence[Members], cells: int) -> KindSum:
    """The histograms of the members of a kind, each with the sum of the weights of all ways to have it."""
    if len(members) == 1:
        return _alike(*members[0])
    n = sum(count for count, _ in members)
    logs = product(members, cells)
    shape = logs.shape
    counts = np.indices(shape).reshape(len(shape), -1).T if shape else np.zeros((1, 0), dtype=np.int64)
    last = n - counts.sum(axis=1)
    kept = np.flatnonzero((last >= 0) & np.isfinite(logs.ravel()))
    return KindSum(np.column_stack([counts, last])[kept].astype(np.int64), logs.ravel()[kept])


def _alike(count: int, own: FloatArray) -> KindSum:
    """The histograms of members that are alike."""
    possible = np.flatnonzero(np.isfinite(own))
    if not len(possible):
        return KindSum(np.zeros((0, len(own)), dtype=np.int64), np.zeros(0))
    rows = compositions(count, len(possible))
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, count + 1)))])
    counts = np.zeros((len(rows), len(own)), dtype=np.int64)
    counts[:, possible] = rows
    return KindSum(counts, factorial[count] + rows @ own[possible] - factorial[rows].sum(axis=1))


def log_sums_by(index: IntArray, logs: FloatArray, size: int) -> FloatArray:
    """Log sums of numbers by an index below ``size``."""
    largest = np.full(size, -np.inf)
    np.maximum.at(largest, index, logs)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    sums = np.bincount(index, np.exp(logs - shift[index]), size)
    with np.errstate(divide="ignore"):
        found: FloatArray = shift + np.log(sums)
    return found
