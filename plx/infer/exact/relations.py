"""Relations of a factor graph that are partitions, with the factors about single pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners
from plx.graph.rows import BoolArray
from plx.infer.exact.set_partitions import SetPartitions, contracted, labellings
from plx.infer.hard.partitions import Partition, partitions
from plx.infer.problem import Parts
from plx.values import FloatArray, IntArray

_PER_SUM = 20.0
"""Operations that each of 3^n / 2 sums takes, in table entries read;"""

_PER_CALL = 5e5
"""and those of the calls, however few elements there are."""


@dataclass(frozen=True, eq=False)
class Relation:
    """``edge`` [n, n]: the variable that says whether two elements are together, -1: they are apart.
    ``single`` [n, n]: the factor about that variable alone, -1: none. ``factors``: all that are about it."""

    edge: IntArray
    single: IntArray
    factors: IntArray

    @property
    def n(self) -> int:
        """How many elements there are."""
        return len(self.edge)

    @property
    def nodes(self) -> IntArray:
        """The variables."""
        return self.edge[self._pairs]

    @property
    def operations(self) -> float:
        """What one sum over all partitions takes, about."""
        return operations(self.n)

    @property
    def memory(self) -> float:
        """Bytes held at once, about: masks as bits, twice, and what is being summed."""
        return 8.0 * (2.0**self.n * (2 * self.n + 8) + 2.0**23)

    def weighed(self, graph: FactorGraph) -> tuple[SetPartitions, float]:
        """The partitions by the tables of a graph, and the weight of the one in which all are apart."""
        table = np.append(graph.table, [0.0, 0.0])
        at = np.where(self.single >= 0, graph.table_start[graph.table_of[self.single]], len(graph.table))
        together = np.where(self.edge >= 0, table[at + 1] - table[at], -np.inf)
        np.fill_diagonal(together, 0.0)
        return SetPartitions(together), float(table[at[self._pairs]].sum())

    def states(self, block: IntArray) -> IntArray:
        """The states of ``nodes`` in worlds, from something that tells blocks apart, shape (n, worlds)."""
        first, second = np.nonzero(self._pairs)
        same: IntArray = (block[first] == block[second]).astype(np.int32)
        return same

    def of_pairs(self, matrix: FloatArray) -> FloatArray:
        """The entries of a matrix [n, n] for ``nodes``."""
        entries: FloatArray = matrix[self._pairs]
        return entries

    @cached_property
    def _pairs(self) -> BoolArray:
        pairs: BoolArray = np.triu(self.edge >= 0, 1)
        return pairs

    def elements(self, nodes: IntArray) -> IntArray:
        """The elements that some of its variables are about."""
        return np.flatnonzero(np.isin(self.edge, nodes).any(axis=1))


def operations(n: int) -> float:
    """What a sum over the partitions of n elements takes, about."""
    return _PER_CALL + _PER_SUM * 3.0**n / 2


def parted(whole: SetPartitions, elements: IntArray) -> Iterator[tuple[IntArray, float]]:
    """All ways in which some elements may be parted: labels of all elements [n], by which these are told
    apart, and the log weight."""
    n, k = whole.n, len(elements)
    others = np.setdiff1d(np.arange(n), elements)
    for found in labellings(k):
        labels = np.empty(n, dtype=np.int64)
        labels[elements] = found
        labels[others] = found.max(initial=-1) + 1 + np.arange(n - k)
        pair = whole.pair.copy()
        apart = found[:, None] != found
        pair[np.ix_(elements, elements)] = np.where(apart, -np.inf, pair[np.ix_(elements, elements)])
        rest, inner = contracted(pair, labels)
        yield labels, inner + rest.log_sum if inner > -np.inf else -np.inf


def parting_operations(n: int, k: int) -> float:
    """What it takes to go through all ways in which k of n elements may be parted."""
    return math.fsum(count * operations(n - k + blocks) for blocks, count in enumerate(_stirling(k)))


def partings(k: int) -> float:
    """How many ways there are to part k elements."""
    return math.fsum(_stirling(k))


def _stirling(k: int) -> list[float]:
    """How many partitions of k elements have 0, 1, … k blocks (Stirling numbers of the second kind)."""
    row = [1.0]
    for _ in range(k):
        row = [b * x + y for b, (x, y) in enumerate(zip([*row, 0.0], [0.0, *row], strict=True))]
    return row


def relations(parts: Parts) -> tuple[list[Relation], IntArray]:
    """The relations of a graph that are partitions, and the factors about several of their variables that are
    not what makes them so."""
    found = list(partitions(parts.graph, parts.hard_factors))
    made = [_relation(parts.graph, one) for one in found]
    on_pairs = dependent(parts.graph, made)
    touching = np.unique(owners(parts.graph.scope_start)[on_pairs[parts.graph.scope]])
    return made, np.setdiff1d(touching, np.concatenate([*(one.factors for one in made), touching[:0]]))


def dependent(graph: FactorGraph, found: Iterable[Relation]) -> BoolArray:
    """Which nodes depend on pairs, shape (V + D,)."""
    out = np.zeros(graph.n_nodes, dtype=bool)
    for one in found:
        out[one.nodes] = True
    for d in range(graph.n_derived):
        out[graph.n_variables + d] = out[graph.inputs_of(d)[0]].any()
    return out


def _relation(graph: FactorGraph, found: Partition) -> Relation:
    edge = found.edge
    variables = np.unique(edge[edge >= 0])
    arity = np.diff(graph.scope_start)
    single = np.full(graph.n_nodes + 1, -1, dtype=np.int64)  # the last is that of no edge
    alone = np.flatnonzero(arity == 1)
    single[graph.scope[graph.scope_start[alone]]] = alone
    of_edge = np.where(edge >= 0, single[edge], -1)
    pairs = np.flatnonzero(arity == 2)
    scope = graph.scope[graph.scope_start[pairs][:, None] + np.arange(2)].reshape(-1, 2)
    apart = np.isin(scope[:, 0] * graph.n_nodes + scope[:, 1], list(_kept_apart(edge, graph.n_nodes)))
    own = single[variables]
    return Relation(edge, of_edge, np.concatenate([found.factors, pairs[apart], own[own >= 0]]))


def _kept_apart(edge: IntArray, base: int) -> Iterator[int]:
    """Two edges to one element from two that are apart may not both hold: both as one number."""
    for a, b in np.argwhere(np.triu(edge < 0, 1)).tolist():
        for c in np.flatnonzero((edge[a] >= 0) & (edge[b] >= 0)).tolist():
            low, high = sorted((int(edge[a, c]), int(edge[b, c])))
            yield low * base + high
