"""A lower bound on what elimination needs, whatever the order, without searching for one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments
from plx.graph.rows import AnyInt, BoolArray
from plx.values import FloatArray, IntArray, distinct

_ROUNDS = 20
"""Where variables still fall out after so many rounds, nothing is said."""

_LEAST = 4096
"""Graphs of fewer factors are not looked at: an order for them is found as fast."""


_NEAR = 0.25
"""Bits by which the bound may be less than what this way of bounding gives."""


def surely_wider(graph: FactorGraph, bits: float, least: int = _LEAST) -> bool:
    """Whether every elimination order makes a clique of more than ``bits`` bits; False if that is not plain.

    If each of some variables has more than that together with those of them that it meets, the first to be
    eliminated makes such a clique: the degeneracy of a graph bounds its treewidth from below (Koster, Wolle &
    Bodlaender, Degree-based treewidth lower bounds, ESA 2005).
    """
    if graph.n_factors < least:
        return False
    size = np.log2(graph.card[: graph.n_variables])
    left = _core(size, bits, lambda weight: _met_with_repeats(graph, weight))
    if not left.any():
        return False
    one, other = _pairs(graph, left)
    return bool(_core(size * left, bits, lambda weight: _sums(one, weight[other], len(size))).any())


def least_bits(graph: FactorGraph) -> float:
    """The bits of a clique that every elimination order makes, or a little less."""
    size = np.log2(graph.card[: graph.n_variables])
    low, high = 0.0, min(float(size.sum()), float((size + _met_with_repeats(graph, size)).max(initial=0.0)))
    while high - low > _NEAR:
        middle = (low + high) / 2
        low, high = (middle, high) if surely_wider(graph, middle, least=0) else (low, middle)
    return low


def _core(size: FloatArray, bits: float, met: Callable[[FloatArray], FloatArray]) -> BoolArray:
    """The variables left when those are dropped, again and again, that with what they meet have few bits."""
    left = np.asarray(size > 0)
    for _ in range(_ROUNDS):
        kept = left & (size + met(size * left) > bits)
        if kept.sum() == left.sum():
            return kept
        left = kept
    return np.zeros_like(left)


def _met_with_repeats(graph: FactorGraph, weight: FloatArray) -> FloatArray:
    """The weight of the others in all factors of each variable: too much where they share several."""
    n = graph.n_variables
    own = np.concatenate([weight, np.zeros(graph.n_derived)])[graph.scope]
    whole = np.add.reduceat(own, graph.scope_start[:-1])
    others = np.repeat(whole, np.diff(graph.scope_start)) - own
    return _sums(graph.scope, others, graph.n_nodes)[:n]


def _sums(index: AnyInt, weight: FloatArray, n: int) -> FloatArray:
    return np.bincount(index, weight, n).astype(np.float64, copy=False)


def _pairs(graph: FactorGraph, left: BoolArray) -> tuple[IntArray, IntArray]:
    """All ordered pairs of variables left that share a factor, each once."""
    n = graph.n_variables
    entry = np.flatnonzero((graph.scope < n) & left[np.minimum(graph.scope, n - 1)])
    factor = owners(graph.scope_start)[entry]
    count = np.bincount(factor, minlength=graph.n_factors)
    first = np.cumsum(count) - count
    one = np.repeat(entry, count[factor])
    other = entry[segments(first[factor], count[factor])]
    keys = distinct(graph.scope[one].astype(np.int64) * n + graph.scope[other])
    a, b = np.divmod(keys, n)
    return a[a != b], b[a != b]
