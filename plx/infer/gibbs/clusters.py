"""Clusters: unknowns that hard rules tie, directly or through others; alike ones found together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.graph.components import components
from plx.graph.model import FactorGraph
from plx.graph.ragged import segments, starts
from plx.graph.rows import unique_rows
from plx.graph.subgraph import subgraph
from plx.graph.worlds import input_owner
from plx.infer.problem import Parts
from plx.values import IntArray


@dataclass(frozen=True)
class Alike:
    """Clusters that differ in the numbers of their nodes only: ``graph`` is the one of any of them alone.

    Row i of ``variables`` [clusters, V of graph] names the variables of cluster i.
    """

    graph: FactorGraph
    variables: IntArray


def clusters(parts: Parts) -> list[Alike]:
    """The clusters of a graph, by likeness."""
    sub, variables = parts.hard_part
    label = components(sub, np.ones(sub.n_derived, dtype=bool))
    n = int(label.max(initial=-1)) + 1
    factors = _Stream(np.arange(sub.n_factors), label[sub.scope[sub.scope_start[:-1]]], n)
    own = _Stream(np.arange(sub.n_variables), label[: sub.n_variables], n)
    out = []
    for alike in _by_rows(_streams(sub, label, n)):
        part, _ = subgraph(sub, factors.rows(alike[:1])[0])
        out.append(Alike(part, variables[own.rows(alike)]))
    return out


class _Stream:
    """Values sorted by the cluster, one of n, that each belongs to."""

    def __init__(self, values: npt.NDArray[np.integer], label: IntArray, n: int) -> None:
        order = np.argsort(label, kind="stable")
        self._values = values[order].astype(np.int64)
        self.size = np.bincount(label, minlength=n)
        self._start = starts(self.size)

    def rows(self, which: IntArray) -> IntArray:
        """The values of clusters that have equally many, shape (clusters, values)."""
        size = self.size[which]
        return self._values[segments(self._start[which], size)].reshape(len(which), size[0])


def _streams(sub: FactorGraph, label: IntArray, n: int) -> list[_Stream]:
    """All that a cluster is, with its nodes numbered from 0."""
    local = np.empty(sub.n_nodes, dtype=np.int64)
    by_label = np.argsort(label, kind="stable")
    first = starts(np.bincount(label, minlength=n))
    local[by_label] = np.arange(sub.n_nodes) - first[label[by_label]]
    derived = label[sub.n_variables :]
    entry = derived[input_owner(sub)]
    factor = label[sub.scope[sub.scope_start[:-1]]]
    scope = np.repeat(factor, np.diff(sub.scope_start))
    return [
        _Stream(sub.card, label, n),
        _Stream(np.diff(sub.input_start), derived, n),
        _Stream(local[sub.input_node], entry, n),
        _Stream(sub.input_contribution, entry, n),
        _Stream(sub.output_of, derived, n),
        _Stream(np.diff(sub.scope_start), factor, n),
        _Stream(sub.table_of, factor, n),
        _Stream(local[sub.scope], scope, n),
    ]


def _by_rows(streams: list[_Stream]) -> Iterator[IntArray]:
    """Clusters with equal streams."""
    _, inverse = unique_rows(np.stack([stream.size for stream in streams], axis=1))
    for shape in range(int(inverse.max(initial=-1)) + 1):
        mine = np.flatnonzero(inverse == shape)
        rows = np.concatenate([stream.rows(mine) for stream in streams], axis=1)
        _, same = unique_rows(rows)
        order = np.argsort(same, kind="stable")
        yield from (mine[part] for part in np.split(order, np.cumsum(np.bincount(same))[:-1]))
