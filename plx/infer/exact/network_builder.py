"""Networks under construction: nodes and functions are added to those of a factor graph."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import entries_of, owners, starts
from plx.infer.exact.network import Network
from plx.values import IntArray

_EMPTY = np.empty(0, dtype=np.int64)


@dataclass
class NetworkBuilder:
    """A network in the making. ``node`` maps nodes of the graph to those of the network, or -1.

    A function remembers the derived node that it serves: that sorts inputs before outputs.
    """

    graph: FactorGraph
    node: IntArray
    card: list[int]
    _families: list[tuple[int, ...]] = field(default_factory=list)
    _maps: list[int] = field(default_factory=list)
    _serves: list[int] = field(default_factory=list)
    _stored: list[IntArray] = field(default_factory=list)
    _whole: dict[tuple[int, bytes], int] = field(default_factory=dict)

    def add_node(self, card: int) -> int:
        self.card.append(card)
        return len(self.card) - 1

    def add_function(self, family: tuple[int, ...], table: int, derived: int) -> None:
        self._families.append(family)
        self._maps.append(table)
        self._serves.append(derived)

    def store(self, table: IntArray) -> int:
        """Keep the map of a function; several functions may share it."""
        self._stored.append(table.ravel())
        return len(self._stored) - 1

    def output(self, derived: int) -> int:
        return int(self.node[self.graph.n_variables + derived])

    def inputs(self, derived: int) -> tuple[list[int], list[IntArray]]:
        """The distinct inputs, and what each state of them contributes."""
        total: dict[int, IntArray] = {}
        for node, vector in zip(*self.graph.inputs_of(derived), strict=True):
            part = self.graph.contribution_of(int(vector)).astype(np.int64)
            key = int(self.node[node])
            total[key] = total[key] + part if key in total else part
        return list(total), list(total.values())

    def add_whole(self, derived: int) -> None:
        """One function from all inputs of a derived node to it."""
        nodes, vectors = self.graph.inputs_of(derived)
        key = (int(self.graph.output_of[derived]), vectors.tobytes())
        family = self.node[nodes].tolist()
        repeats = len(set(family)) < len(family)
        if repeats or key not in self._whole:
            family, parts = self.inputs(derived)
            table = self.store(self.graph.output_map(derived).astype(np.int64)[_outer_sum(parts)])
            if not repeats:
                self._whole[key] = table
        self.add_function(
            (*family, self.output(derived)), self._whole.get(key, len(self._stored) - 1), derived
        )

    def network(self, guide: IntArray = _EMPTY) -> Network:
        """What was built so far."""
        graph = self.graph
        by_derived = np.argsort(np.array(self._serves, dtype=np.int64), kind="stable")
        families = [self._families[i] for i in by_derived]
        offset = starts([len(table) for table in self._stored])
        return Network(
            card=np.array(self.card, dtype=np.int64),
            node=self.node,
            times=np.ones(len(self.card), dtype=np.int64),
            scope_start=graph.scope_start.astype(np.int64),
            scope=self.node[graph.scope],
            table_at=graph.table_start[graph.table_of].astype(np.int64),
            table=np.array(graph.table),
            family_start=starts([len(family) for family in families]),
            family=np.array([n for family in families for n in family], dtype=np.int64),
            map_at=offset[np.array(self._maps, dtype=np.int64)[by_derived]],
            map=np.concatenate([_EMPTY, *self._stored]),
            guide=guide,
        )


def without(network: Network, nodes: IntArray) -> Network:
    """The network for the search of an order where some nodes stand alone: what names them is cut."""
    apart = np.zeros(network.n_nodes, dtype=bool)
    apart[nodes] = True
    sizes, scope = _cut(network.scope_start, network.scope, apart)
    family_sizes, _ = _cut(network.family_start, network.family, apart)
    whole = np.flatnonzero(family_sizes == np.diff(network.family_start))
    position, _ = entries_of(network.family_start, whole)
    return network._replace(
        scope_start=starts(sizes[sizes > 0]),
        scope=scope,
        table_at=network.table_at[sizes > 0],
        family_start=starts(family_sizes[whole]),
        family=network.family[position],
        map_at=network.map_at[whole],
    )


def _cut(start: IntArray, node: IntArray, apart: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    owner = owners(start)
    keep = ~apart[node]
    return np.bincount(owner[keep], minlength=len(start) - 1), node[keep]


def _outer_sum(parts: list[IntArray]) -> IntArray:
    total = np.zeros((1,) * len(parts), dtype=np.int64)
    for i, part in enumerate(parts):
        total = total + part.reshape([-1 if j == i else 1 for j in range(len(parts))])
    return total
