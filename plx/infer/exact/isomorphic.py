"""Components of a network that are copies of each other are kept once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from plx.graph.components import component_numbers
from plx.graph.isomorphic import Runs, equal_parts
from plx.graph.ragged import entries_of, owners, ranks, starts
from plx.infer.exact.network import Network
from plx.values import IntArray


def keep_once(network: Network, scopes: Iterable[tuple[int, ...]] = ()) -> Network:
    """The network with one of each kind of component; ``node`` and ``times`` say what each stands for.

    Two components are copies if numbering the nodes of each from 0, in order, makes their factors
    and functions the same, one by one. Components that one of the ``scopes`` connects are kept.
    """
    label = labels(network)
    copy_of = _copies(network, label, _connected(label, scopes))
    if len(np.unique(copy_of)) == len(copy_of):
        return network
    order, first = np.argsort(label, kind="stable"), starts(np.bincount(label))
    stands_for = order[first[copy_of[label]] + ranks(label, len(copy_of))]
    kept = np.flatnonzero(stands_for == np.arange(len(label)))
    number = np.full(len(label), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    stands = number[stands_for]
    times = np.bincount(stands, weights=network.times, minlength=len(kept)).astype(np.int64)
    node = np.where(network.node >= 0, stands[network.node], -1)
    return restricted(network, kept, number)._replace(node=node, times=times)


def copy_ranks(network: Network, node: IntArray, component: IntArray) -> IntArray:
    """Which copy of its node of the network each variable is of: ``node`` and the ``component`` of the factor
    graph that it is in are given for each, shape (V,)."""
    kept = labels(network)[node]
    pairs, of_pair = np.unique(np.stack([kept, component]), axis=1, return_inverse=True)
    return ranks(pairs[0], int(kept.max(initial=-1)) + 1)[of_pair.ravel()]


def only_around(network: Network, scope: tuple[int, ...]) -> tuple[Network, tuple[int, ...]]:
    """The components that a scope touches, and the scope in the numbers of their nodes."""
    label = labels(network)
    kept = np.flatnonzero(np.isin(label, label[list(scope)]))
    number = np.full(len(label), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    part = restricted(network, kept, number)
    node = np.where(network.node >= 0, number[network.node], -1)
    return part._replace(node=node, times=network.times[kept]), tuple(number[list(scope)].tolist())


def labels(network: Network) -> IntArray:
    """The component of every node."""
    ends = []
    for start, node in ((network.scope_start, network.scope), (network.family_start, network.family)):
        ends.append((np.repeat(node[start[:-1]], np.diff(start)), node))
    left, right = (np.concatenate([pair[i] for pair in ends]) for i in (0, 1))
    return component_numbers(network.n_nodes, left, right)


def _connected(label: IntArray, scopes: Iterable[tuple[int, ...]]) -> set[int]:
    """Components that share a scope with another one."""
    groups = [set(label[list(scope)].tolist()) for scope in scopes]
    return {c for group in groups if len(group) > 1 for c in group}


def _copies(network: Network, label: IntArray, apart: set[int]) -> IntArray:
    """For each component the first one that it is a copy of."""
    count = int(label.max(initial=-1)) + 1
    copy_of = np.arange(count)
    for alike in equal_parts(_runs(network, label, count), np.setdiff1d(copy_of, list(apart))):
        copy_of[alike] = alike[0]
    return copy_of


def _runs(network: Network, label: IntArray, count: int) -> list[Runs]:
    """All components spelt out, with the nodes of each numbered from 0."""
    rank = ranks(label, count)
    runs = [Runs.by_owner(network.card, label, count)]
    for start, node, at in (
        (network.scope_start, network.scope, network.table_at),
        (network.family_start, network.family, network.map_at),
    ):
        owner = label[node[start[:-1]]]
        runs += [
            Runs.by_owner(at, owner, count),
            Runs.by_owner(np.diff(start), owner, count),
            Runs.by_owner(rank[node], owner[owners(start)], count),
        ]
    return runs


def restricted(network: Network, kept: IntArray, number: IntArray) -> Network:
    """The factors and functions of kept nodes, renumbered; ``node`` and ``times`` are as they were."""
    factors = np.flatnonzero(number[network.scope[network.scope_start[:-1]]] >= 0)
    functions = np.flatnonzero(number[network.family[network.family_start[:-1]]] >= 0)
    scope, _ = entries_of(network.scope_start, factors)
    family, _ = entries_of(network.family_start, functions)
    return network._replace(
        card=network.card[kept],
        scope_start=starts(np.diff(network.scope_start)[factors]),
        scope=number[network.scope[scope]],
        table_at=network.table_at[factors],
        family_start=starts(np.diff(network.family_start)[functions]),
        family=number[network.family[family]],
        map_at=network.map_at[functions],
        guide=number[network.guide[number[network.guide] >= 0]],
    )
