"""Where the nodes of a graph went when another graph took its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from plx.graph.model import Atoms, GroundEvidence, GroundQuery, Target
from plx.graph.queries import QueryBlock, blocks, each_part, singles
from plx.sequences import joined
from plx.values import IntArray, distinct


def nodes_of(queries: Sequence[GroundQuery]) -> IntArray:
    """The nodes that the queries ask about, those of their ``given`` included."""
    few = [query for _, query in singles(queries)]
    asked = [t.node for q in few for t in q.targets] + [c.node for q in few for c in q.given]
    wide = [block.node.astype(np.int64) for _, block in blocks(queries)]
    found = distinct(np.concatenate([np.array(asked, dtype=np.int64), *wide]))
    return found[found >= 0]


class NodeMap(NamedTuple):
    """Node i of the old graph is ``node[i]`` of the new one, or, where that is -1, has only ``state[i]``.

    A node of which nothing is left, as nothing uses it, has -1 in both.
    """

    node: IntArray  # [V + D]
    state: IntArray  # [V + D]

    @classmethod
    def identity(cls, n_nodes: int) -> NodeMap:
        """Every node is itself."""
        return cls(np.arange(n_nodes), np.full(n_nodes, -1, dtype=np.int64))

    def then(self, after: NodeMap) -> NodeMap:
        """This map, and another of the new graph after it."""
        alive = self.node >= 0
        node, state = self.node.copy(), self.state.copy()
        node[alive], state[alive] = after.node[self.node[alive]], after.state[self.node[alive]]
        return NodeMap(node, state)

    def take(self, nodes: IntArray) -> NodeMap:
        """The map of a graph whose node i was called ``nodes[i]``."""
        return NodeMap(self.node[nodes], self.state[nodes])

    def target(self, target: Target) -> Target:
        """A target over the new node; over none where only one state is left. Labels may be absent."""
        if target.node < 0:
            return target
        node, state = int(self.node[target.node]), max(int(self.state[target.node]), 0)
        labels = target.labels if node >= 0 else target.labels[state : state + 1]
        return replace(target, node=node, labels=labels)

    def condition(self, fact: GroundEvidence) -> GroundEvidence | None:
        """A fact over the new node; None where it always holds."""
        if fact.node < 0:
            return fact
        node, state = int(self.node[fact.node]), int(self.state[fact.node])
        if node >= 0:
            return replace(fact, node=node)
        return None if state == fact.state else replace(fact, node=-1, state=0)

    def query(self, query: GroundQuery) -> GroundQuery:
        """A query over the nodes of the new graph."""
        given = [self.condition(fact) for fact in query.given]
        return replace(
            query,
            targets=tuple(self.target(target) for target in query.targets),
            given=tuple(fact for fact in given if fact is not None),
        )

    def queries(self, queries: Sequence[GroundQuery]) -> Sequence[GroundQuery]:
        """Queries over the nodes of the new graph."""
        return joined(
            each_part(queries, lambda _, block: self.block(block), lambda _, query: self.query(query))
        )

    def block(self, block: QueryBlock) -> QueryBlock:
        """Instances of a query over the nodes of the new graph."""
        if not len(self.node):
            return block
        at, decided = np.maximum(block.node, 0), block.node < 0
        return block.moved(np.where(decided, -1, self.node[at]), self.state[at])

    def atoms(self, atoms: Atoms, n_variables: int) -> Atoms:
        """The atoms over the nodes of a new graph of so many variables."""
        node = (
            atoms.node
            if not len(self.node)
            else np.where(atoms.node >= 0, self.node[np.maximum(atoms.node, 0)], -1)
        )
        variable = node[atoms.atom_of]
        left = np.flatnonzero((variable >= 0) & (variable < n_variables))
        _, first = np.unique(variable[left], return_index=True)  # several may have become one
        return replace(atoms, node=node.astype(np.int32), atom_of=atoms.atom_of[left[first]])
