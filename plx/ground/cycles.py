"""Conditional distributions must not go round in a circle: an order in which worlds could be drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plx.graph.assemble import FactorBatch
from plx.graph.derived import DerivedNodes
from plx.graph.ragged import owners, segments, starts
from plx.values import IntArray


def find_cycle(n_variables: int, derived: DerivedNodes, batches: Sequence[FactorBatch]) -> IntArray | None:
    """Variables each of which depends on the next, and the last on the first; None if there are none.

    The last node of every scope depends on the others. Nodes that depend on nothing that is left are taken
    away, layer by layer (Kahn 1962).
    """
    n = n_variables + len(derived.output_of)
    parent, child = _edges(n_variables, derived, batches)
    by_parent = np.argsort(parent, kind="stable")
    start, sorted_child = starts(np.bincount(parent, minlength=n)), child[by_parent]
    waiting = np.bincount(child, minlength=n)
    ready = np.flatnonzero(waiting == 0)
    left = np.ones(n, dtype=bool)
    while len(ready):
        left[ready] = False
        freed = sorted_child[segments(start[ready], start[ready + 1] - start[ready])]
        np.subtract.at(waiting, freed, 1)
        ready = np.unique(freed[waiting[freed] == 0])
    if not left.any():
        return None
    inside = left[parent] & left[child]
    return _walk(n_variables, parent[inside], child[inside])


def _edges(
    n_variables: int, derived: DerivedNodes, batches: Sequence[FactorBatch]
) -> tuple[IntArray, IntArray]:
    """What depends on what: pairs of a parent and a child, derived nodes among them."""
    parents = [batch.scope[:, :-1].ravel() for batch in batches]
    children = [np.repeat(batch.scope[:, -1], batch.scope.shape[1] - 1) for batch in batches]
    parents.append(derived.input_node)
    children.append(n_variables + owners(derived.input_start))
    return np.concatenate(parents).astype(np.int64), np.concatenate(children).astype(np.int64)


def _walk(n_variables: int, parent: IntArray, child: IntArray) -> IntArray:
    """A circle among edges of which every child has a parent: from child to parent until a node returns."""
    first_parent = dict(zip(child[::-1].tolist(), parent[::-1].tolist(), strict=True))
    path = [int(child[0])]
    seen = {path[0]: 0}
    while (node := first_parent[path[-1]]) not in seen:
        seen[node] = len(path)
        path.append(node)
    circle = np.array(path[seen[node] :], dtype=np.int64)
    return circle[circle < n_variables]
