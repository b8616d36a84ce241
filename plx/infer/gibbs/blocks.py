"""Which unknowns are updated together: those that hard rules tie so that one alone may be stuck.

Unknowns tied by hard rules, directly or through others, form a *cluster*. A cluster with few
possible joint states is one block. In a larger one blocks overlap: the unknowns of each hard rule,
with neighbours while there are few joint states, or pairs of unknowns of a rule over many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from plx import deadline
from plx.graph.model import FactorGraph
from plx.graph.sizes import joint_states
from plx.graph.subgraph import reached, subgraph
from plx.infer.gibbs.block_arrays import VariableBlock
from plx.infer.gibbs.clusters import Alike
from plx.infer.gibbs.feasible import States, connected, feasible
from plx.infer.gibbs.limits import BLOCK_STATES, BLOCKS, CHECKED, MANY
from plx.values import IntArray

_GROWN, _NEAR = 64, 8
"""A block grows while it has at most so many joint states, over factors of at most so many unknowns."""

_EXCHANGE = np.array([[0, 1], [1, 0]], dtype=np.int32)
"""Two variables keep their states, or each takes that of the other."""

_Part = tuple[IntArray, States, bool]
"""A block of a cluster: its members by position, their joint states, and whether it is the whole cluster."""


def choose_blocks(found: Sequence[Alike]) -> list[VariableBlock]:
    """Blocks for the hard rules of clusters; as many as are found by the deadline."""
    few = sum(len(alike.variables) for alike in found) <= MANY
    out: list[VariableBlock] = []
    for alike in found:
        parts = _parts(alike.graph, few)
        fitting = (BLOCKS - len(out)) // max(1, len(parts))
        for members, states, whole in parts:
            out += [VariableBlock(row[members], states, whole) for row in alike.variables[:fitting]]
    return out


def choose_exchanges(found: Sequence[Alike]) -> list[VariableBlock]:
    """Pairs of variables that may exchange their states, in clusters that are too large for one block."""
    out: list[VariableBlock] = []
    for alike in found:
        if joint_states(alike.graph.card[: alike.graph.n_variables]) <= CHECKED:
            continue
        for pair in _exchanges(alike.graph):
            fitting = BLOCKS - len(out)
            out += [
                VariableBlock(row[list(pair)], _EXCHANGE, False, True) for row in alike.variables[:fitting]
            ]
    return out


def _exchanges(cluster: FactorGraph) -> list[tuple[int, int]]:
    """Pairs of variables with equally many states, 3 or more, that one hard factor is about.

    Two that exchange theirs keep a rule that treats them alike. Each is paired with those 1, 2, 4, … places
    further.
    """
    seen: set[bytes] = set()
    pairs: dict[tuple[int, int], None] = {}
    for factor in range(cluster.n_factors):
        nodes = _reach(cluster, factor)
        if nodes.tobytes() in seen or deadline.over():
            continue
        seen.add(nodes.tobytes())
        cards = cluster.card[nodes]
        for card in np.unique(cards[cards > 2]):
            pairs.update(dict.fromkeys(_far_apart(nodes[cards == card])))
    return list(pairs)


def _parts(cluster: FactorGraph, few: bool) -> list[_Part]:
    """The blocks of one cluster; none where single updates do and there are many clusters."""
    whole = np.arange(cluster.n_variables)
    states = feasible(cluster, CHECKED)
    if states is None:
        return list(_overlapping(cluster))
    single = connected(states, [np.array([v]) for v in whole])
    if single and (not few or len(states) > BLOCK_STATES):
        return []
    if len(states) <= BLOCK_STATES:
        return [(whole, states, True)]
    parts = list(_overlapping(cluster))
    moves = [np.array([v]) for v in whole] + [members for members, _, _ in parts]
    return parts if connected(states, moves) else [(whole, states, True)]


def _overlapping(cluster: FactorGraph) -> Iterator[_Part]:
    """Blocks around each hard factor, each with the joint states that the factors within it allow."""
    reach = [_reach(cluster, f) for f in range(cluster.n_factors)]
    touching: list[list[int]] = [[] for _ in range(cluster.n_variables)]
    for f, nodes in enumerate(reach):
        for node in nodes.tolist():
            touching[node].append(f)
    listed: dict[tuple[object, ...], States] = {}
    covering: list[list[set[int]]] = [[] for _ in range(cluster.n_variables)]
    for f in range(cluster.n_factors):
        if deadline.over():
            return
        for members in _around(cluster, reach[f]):
            if any(block.issuperset(members) for block in covering[members[0]]):
                continue
            if cluster.n_factors <= MANY:
                members = _grown(cluster, members, reach, touching)
            for v in members:
                covering[v].append(set(members))
            yield np.array(members), _inside(cluster, members, reach, touching, listed), False


def _reach(cluster: FactorGraph, factor: int) -> IntArray:
    """The variables that a factor depends on."""
    scope = cluster.scope_of(factor).astype(np.int64)
    if scope.max() < cluster.n_variables:
        return scope
    return np.flatnonzero(reached(cluster, np.array([factor]))[: cluster.n_variables])


def _around(cluster: FactorGraph, nodes: IntArray) -> Iterator[tuple[int, ...]]:
    """All the variables of a factor, or pairs of them: each with those 1, 2, 4, … places further."""
    if joint_states(cluster.card[nodes]) <= BLOCK_STATES:
        if len(nodes) > 1:
            yield tuple(nodes.tolist())
        return
    for a, b in _far_apart(nodes):
        if cluster.card[a] * cluster.card[b] <= CHECKED:
            yield a, b


def _far_apart(nodes: IntArray) -> Iterator[tuple[int, int]]:
    """Pairs of nodes: each with those 1, 2, 4, … places further, in a ring."""
    step = 1
    while 2 * step <= len(nodes):
        for a, b in zip(nodes.tolist(), np.roll(nodes, -step).tolist(), strict=True):
            yield min(a, b), max(a, b)
        step *= 2


def _grown(
    cluster: FactorGraph, members: tuple[int, ...], reach: list[IntArray], touching: list[list[int]]
) -> tuple[int, ...]:
    """Add the variable that shares most factors with the block, again and again, while it stays small."""
    inside = set(members)
    while True:
        near = {f for v in inside for f in touching[v] if len(reach[f]) <= _NEAR}
        shared: dict[int, int] = {}
        for f in near:
            for v in reach[f].tolist():
                if v not in inside:
                    shared[v] = shared.get(v, 0) + 1
        size = math.prod(cluster.card[list(inside)].tolist())
        fitting = [v for v in shared if size * cluster.card[v] <= _GROWN]
        if not fitting:
            return tuple(sorted(inside))
        inside.add(max(fitting, key=lambda v: (shared[v], -v)))


def _inside(
    cluster: FactorGraph,
    members: tuple[int, ...],
    reach: list[IntArray],
    touching: list[list[int]],
    listed: dict[tuple[object, ...], States],
) -> States:
    """The joint states that the factors over members alone allow; blocks that are alike share them."""
    wanted = set(members)
    near = sorted({f for v in members for f in touching[v]})
    within = [f for f in near if wanted.issuperset(reach[f].tolist())]
    scopes = [cluster.scope_of(f).tolist() for f in within]
    cards = tuple(cluster.card[list(members)].tolist())
    if any(node >= cluster.n_variables for scope in scopes for node in scope):
        return _listed(cluster, members, np.array(within))
    place = {v: i for i, v in enumerate(members)}
    tables = zip(cluster.table_of[within].tolist(), scopes, strict=True) if within else ()
    key = (cards, tuple((table, tuple(place[v] for v in scope)) for table, scope in tables))
    if key not in listed:
        listed[key] = _listed(cluster, members, np.array(within, dtype=np.int64))
    return listed[key]


def _listed(cluster: FactorGraph, members: tuple[int, ...], within: IntArray) -> States:
    cards = cluster.card[list(members)]
    every = np.stack(np.unravel_index(np.arange(math.prod(cards.tolist())), cards), axis=1).astype(np.int32)
    if not len(within):
        return every
    part, mine = subgraph(cluster, within)
    allowed = feasible(part, len(every))
    assert allowed is not None
    code = np.ravel_multi_index(tuple(allowed.T), part.card[: part.n_variables])
    columns = np.searchsorted(members, mine)
    own = np.ravel_multi_index(tuple(every[:, columns].T), part.card[: part.n_variables])
    return every[np.isin(own, code)]
