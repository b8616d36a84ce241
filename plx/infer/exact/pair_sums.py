"""Distributions of what depends on the pairs of partitions: each two relations are independent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.rows import BoolArray
from plx.graph.subgraph import below
from plx.graph.worlds import node_states
from plx.infer.answers import Nodes
from plx.infer.exact.relations import Relation, dependent, parted, parting_operations, partings
from plx.infer.exact.set_partitions import SetPartitions
from plx.values import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PairSums:
    """Relations of a graph that are partitions, with factors about single pairs."""

    graph: FactorGraph
    relations: tuple[Relation, ...]

    @property
    def log_sum(self) -> float:
        """The log of the sum over all partitions."""
        return sum(whole.log_sum + apart for _, whole, apart in self.weighed)

    @cached_property
    def weighed(self) -> list[tuple[Relation, SetPartitions, float]]:
        """Each relation, its partitions, and the weight of the one in which all are apart."""
        return [(one, *one.weighed(self.graph)) for one in self.relations]

    @cached_property
    def dependent(self) -> BoolArray:
        """Which nodes depend on pairs, shape (V + D,)."""
        return dependent(self.graph, self.relations)

    def is_apart(self, node: int) -> bool:
        """Whether a node depends on pairs alone, or on none."""
        if not self.dependent[node]:
            return True
        variables = self._variables((node,))
        return bool(self.dependent[variables].all())

    def operations(self, targets: Iterable[Nodes]) -> float:
        """Table entries read, about: for log Z and single pairs, and for each joint distribution."""
        total = sum(one.operations for one in self.relations)
        for nodes in targets:
            if not self._is_single(nodes):
                sizes = [(one.n, len(found)) for one, found in self._elements(nodes)]
                worlds = math.prod(partings(k) for _, k in sizes)
                total += worlds + sum(parting_operations(n, k) for n, k in sizes)
        return total

    def partings(self, nodes: Nodes) -> float:
        """In how many ways the elements may be parted that some nodes depend on."""
        return math.prod(partings(len(found)) for _, found in self._elements(nodes))

    def joint(self, nodes: Nodes) -> FloatArray:
        """The joint distribution of nodes that depend on pairs alone, flat in C order."""
        if not nodes:
            return np.ones(1)
        if self._is_single(nodes):
            return self._single[nodes[0]]
        logs, states = np.zeros(1), np.zeros((self.graph.n_variables, 1), dtype=np.int32)
        weighed = {id(one): whole for one, whole, _ in self.weighed}
        for one, elements in self._elements(nodes):
            whole = weighed[id(one)]
            labels, log = zip(*parted(whole, elements), strict=True)
            states = np.repeat(states, len(log), axis=1)
            states[one.nodes] = np.tile(one.states(np.array(labels).T), len(logs))
            logs = (logs[:, None] + np.array(log) - whole.log_sum).ravel()
        cards = self.graph.card[list(nodes)].tolist()
        index = np.ravel_multi_index(tuple(node_states(self.graph, states)[list(nodes)]), cards)
        return np.bincount(index, weights=np.exp(logs), minlength=math.prod(cards)).astype(np.float64)

    def _is_single(self, nodes: Nodes) -> bool:
        return len(nodes) == 1 and nodes[0] < self.graph.n_variables

    @cached_property
    def _single(self) -> dict[int, FloatArray]:
        """The distribution of each pair."""
        return {
            node: np.array([1.0 - p, p])
            for one, whole, _ in self.weighed
            for node, p in zip(one.nodes.tolist(), one.of_pairs(whole.together).tolist(), strict=True)
        }

    def _elements(self, nodes: Nodes) -> list[tuple[Relation, IntArray]]:
        """The elements that some nodes depend on, of each relation that has such."""
        variables = self._variables(nodes)
        found = [(one, one.elements(variables)) for one in self.relations]
        return [(one, elements) for one, elements in found if len(elements)]

    def _variables(self, nodes: Nodes) -> IntArray:
        reached = below(self.graph, np.array(nodes, dtype=np.int64))
        variables: IntArray = np.flatnonzero(reached[: self.graph.n_variables])
        return variables
