"""Ranks of a number's draws: normal scores of the values themselves, and of how far they are from the median.

Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021, *Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC*, §3 and §4. Draws of a number that has finitely many values
are told by how often each was drawn, so ranks, folded ranks and tails are functions of the value alone: what
counts in batches lose is only the order of draws within a batch. Draws of one value share the mean of their
ranks.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from plx.graph.ragged import owners
from plx.graph.rows import BoolArray
from plx.values import FloatArray, IntArray

TAILS = 0.05, 0.95
"""How far into the tails effective sizes are looked at, as in §4.3."""

_quantile_of_normal = np.vectorize(NormalDist().inv_cdf, otypes=[float])


class Scores(NamedTuple):
    """What each state of each number counts for, shape (Σ states,): its normal score, that of its distance
    from the median, and whether it is at most the quantile of a tail."""

    ranked: FloatArray
    folded: FloatArray
    tails: tuple[FloatArray, ...]


def scores(p: FloatArray, offset: IntArray, values: FloatArray, draws: float) -> Scores:
    """The scores of states that were drawn in shares ``p`` of so many draws; 0 where none was."""
    owner = owners(offset)
    share = np.clip(p, 0.0, None)
    share = share / np.add.reduceat(share, offset[:-1])[owner]  # to 1 in spite of rounding
    upto = _upto(share, owner, values)
    low, median, high = (
        _least(values, owner, upto >= q - 1e-12, len(offset) - 1) for q in (TAILS[0], 0.5, TAILS[1])
    )
    tails = tuple((values <= q[owner]).astype(np.float64) for q in (low, high))
    folded = _normal_scores(share, owner, np.abs(values - median[owner]), draws)
    return Scores(_normal_scores(share, owner, values, draws), folded, tails)


def _upto(share: FloatArray, owner: IntArray, values: FloatArray) -> FloatArray:
    """The share of what is at most each value, of its own number."""
    order, first, group = _groups(owner, values)
    total = np.add.reduceat(share[order], first)
    own = owner[order[first]]
    cumulated = np.cumsum(total)
    before = np.concatenate([[0.0], cumulated])[np.searchsorted(own, own)]
    upto = np.empty(len(share))
    upto[order] = (cumulated - before)[group]
    return upto


def _normal_scores(share: FloatArray, owner: IntArray, values: FloatArray, draws: float) -> FloatArray:
    """Φ⁻¹((r - 3/8) / (n + 1/4)) of the mean rank r of draws of each value, n draws in all (Blom 1958)."""
    order, first, group = _groups(owner, values)
    same = np.empty(len(share))
    same[order] = np.add.reduceat(share[order], first)[group]
    middle = _upto(share, owner, values) - same / 2
    drawn = share > 0
    place = (np.clip(middle[drawn], 0.0, 1.0) * draws + 0.125) / (draws + 0.25)
    out = np.zeros(len(share))
    if len(place):
        out[drawn] = _quantile_of_normal(place)
    return out


def _groups(owner: IntArray, values: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """States by number and value: their order, where each group of equal ones begins, and which it is."""
    order = np.lexsort((values, owner))
    head = np.append(True, (np.diff(owner[order]) != 0) | (np.diff(values[order]) != 0))
    return order, np.flatnonzero(head), np.cumsum(head) - 1


def _least(values: FloatArray, owner: IntArray, enough: BoolArray, numbers: int) -> FloatArray:
    """Of each number the least value that is enough."""
    least = np.full(numbers, np.inf)
    np.minimum.at(least, owner[enough], values[enough])
    return least
