"""A model as inference takes it on, with what every way to answer it asks about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from plx.graph.components import components
from plx.graph.model import FactorGraph, GroundModel, GroundQuery
from plx.graph.rows import BoolArray
from plx.graph.subgraph import hard_factors, live_derived, subgraph
from plx.infer.answers import Nodes, free_nodes, is_number
from plx.values import IntArray


@dataclass(frozen=True)
class Targets:
    """The distinct targets of a model's queries: tuples of nodes; states count in C order."""

    nodes: tuple[Nodes, ...]
    offset: IntArray  # [T + 1]
    of_query: IntArray  # [queries] position in nodes

    @property
    def asked(self) -> IntArray:
        """The nodes that are asked about, sorted, each once."""
        return np.array(sorted({node for nodes in self.nodes for node in nodes}), dtype=np.int64)

    def states(self, card: npt.NDArray[np.integer], nodes: npt.NDArray[np.integer]) -> IntArray:
        """The joint state of every target, shape (T, n), from the states of all nodes, shape (V + D, n)."""
        index = np.zeros((len(self.nodes), nodes.shape[1]), dtype=np.int64)
        arity = np.array([len(scope) for scope in self.nodes], dtype=np.int64)
        for size in np.unique(arity).tolist():
            mine = np.flatnonzero(arity == size)
            scope = np.array([self.nodes[t] for t in mine], dtype=np.int64).reshape(len(mine), size)
            for position in range(size):
                index[mine] = index[mine] * card[scope[:, position]][:, None] + nodes[scope[:, position]]
        return index


@dataclass(frozen=True, eq=False)
class Parts:
    """What a factor graph is made of, each worked out when it is first needed, and once."""

    graph: FactorGraph

    @cached_property
    def live(self) -> BoolArray:
        """Which derived nodes feed a factor, shape (D,)."""
        return live_derived(self.graph)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, shape (V + D,); -1 for derived nodes that are not live."""
        return components(self.graph, self.live)

    @cached_property
    def hard_factors(self) -> IntArray:
        """The factors with an impossible entry."""
        return hard_factors(self.graph)

    @cached_property
    def hard_part(self) -> tuple[FactorGraph, IntArray]:
        """The graph of the hard factors alone, and which variable each of its variables is."""
        return subgraph(self.graph, self.hard_factors)


@dataclass(frozen=True, eq=False)
class Problem:
    """A model to be answered: its queries have no ``given``, and doubles can hold its weights.

    It is made once and handed on, so that no two ways to answer it work out the same things.
    """

    model: GroundModel

    @property
    def graph(self) -> FactorGraph:
        """The factor graph of the model."""
        return self.model.graph

    @cached_property
    def parts(self) -> Parts:
        """What the graph is made of."""
        return Parts(self.model.graph)

    @cached_property
    def targets(self) -> Targets:
        """What the queries ask about."""
        return targets_of(self.model)

    def asking(self, queries: tuple[GroundQuery, ...]) -> Problem:
        """The same model with other queries."""
        other = Problem(replace(self.model, queries=queries))
        vars(other)["parts"] = self.parts
        return other


def targets_of(model: GroundModel) -> Targets:
    """The targets to count.

    Queries about the same nodes share a target, unless they read different numbers off it.
    """
    position: dict[tuple[Nodes, bytes], int] = {}
    of_query, sizes = [], []
    card = model.graph.card.tolist()
    for query in model.queries:
        nodes = free_nodes(query)
        key = nodes, query.targets[0].labels.tobytes() if is_number(model, query) else b""
        if key not in position:
            position[key] = len(position)
            sizes.append(card[nodes[0]] if len(nodes) == 1 else math.prod(card[node] for node in nodes))
        of_query.append(position[key])
    offset = np.cumsum([0, *sizes], dtype=np.int64)
    return Targets(tuple(nodes for nodes, _ in position), offset, np.array(of_query, dtype=np.int64))
