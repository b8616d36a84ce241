"""Connected components of a factor graph."""

from __future__ import annotations

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners
from plx.graph.worlds import input_owner
from plx.values import IntArray

BoolArray = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def live_derived(graph: FactorGraph, seeds: IntArray | None = None) -> BoolArray:
    """Which derived nodes feed a factor, or one of the nodes ``seeds``; shape (D,)."""
    live = np.zeros(graph.n_nodes, dtype=bool)
    live[graph.scope] = True
    if seeds is not None:
        live[seeds] = True
    owner = input_owner(graph) + graph.n_variables
    while True:
        reached = graph.input_node[live[owner]]
        if live[reached].all():
            return live[graph.n_variables :]
        live[reached] = True


def components(graph: FactorGraph, live: BoolArray) -> IntArray:
    """A component number from 0 for every node, shape (V + D,); derived nodes that are not live get -1.

    Nodes of one scope are connected, and so is a live derived node with its inputs.
    """
    entry = np.flatnonzero(live[input_owner(graph)])
    factor = owners(graph.scope_start)
    a = np.concatenate([graph.scope, input_owner(graph)[entry] + graph.n_variables])
    b = np.concatenate([graph.scope[graph.scope_start[:-1]][factor], graph.input_node[entry]])
    label = smallest_reachable(graph.n_nodes, a.astype(np.int64), b.astype(np.int64))
    kept = np.concatenate([np.ones(graph.n_variables, dtype=bool), live])
    out = np.full(graph.n_nodes, -1, dtype=np.int64)
    out[kept] = np.unique(label[kept], return_inverse=True)[1]
    return out


def smallest_reachable(n: int, a: IntArray, b: IntArray) -> IntArray:
    """Per node the smallest node of its component: hooking and pointer jumping."""
    label = np.arange(n)
    while True:
        low = np.minimum(label[a], label[b])
        hooked = label.copy()
        np.minimum.at(hooked, label[a], low)
        np.minimum.at(hooked, label[b], low)
        while not np.array_equal(hooked, hooked[hooked]):
            hooked = hooked[hooked]
        if np.array_equal(hooked, label):
            return label
        label = hooked
