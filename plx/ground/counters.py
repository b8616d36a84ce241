"""Sums over nodes, and the derived nodes made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plx.graph.derived import DerivedNodes, VectorStore
from plx.graph.ragged import segments, starts
from plx.graph.rows import AnyInt
from plx.values import IntArray


class Counters:
    """Collects derived nodes while a program is grounded.

    A *raw sum* is a list of inputs with their contributions; it becomes a node only together with
    an output map, so that the node has no more states than the formula around it needs.
    """

    def __init__(self, n_variables: int) -> None:
        self.n_variables = n_variables
        self.vectors = VectorStore()
        self._maps = VectorStore()
        self._fan_in: list[IntArray] = []
        self._node: list[AnyInt] = []
        self._vector: list[IntArray] = []
        self._raws = 0
        self._raw_of: list[IntArray] = []
        self._map_of: list[IntArray] = []
        self._card: list[IntArray] = []
        self._nodes = 0

    def add_raw(self, fan_in: IntArray, node: AnyInt, vector: IntArray) -> IntArray:
        """New raw sums: fan-in of each, then inputs and contribution vectors one after the other."""
        self._fan_in.append(fan_in)
        self._node.append(node)
        self._vector.append(vector)
        first, self._raws = self._raws, self._raws + len(fan_in)
        return np.arange(first, self._raws)

    def add_nodes(self, raw: IntArray, output: IntArray, card: IntArray) -> IntArray:
        """New derived nodes: the raw sum, output map (see `output_map`) and card of each."""
        self._raw_of.append(raw)
        self._map_of.append(output)
        self._card.append(card)
        first, self._nodes = self._nodes, self._nodes + len(raw)
        return self.n_variables + np.arange(first, self._nodes)

    def output_map(self, states: IntArray) -> int:
        """The number of an output map: the state for every value of the sum, from 0."""
        return self._maps.id(states)

    def nodes(self) -> DerivedNodes:
        """All derived nodes so far."""
        raw, output = _joined(self._raw_of), _joined(self._map_of)
        start = starts(_joined(self._fan_in))
        fan_in = np.diff(start)[raw]
        entries = segments(start[raw], fan_in)
        contribution_start, contribution = self.vectors.flat()
        output_start, output_flat = self._maps.flat()
        return DerivedNodes(
            card=_joined(self._card).astype(np.int32),
            input_start=starts(fan_in),
            input_node=_joined(self._node)[entries].astype(np.int32),
            input_contribution=_joined(self._vector)[entries].astype(np.int32),
            contribution_start=contribution_start,
            contribution=contribution,
            output_of=output.astype(np.int32),
            output_start=output_start,
            output=output_flat,
        )


def _joined(parts: Sequence[AnyInt]) -> IntArray:
    return np.concatenate([*parts, np.empty(0, dtype=np.int64)]).astype(np.int64)
