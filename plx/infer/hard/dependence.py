"""Which variables some factors depend on, and along how many ways."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plx.graph.joins import Lookup
from plx.graph.model import FactorGraph
from plx.graph.subgraph import reached, scope_entries
from plx.graph.worlds import input_owner
from plx.values import IntArray


class Ways(NamedTuple):
    """Pairs sorted by owner and then variable: the owner depends on the variable through ``number`` of its
    nodes (those of a factor's scope, or the inputs of a derived node). ``key`` is owner * V + variable."""

    owner: IntArray
    variable: IntArray
    number: IntArray
    key: IntArray

    def of(self, key: IntArray) -> IntArray:
        """The numbers of some pairs that are there, by key."""
        return self.number[np.searchsorted(self.key, key)]


def dependence(graph: FactorGraph, factors: IntArray) -> tuple[Ways, Ways]:
    """What some factors, by position, and the derived nodes below them, from 0, depend on."""
    n = max(1, graph.n_variables)
    used = np.flatnonzero(reached(graph, factors)[graph.n_variables :])
    entry = np.flatnonzero(np.isin(input_owner(graph), used))
    owner, source = input_owner(graph)[entry], graph.input_node[entry].astype(np.int64)
    derived = _ways(graph, owner, source, _closure(graph, owner, source))
    place, position = scope_entries(graph, factors)
    pairs = derived.owner * n + derived.variable
    return _ways(graph, position, graph.scope[place].astype(np.int64), pairs), derived


def _closure(graph: FactorGraph, owner: IntArray, source: IntArray) -> IntArray:
    """All derived * V + variable such that the derived node depends on the variable, sorted."""
    n = max(1, graph.n_variables)
    direct = source < graph.n_variables
    above = Lookup(source[~direct] - graph.n_variables, max(1, graph.n_derived))
    found = fresh = np.unique(owner[direct] * n + source[direct])
    while len(fresh):
        at, edge = above.join(fresh // n)
        fresh = np.setdiff1d(owner[~direct][edge] * n + fresh[at] % n, found)
        found = np.union1d(found, fresh)
    return found


def _ways(graph: FactorGraph, owner: IntArray, node: IntArray, pairs: IntArray) -> Ways:
    """Pairs of owners with what their nodes are or depend on; ``pairs`` are those of derived nodes."""
    n = max(1, graph.n_variables)
    direct = node < graph.n_variables
    at, pair = Lookup(pairs // n, max(1, graph.n_derived)).join(node[~direct] - graph.n_variables)
    keys = np.concatenate([owner[direct] * n + node[direct], owner[~direct][at] * n + pairs[pair] % n])
    key, number = np.unique(keys, return_counts=True)
    return Ways(key // n, key % n, number, key)
