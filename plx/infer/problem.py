"""A model as inference takes it on, with what every way to answer it asks about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from plx.graph.components import components
from plx.graph.model import FactorGraph, GroundModel, GroundQuery, QueryKind, Target
from plx.graph.queries import blocks, singles
from plx.graph.ragged import segments, starts
from plx.graph.rows import BoolArray, unique_keys
from plx.graph.subgraph import hard_factors, live_derived, subgraph
from plx.infer.answers import Nodes, free_nodes, reads_numbers
from plx.values import IntArray, distinct


@dataclass(frozen=True, eq=False)
class Targets:
    """The distinct targets of a model's queries: tuples of nodes; states count in C order.

    Those of target t are ``node[start[t] : start[t + 1]]``.
    """

    start: IntArray  # [T + 1]
    node: IntArray
    offset: IntArray  # [T + 1]
    of_query: IntArray  # [queries] which target

    def __len__(self) -> int:
        return len(self.offset) - 1

    @cached_property
    def nodes(self) -> tuple[Nodes, ...]:
        """The nodes of each target."""
        every = self.node.tolist()
        return tuple(tuple(every[a:b]) for a, b in pairwise(self.start.tolist()))

    @cached_property
    def asked(self) -> IntArray:
        """The nodes that are asked about, sorted, each once."""
        return distinct(self.node)

    def states(self, card: npt.NDArray[np.integer], nodes: npt.NDArray[np.integer]) -> IntArray:
        """The joint state of every target, shape (T, n), from the states of all nodes, shape (V + D, n)."""
        index = np.zeros((len(self), nodes.shape[1]), dtype=np.int64)
        arity = np.diff(self.start)
        for size in np.unique(arity).tolist():
            mine = np.flatnonzero(arity == size)
            scope = self.node[segments(self.start[mine], arity[mine])].reshape(len(mine), size)
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

    def asking(self, queries: Sequence[GroundQuery]) -> Problem:
        """The same model with other queries."""
        other = Problem(replace(self.model, queries=queries))
        vars(other)["parts"] = self.parts
        return other


def targets_of(model: GroundModel) -> Targets:
    """The targets to count, in the order in which they are asked about.

    Queries about the same nodes share a target, unless they read different numbers off it.
    """
    node, number, scopes = _asked(model)
    first, inverse = unique_keys(node * (number.max(initial=0) + 1) + number)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    own = node[first[order]]
    alone, joint = own >= 0, np.flatnonzero(own < -1).tolist()
    count = alone.astype(np.int64)
    size = np.ones(len(own), dtype=np.int64)
    size[alone] = model.graph.card[own[alone]]
    for t in joint:
        nodes = scopes[-2 - own[t]]
        count[t], size[t] = len(nodes), math.prod(model.graph.card[list(nodes)].tolist())
    start = starts(count)
    every = np.repeat(own, count)
    for t in joint:
        every[start[t] : start[t + 1]] = scopes[-2 - own[t]]
    return Targets(start, every, starts(size), rank[inverse])


def _asked(model: GroundModel) -> tuple[IntArray, IntArray, list[Nodes]]:
    """Of each query the node that it asks about, -1 where it is decided, -2 - i for several nodes, the i-th
    of a list; and which numbers it reads off."""
    node, number = (np.full(len(model.queries), fill, dtype=np.int64) for fill in (-1, 0))
    read: dict[bytes, int] = {b"": 0}
    scopes: dict[Nodes, int] = {}

    def numbered(kind: QueryKind, target: Target) -> int:
        labels = target.labels if reads_numbers(model.values, kind, target.labels) else None
        return read.setdefault(b"" if labels is None else labels.tobytes(), len(read))

    for at, block in blocks(model.queries):
        node[at] = block.node
        number[at] = np.array([numbered(block.kind, form) for form in block.forms])[block.form]
    for i, query in singles(model.queries):
        nodes = free_nodes(query)
        if nodes:
            node[i] = nodes[0] if len(nodes) == 1 else -2 - scopes.setdefault(nodes, len(scopes))
        if query.targets:
            number[i] = numbered(query.kind, query.targets[0])
    return node, number, list(scopes)
