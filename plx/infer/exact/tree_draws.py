"""Worlds drawn along a junction tree: messages are sent to the roots, then states are drawn from there on.

Clique c holds the node that it eliminates and others that are eliminated later, which have been drawn by
then. Given these, what its factors and the messages of its children say of the node is its conditional
distribution (Dawid, Applications of a general propagation algorithm for probabilistic expert systems, 1992).
"""

from __future__ import annotations

import numpy as np

from plx import deadline
from plx.graph.components import components
from plx.graph.model import FactorGraph
from plx.graph.subgraph import live_derived
from plx.infer.exact.drawing import drawn_by_row
from plx.infer.exact.elimination_order import Skeleton
from plx.infer.exact.isomorphic import copy_ranks
from plx.infer.exact.junction_tree import Propagation
from plx.infer.exact.network import Network
from plx.infer.inference import Assignments
from plx.infer.kernels.junction_tree import Tree
from plx.values import FloatArray, IntArray

_TOGETHER = 1 << 20
"""Log weights of one clique that are held at once."""

States = list[IntArray]
"""The state of each node of a network in ``count`` worlds of its first copy, then of the next, and so on."""


class TreeDraws:
    """A tree from which worlds are drawn, for any tables of its network."""

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton, self._propagation = skeleton, Propagation(skeleton)

    def log_z(self, tables: FloatArray) -> float:
        """The log of the sum over all worlds. Raises ImpossibleError if none is possible."""
        return self._propagation.run(tables).log_z

    def draw(self, tables: FloatArray, count: int, random: np.random.Generator) -> States:
        """Independent worlds. Raises ImpossibleError if none is possible, OutOfTimeError at the deadline."""
        skeleton, tree = self._skeleton, self._propagation.tree
        data = self._propagation.inward(tables)
        states: States = [np.empty(0, dtype=np.int64)] * skeleton.network.n_nodes
        for c in range(len(skeleton.order) - 1, -1, -1):
            deadline.check()
            axes = skeleton.axis[tree.axis_start[c] : tree.axis_start[c + 1]].tolist()
            known = [states[node] for node in axes[1:]]
            uniform = random.random(count * int(skeleton.network.times[axes[0]]))
            states[axes[0]] = _drawn_at(tree, c, data, known, uniform)
        return states


def _drawn_at(tree: Tree, c: int, data: FloatArray, known: States, uniform: FloatArray) -> IntArray:
    """States of the node that clique c eliminates, given those of its other nodes."""
    card = int(tree.axis_card[tree.axis_start[c]])
    out = np.empty(len(uniform), dtype=np.int64)
    step = max(1, _TOGETHER // card)
    for first in range(0, len(uniform), step):
        here = slice(first, first + step)
        logs = _log_weights(tree, c, data, [states[here] for states in known], len(uniform[here]))
        out[here] = drawn_by_row(logs, uniform[here])
    return out


def _log_weights(tree: Tree, c: int, data: FloatArray, known: States, count: int) -> FloatArray:
    """Log weights of the states of the node, shape (count, card); -inf where a function says otherwise."""
    own = np.arange(tree.axis_card[tree.axis_start[c]])

    def places(link: int) -> IntArray:
        """Where a link leads to, shape (count or 1, card or 1)."""
        strides = tree.stride[link : link + len(known) + 1].tolist()
        at: IntArray = strides[0] * own if strides[0] else np.zeros(1, dtype=np.int64)
        rest = [stride * states for stride, states in zip(strides[1:], known, strict=True) if stride]
        return at + sum(rest[1:], rest[0])[:, None] if rest else at[None]

    logs = np.zeros((count, len(own)))
    for i in range(tree.item_start[c], tree.item_start[c + 1]):
        logs += data[tree.item_source[i] + places(tree.item_link[i])]
    for d in range(tree.derived_start[c], tree.derived_start[c + 1]):
        said = tree.map[tree.derived_map[d] + places(tree.derived_link[d])]
        axis = tree.derived_axis[d]
        logs[np.broadcast_to(said != (known[axis - 1][:, None] if axis else own), logs.shape)] = -np.inf
    return logs


def of_variables(graph: FactorGraph, network: Network, states: States, count: int) -> Assignments:
    """The states of a graph's variables, each from its own copy of the node that stands for it."""
    node = network.node[: graph.n_variables]
    copy = copy_ranks(network, node, components(graph, live_derived(graph))[: graph.n_variables])
    out = np.empty((graph.n_variables, count), dtype=np.int32)
    for variable, (at, rank) in enumerate(zip(node.tolist(), copy.tolist(), strict=True)):
        out[variable] = states[at][rank * count : (rank + 1) * count]
    return out
