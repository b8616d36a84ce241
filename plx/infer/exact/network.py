"""The noun of exact inference: discrete nodes, log tables, and functions among the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plx.graph.ragged import starts
from plx.values import FloatArray, IntArray


class Network(NamedTuple):
    """A factor graph whose derived nodes have become functions of few inputs.

    N nodes: the variables, the derived nodes that matter, and partial sums. A factor is a scope
    and a table in C order. A *family* is the inputs of a function and then its output; the map
    holds the output's state for every joint state of the inputs, in C order. Families are sorted
    so that inputs come before outputs, and no node is the output of two.
    """

    card: IntArray  # [N]
    node: IntArray  # [V + D] the node that stands for a node of the factor graph, or -1
    times: IntArray  # [N] how many nodes it stands for: copies are kept once
    scope_start: IntArray  # [F + 1]
    scope: IntArray
    table_at: IntArray  # [F] where the table of a factor begins
    table: FloatArray
    family_start: IntArray  # [G + 1]
    family: IntArray
    map_at: IntArray  # [G] where the map of a function begins
    map: IntArray
    guide: IntArray  # a good elimination order where partial sums follow one; else empty

    @property
    def n_nodes(self) -> int:
        return len(self.card)

    @property
    def n_factors(self) -> int:
        return len(self.table_at)

    @property
    def n_functions(self) -> int:
        return len(self.map_at)


def with_scopes(network: Network, scopes: Sequence[tuple[int, ...]]) -> Network:
    """The network with constant factors, so that every scope ends up in one clique."""
    largest = max(int(network.card[list(scope)].prod()) for scope in scopes)
    return network._replace(
        scope_start=np.concatenate(
            [network.scope_start, network.scope_start[-1] + starts([len(s) for s in scopes])[1:]]
        ),
        scope=np.concatenate([network.scope, *(np.array(scope, dtype=np.int64) for scope in scopes)]),
        table_at=np.concatenate([network.table_at, np.full(len(scopes), len(network.table))]),
        table=np.concatenate([network.table, np.zeros(largest)]),
    )
