"""Connected components."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.room import pieces
from plx.graph.rows import AnyInt, BoolArray
from plx.graph.worlds import input_owner
from plx.values import IntArray


def components(graph: FactorGraph, live: BoolArray) -> IntArray:
    """A component number from 0 for every node, shape (V + D,); derived nodes that are not live get -1.

    Nodes of one scope are connected, and so is a live derived node with its inputs.
    """
    label = _smallest(graph.n_nodes, lambda: _edges(graph, live))
    kept = np.concatenate([np.ones(graph.n_variables, dtype=bool), live])
    number = np.cumsum((label == np.arange(graph.n_nodes)) & kept) - 1
    return np.where(kept, number[label], -1)


def _edges(graph: FactorGraph, live: BoolArray) -> Iterator[tuple[AnyInt, AnyInt]]:
    """The first node of each scope with all of it, and inputs with live derived nodes, some at a time."""
    for part in pieces(graph.n_factors):
        start = graph.scope_start[part.start : part.stop + 1]
        scope = graph.scope[start[0] : start[-1]]
        yield np.repeat(scope[start[:-1] - start[0]], np.diff(start)), scope
    if graph.n_derived:
        entry = np.flatnonzero(live[input_owner(graph)])
        yield input_owner(graph)[entry] + graph.n_variables, graph.input_node[entry]


def component_numbers(n: int, left: AnyInt, right: AnyInt) -> IntArray:
    """The connected component of each of n nodes with these edges, numbered from 0 by their first nodes."""
    first = smallest_reachable(n, left, right)
    return (np.cumsum(first == np.arange(n)) - 1)[first]


def smallest_reachable(n: int, left: AnyInt, right: AnyInt) -> IntArray:
    """The smallest node of the component of each of n nodes with these edges."""
    return _smallest(n, lambda: iter([(left, right)]))


def _smallest(n: int, edges: Callable[[], Iterator[tuple[AnyInt, AnyInt]]]) -> IntArray:
    """The smallest node of the component of each of n nodes; ``edges`` gives them all, some at a time.

    By hooking and pointer jumping (Shiloach & Vishkin 1982): each round hooks trees to the smallest of their
    neighbours and makes them stars again. The rounds are few, so this keeps up with a compiled search.
    """
    root, hooked = np.arange(n), True
    while hooked:
        hooked = False
        for left, right in edges():
            a, b = root[left], root[right]
            apart = a != b
            if apart.any():
                a, b, hooked = a[apart], b[apart], True
                np.minimum.at(root, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(root, above := root[root]):
            root = above
    return root
