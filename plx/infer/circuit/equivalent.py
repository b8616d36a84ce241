"""Nodes that hard rules make functions of one another, both ways, taken as one.

`same(x, y) <=> same(y, x)` halves the nodes. Factors that are about the same nodes are added into one.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.graph.ragged import starts
from plx.infer.exact.network import Network
from plx.values import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Equivalent:
    """A network in which merged nodes have one state and no factor, and how they follow from others.

    ``of[n]`` is the node that n was merged into, or n; ``state[n][s]`` the state of a merged node n when that
    node is in state s.
    """

    network: Network
    of: IntArray  # [N]
    state: dict[int, IntArray]

    def fill(self, worlds: IntArray) -> IntArray:
        """Set the states of merged nodes in worlds, shape (n, N)."""
        for node, state in self.state.items():
            worlds[:, node] = state[worlds[:, self.of[node]]]
        return worlds

    def spread(self, nodes: tuple[int, ...], kept: tuple[int, ...], joint: FloatArray) -> FloatArray:
        """The joint distribution of nodes from that of those they were merged into, each flat in C order."""
        card = self.network.card
        states = np.unravel_index(np.arange(len(joint)), card[list(kept)].tolist())
        at = [states[kept.index(int(self.of[node]))] for node in nodes]
        at = [self.state[n][s] if n in self.state else s for n, s in zip(nodes, at, strict=True)]
        out = np.zeros([int(card[self.of[node]]) for node in nodes])
        out[tuple(at)] = joint
        return out.ravel()


def equivalent(network: Network) -> Equivalent:
    """The network with nodes merged that some table over the two makes functions of one another."""
    of, state = _classes(network)
    card = network.card.copy()
    card[list(state)] = 1
    factors = _factors(network)
    affected = _affected(factors, of)
    if not affected.any():
        return Equivalent(network, of, state)
    tables: dict[tuple[int, ...], FloatArray] = {}
    for (nodes, at, is_map), moved in zip(factors, affected, strict=True):
        if moved:
            scope, table = _moved(network, nodes, _table(network, nodes, at, is_map), of, state)
            tables[scope] = tables[scope] + table if scope in tables else table
    return Equivalent(_rebuilt(network, card, affected, tables), of, state)


def _affected(factors: list[tuple[IntArray, int, bool]], of: IntArray) -> npt.NDArray[np.bool_]:
    """Which factors are about merged nodes, or about the same nodes as others."""
    scopes = [tuple(sorted({int(of[node]) for node in nodes})) for nodes, *_ in factors]
    times = Counter(scopes)
    return np.array(
        [
            times[scope] > 1 or bool((of[nodes] != nodes).any())
            for scope, (nodes, *_) in zip(scopes, factors, strict=True)
        ],
        dtype=bool,
    )


def _factors(network: Network) -> list[tuple[IntArray, int, bool]]:
    """The nodes of all factors, then of all functions, where their tables begin, and whether it is a map."""
    scopes = zip(network.scope_start, network.scope_start[1:], network.table_at.tolist(), strict=False)
    families = zip(network.family_start, network.family_start[1:], network.map_at.tolist(), strict=False)
    return [
        *((network.scope[a:b], at, False) for a, b, at in scopes),
        *((network.family[a:b], at, True) for a, b, at in families),
    ]


def truth(network: Network, at: int, cards: tuple[int, ...]) -> FloatArray:
    """The table of a function: 0 where the last node is what the map says, else -inf; flat in C order."""
    size = math.prod(cards[:-1])
    table = np.full((size, cards[-1]), -np.inf)
    table[np.arange(size), network.map[at : at + size]] = 0.0
    return table.ravel()


def _table(network: Network, nodes: IntArray, at: int, is_map: bool) -> FloatArray:
    cards = tuple(network.card[nodes].tolist())
    flat = truth(network, at, cards) if is_map else network.table[at : at + math.prod(cards)]
    return flat.reshape(cards)


def _classes(network: Network) -> tuple[IntArray, dict[int, IntArray]]:
    """Which node each is merged into, and the states that follow."""
    of, state = np.arange(network.n_nodes), dict[int, IntArray]()
    members: dict[int, list[int]] = {}
    seen: dict[tuple[int, bool, int], IntArray | None] = {}
    for nodes, at, is_map in _factors(network):
        if len(nodes) != 2 or network.card[nodes[0]] != network.card[nodes[1]] or network.card[nodes[0]] < 2:
            continue
        key = at, is_map, int(network.card[nodes[0]])
        if key not in seen:
            seen[key] = _bijection(_table(network, nodes, at, is_map) > -np.inf)
        forward = seen[key]
        a, b = (int(node) for node in nodes)
        if forward is None or of[a] == of[b]:
            continue
        # b = forward[a]; all that was merged into b's node goes to that of a.
        root, other = int(of[a]), int(of[b])
        here = state.get(a, np.arange(key[2]))  # a from its node
        back = np.argsort(state[b]) if b in state else np.arange(key[2])  # the node of b, from b
        onto = back[forward[here]]  # the node of b from that of a
        for node in (other, *members.pop(other, [])):
            state[node] = state[node][onto] if node in state else onto
            of[node] = root
            members.setdefault(root, []).append(node)
    return of, state


def _bijection(possible: npt.NDArray[np.bool_]) -> IntArray | None:
    """The one state of the second node for each of the first, if it is one each way."""
    single = (possible.sum(axis=0) == 1).all() and (possible.sum(axis=1) == 1).all()
    return possible.argmax(axis=1) if single else None


def _moved(
    network: Network, nodes: IntArray, table: FloatArray, of: IntArray, state: dict[int, IntArray]
) -> tuple[tuple[int, ...], FloatArray]:
    """The scope and the table, flat, of a factor once nodes are merged."""
    scope = tuple(sorted({int(of[node]) for node in nodes}))
    grid = np.indices(network.card[list(scope)].tolist())
    at = []
    for node in nodes.tolist():
        own = grid[scope.index(int(of[node]))]
        at.append(state[node][own] if node in state else own)
    return scope, np.ascontiguousarray(table[tuple(at)]).ravel()


def _rebuilt(
    network: Network,
    card: IntArray,
    affected: npt.NDArray[np.bool_],
    tables: dict[tuple[int, ...], FloatArray],
) -> Network:
    """The network without the factors and functions affected, and with these tables in their place."""
    factors = _factors(network)
    n = network.n_factors
    kept = [factor for factor, gone in zip(factors[:n], affected[:n], strict=True) if not gone]
    functions = [factor for factor, gone in zip(factors[n:], affected[n:], strict=True) if not gone]
    rows = [*(nodes for nodes, *_ in kept), *(np.array(scope, dtype=np.int64) for scope in tables)]
    begin = len(network.table) + starts([len(table) for table in tables.values()])[:-1]
    empty = np.empty(0, dtype=np.int64)
    return network._replace(
        card=card,
        scope_start=starts([len(row) for row in rows]),
        scope=np.concatenate([*rows, empty]),
        table_at=np.concatenate([np.array([at for _, at, _ in kept], dtype=np.int64), begin]),
        table=np.concatenate([network.table, *tables.values()]),
        family_start=starts([len(nodes) for nodes, *_ in functions]),
        family=np.concatenate([*(nodes for nodes, *_ in functions), empty]),
        map_at=np.array([at for _, at, _ in functions], dtype=np.int64),
        guide=empty,
    )
