"""The verb from a factor graph to a network: derived nodes become functions of few inputs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.ragged import entries_of
from plx.infer.exact.limits import SMALL
from plx.infer.exact.network import Network
from plx.infer.exact.network_builder import NetworkBuilder
from plx.infer.exact.partial_sums import PartialSums
from plx.values import IntArray


def split(graph: FactorGraph, targets: Iterable[int] = (), in_order: bool = False) -> Network:
    """The network of a graph, with the derived nodes that its factors or the targets mention.

    Nodes keep their order; partial sums of wide derived nodes come after them. They follow a good
    elimination order of the rest, or (``in_order``) the order of the variables, which suits what
    was declared row by row.
    """
    needed = _needed(graph, targets)
    node = np.full(graph.n_nodes, -1, dtype=np.int64)
    node[needed] = np.arange(len(needed))
    builder = NetworkBuilder(graph, node, graph.card[needed].tolist())
    derived = needed[needed >= graph.n_variables] - graph.n_variables
    wide = _wide(graph, derived)
    for d in derived[~wide]:
        builder.add_whole(int(d))
    if not wide.any():
        return builder.network()
    sums = PartialSums(builder, derived[wide], in_order)
    for d in derived[wide]:
        sums.split(int(d))
    return builder.network(sums.guide())


def _needed(graph: FactorGraph, targets: Iterable[int]) -> IntArray:
    keep = np.zeros(graph.n_nodes, dtype=bool)
    keep[: graph.n_variables] = True
    keep[graph.scope] = True
    keep[[t for t in targets if t >= 0]] = True
    for d in range(graph.n_derived - 1, -1, -1):
        if keep[graph.n_variables + d]:
            keep[graph.inputs_of(d)[0]] = True
    return np.flatnonzero(keep)


def _wide(graph: FactorGraph, derived: IntArray) -> npt.NDArray[np.bool_]:
    """Which derived nodes have too many joint input states for one function."""
    inputs, owner = entries_of(graph.input_start, derived)
    bits = np.bincount(owner, np.log2(graph.card[graph.input_node[inputs]]), len(derived))
    wide: npt.NDArray[np.bool_] = (bits > np.log2(SMALL)) & (np.bincount(owner, minlength=len(derived)) > 2)
    return wide
