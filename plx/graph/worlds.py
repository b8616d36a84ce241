"""Whole worlds at once: states of derived nodes and log weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments
from plx.values import FloatArray, IntArray

_CHUNK = 1 << 21
"""Numbers that a step may hold at once."""


def node_states(graph: FactorGraph, states: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """States of variables and derived nodes, shape (V + D, n), from those of the variables, (V, n)."""
    nodes = np.zeros((graph.n_nodes, states.shape[1]), dtype=np.int32)
    nodes[: graph.n_variables] = states
    depth = derived_depth(graph)
    for level in range(1, int(depth.max(initial=0)) + 1):
        _fill_derived(graph, nodes, np.flatnonzero(depth == level))
    return nodes


def log_weights(graph: FactorGraph, nodes: npt.NDArray[np.int32]) -> FloatArray:
    """The log weight of each world, shape (n,), from the states of all nodes, shape (V + D, n)."""
    total = np.zeros(nodes.shape[1])
    for _, entry in _entries(graph, nodes):
        total += graph.table[entry].sum(axis=0)
    return total


def entries(graph: FactorGraph, nodes: npt.NDArray[np.int32]) -> IntArray:
    """The table entry that each factor has in each world, shape (F, n), from the states of all nodes."""
    out = np.empty((graph.n_factors, nodes.shape[1]), dtype=np.int64)
    for factors, entry in _entries(graph, nodes):
        out[factors] = entry
    return out


def _entries(graph: FactorGraph, nodes: npt.NDArray[np.int32]) -> Iterator[tuple[IntArray, IntArray]]:
    """Some factors at a time, and their entries."""
    arity = np.diff(graph.scope_start)
    step = max(1, _CHUNK // max(1, nodes.shape[1]))
    for size in np.unique(arity):
        alike = np.flatnonzero(arity == size)
        for first in range(0, len(alike), step):
            factors = alike[first : first + step]
            begin, entry = graph.scope_start[factors], np.zeros((1, 1), dtype=np.int64)
            for position in range(size):
                node = graph.scope[begin + position]
                entry = entry * graph.card[node][:, None] + nodes[node]
            yield factors, graph.table_start[graph.table_of[factors]][:, None] + entry


def scope_strides(graph: FactorGraph) -> IntArray:
    """The step in its factor's table that one more in a scope entry's state makes, shape of ``scope``."""
    return run_strides(graph.card[graph.scope], graph.scope_start)


def run_strides(sizes: npt.NDArray[np.integer], start: IntArray) -> IntArray:
    """Strides in C order of arrays whose shapes are the runs of ``sizes`` between ``start``."""
    strides = np.ones(len(sizes), dtype=np.int64)
    counts = np.diff(start)
    for back in range(1, int(counts.max(initial=0))):
        at = start[1:][counts > back] - 1 - back
        strides[at] = strides[at + 1] * sizes[at + 1]
    return strides


def derived_depth(graph: FactorGraph) -> IntArray:
    """1 for derived nodes over variables, else one more than the deepest derived input; shape (D,)."""
    depth = np.ones(graph.n_derived, dtype=np.int64)
    entry = np.flatnonzero(graph.input_node >= graph.n_variables)
    owner = input_owner(graph)[entry]
    source = graph.input_node[entry] - graph.n_variables
    while True:
        deeper = depth.copy()
        np.maximum.at(deeper, owner, depth[source] + 1)
        if np.array_equal(deeper, depth):
            return depth
        depth = deeper


def input_owner(graph: FactorGraph) -> IntArray:
    """The derived node (from 0) of each input entry, shape (E,)."""
    return owners(graph.input_start)


def derived_totals(
    graph: FactorGraph, nodes: npt.NDArray[np.integer], derived: IntArray
) -> npt.NDArray[np.int32]:
    """The sums behind derived nodes (numbered from 0), shape (derived, n), from states of all nodes."""
    counts = np.diff(graph.input_start)[derived]
    totals = np.zeros((len(derived), nodes.shape[1]), dtype=np.int32)
    filled = np.flatnonzero(counts)
    step = max(1, _CHUNK // max(1, nodes.shape[1]))
    group = (np.cumsum(counts[filled]) - 1) // step
    for g in np.unique(group):
        part = filled[group == g]
        sizes = counts[part]
        entries = segments(graph.input_start[derived[part]], sizes)
        first = graph.contribution_start[graph.input_contribution[entries]][:, None]
        added = graph.contribution[first + nodes[graph.input_node[entries]]]
        totals[part] = np.add.reduceat(added, np.cumsum(sizes) - sizes, axis=0)
    return totals


def _fill_derived(graph: FactorGraph, nodes: npt.NDArray[np.int32], derived: IntArray) -> None:
    at = graph.output_start[graph.output_of[derived]][:, None] + derived_totals(graph, nodes, derived)
    nodes[graph.n_variables + derived] = graph.output[at]
