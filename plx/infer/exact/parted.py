"""Exact sums in parts that other processes can find: components, trees for joint queries, ranges of slices.

What the parts are follows from the plan alone, and what they give is put together in their order: numbers do
not hang on who finds them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from plx.graph.model import GroundModel
from plx.graph.ragged import owners, segments, starts
from plx.graph.rows import BoolArray
from plx.infer.answers import Nodes
from plx.infer.exact.elimination_order import Skeleton, follow_order
from plx.infer.exact.isomorphic import labels, restricted
from plx.infer.exact.junction_tree import Beliefs, ImpossibleError, propagate
from plx.infer.exact.limits import WORTH_SENDING
from plx.infer.exact.network import Network
from plx.infer.exact_plan import exact_inference
from plx.infer.inference import Inference
from plx.infer.options import Cluster
from plx.values import FloatArray, IntArray

Summed = tuple[float, Callable[[Nodes], FloatArray]]
"""The log of the sum over worlds, and the joint distribution of the distinct targets of each query."""


class Part(Protocol):
    """Something of the answers that can be found without the rest, and sent to where it is."""

    @property
    def operations(self) -> float:
        """Table entries touched, about."""

    def found(self) -> Any:
        """What `Parts.summed` makes the answers of."""


class Parts(NamedTuple):
    """All parts of a plan, and the sums from what is found for each. ``summed`` raises NoWorldError."""

    parts: Sequence[Part]
    summed: Callable[[Sequence[Any]], Summed]


@runtime_checkable
class Parted(Protocol):
    """A plan in parts."""

    @property
    def model(self) -> GroundModel:
        """What is answered."""

    @property
    def reason(self) -> str:
        """Why it is taken, for people."""

    @property
    def operations(self) -> float:
        """Table entries touched, about."""

    def parts(self) -> Parts:
        """Its parts; those that are cheap may be together."""


def answered_by(cluster: Cluster, plan: Parted) -> Inference | None:
    """All answers, from parts that the processes of a cluster find; None where that is not worth a message.

    Raises NoWorldError, and OutOfTimeError at the deadline.
    """
    if plan.operations < 2 * WORTH_SENDING:
        return None
    parts, summed = plan.parts()
    cost = np.array([part.operations for part in parts])
    bundles = bundled(cost)
    if len(bundles) < 2 or cost.sum() - cost[bundles[0]].sum() < WORTH_SENDING:
        return None
    sent = cluster.each(_found, [[parts[i] for i in bundle] for bundle in bundles])
    found = {
        i: one
        for bundle, ones in zip(bundles, sent, strict=True)
        for i, one in zip(bundle, ones, strict=True)
    }
    return exact_inference(plan.model, plan.reason, *summed([found[i] for i in range(len(parts))]))


def _found(parts: Sequence[Part]) -> list[Any]:
    return [part.found() for part in parts]


def bundled(cost: FloatArray) -> list[list[int]]:
    """What is sent together: the dearest first, each by itself; of the cheap so many as are worth a call."""
    order = np.argsort(-cost, kind="stable")
    at = np.floor((np.cumsum(cost[order]) - cost[order]) / WORTH_SENDING)
    return [bundle.tolist() for bundle in np.split(order, np.flatnonzero(np.diff(at)) + 1) if len(bundle)]


# ---------------------------------------------------------------------- components


@dataclass(frozen=True, eq=False)
class TreePart:
    """A network to be eliminated in an order, and the scopes that are asked about in its numbers; ``names``
    are what these are in the whole. ``sums``: its log Z is a part of that of the whole."""

    network: Network
    order: IntArray
    scopes: tuple[Nodes, ...]
    names: tuple[Nodes, ...]
    operations: float
    sums: bool = True

    def found(self) -> Beliefs | None:
        """log Z and joint distributions; None where no world is possible."""
        try:
            return propagate(follow_order(self.network, self.order), self.scopes)
        except ImpossibleError:
            return None


def components(tree: Skeleton, scopes: Sequence[Nodes]) -> list[TreePart]:
    """The components of a tree, cheap ones together; each of the scopes is in one clique."""
    label = labels(tree.network)
    n = int(label.max(initial=-1)) + 1
    cost: FloatArray = np.bincount(label[tree.order], tree.clique_operations, n).astype(np.float64)
    bundles = bundled(cost)
    of = np.empty(len(cost), dtype=np.int64)
    for b, bundle in enumerate(bundles):
        of[bundle] = b
    asked: list[list[Nodes]] = [[] for _ in bundles]
    for scope in scopes:
        asked[of[label[scope[0]]]].append(scope)
    return [
        _restricted(tree, of[label] == b, names, float(cost[bundle].sum()))
        for b, (bundle, names) in enumerate(zip(bundles, asked, strict=True))
    ]


def _restricted(tree: Skeleton, mine: BoolArray, names: Sequence[Nodes], cost: float) -> TreePart:
    """The part of a tree over some nodes, which no factor or function connects to others."""
    kept = np.flatnonzero(mine)
    number = np.full(len(mine), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    part = restricted(tree.network, kept, number)
    order = number[tree.order]
    scopes = tuple(tuple(number[list(scope)].tolist()) for scope in names)
    return TreePart(slim(part, tree.network.times[kept]), order[order >= 0], scopes, tuple(names), cost)


def slim(network: Network, times: IntArray) -> Network:
    """The network with the tables and maps that it uses, and no word of the factor graph that it is from."""
    table, table_at = _used(
        network.table, network.table_at, _sizes(network, network.scope_start, network.scope)
    )
    inputs = np.ones(len(network.family), dtype=bool)
    inputs[network.family_start[1:] - 1] = False
    start = starts(np.diff(network.family_start) - 1)
    map_, map_at = _used(network.map, network.map_at, _sizes(network, start, network.family[inputs]))
    nothing = np.empty(0, dtype=np.int64)
    return network._replace(
        node=nothing, guide=nothing, times=times, table=table, table_at=table_at, map=map_, map_at=map_at
    )


def _sizes(network: Network, start: IntArray, node: IntArray) -> IntArray:
    """The joint states of each row of nodes."""
    out = np.ones(len(start) - 1, dtype=np.int64)
    np.multiply.at(out, owners(start), network.card[node])
    return out


def _used(values: Any, at: IntArray, size: IntArray) -> tuple[Any, IntArray]:
    """The entries that are used, and where each row of them begins now."""
    first, row = np.unique(at, return_inverse=True)
    most = np.zeros(len(first), dtype=np.int64)
    np.maximum.at(most, row, size)
    return values[segments(first, most)], starts(most)[:-1][row]


def whole(tree: Skeleton, scope: Nodes, name: Nodes) -> TreePart:
    """A tree of its own for one joint query."""
    network = slim(tree.network, tree.network.times)
    return TreePart(network, tree.order, (scope,), (name,), tree.operations, sums=False)


def tree_sums(
    parts: Sequence[TreePart], found: Sequence[Beliefs | None]
) -> tuple[float, dict[Nodes, FloatArray]]:
    """log Z and joint distributions by what they are in the whole. Raises ImpossibleError."""
    logs, joints = [], dict[Nodes, FloatArray]({(): np.ones(1)})
    for part, beliefs in zip(parts, found, strict=True):
        if beliefs is None:
            raise ImpossibleError
        joints.update(zip(part.names, beliefs.joints, strict=True))
        if part.sums:
            logs.append(beliefs.log_z)
    return math.fsum(logs), joints
