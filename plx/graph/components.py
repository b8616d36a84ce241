"""Connected components."""

from __future__ import annotations

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners
from plx.graph.rows import AnyInt, BoolArray
from plx.graph.worlds import input_owner
from plx.values import IntArray


def components(graph: FactorGraph, live: BoolArray) -> IntArray:
    """A component number from 0 for every node, shape (V + D,); derived nodes that are not live get -1.

    Nodes of one scope are connected, and so is a live derived node with its inputs.
    """
    entry = np.flatnonzero(live[input_owner(graph)])
    factor = owners(graph.scope_start)
    a = np.concatenate([graph.scope, input_owner(graph)[entry] + graph.n_variables])
    b = np.concatenate([graph.scope[graph.scope_start[:-1]][factor], graph.input_node[entry]])
    label = smallest_reachable(graph.n_nodes, a, b)
    kept = np.concatenate([np.ones(graph.n_variables, dtype=bool), live])
    out = np.full(graph.n_nodes, -1, dtype=np.int64)
    out[kept] = np.unique(label[kept], return_inverse=True)[1]
    return out


def component_numbers(n: int, left: AnyInt, right: AnyInt) -> IntArray:
    """The connected component of each of n nodes with these edges, numbered from 0 by their first nodes."""
    first = smallest_reachable(n, left, right)
    return (np.cumsum(first == np.arange(n)) - 1)[first]


def smallest_reachable(n: int, left: AnyInt, right: AnyInt) -> IntArray:
    """The smallest node of the component of each of n nodes with these edges.

    By hooking and pointer jumping (Shiloach & Vishkin 1982): each round hooks trees to the smallest of their
    neighbours and makes them stars again. The rounds are few, so this keeps up with a compiled search.
    """
    root = np.arange(n)
    while len(left):
        np.minimum.at(root, np.maximum(left, right), np.minimum(left, right))
        while not np.array_equal(root, above := root[root]):
            root = above
        left, right = root[left], root[right]
        apart = left != right
        left, right = left[apart], right[apart]
    return root
