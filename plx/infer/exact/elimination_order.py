"""Elimination orders, and the cliques and sizes that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plx.graph.ragged import entries_of, owners, starts
from plx.infer.exact.network import Network
from plx.infer.interrupts import waited
from plx.infer.kernels.elimination_order import Interaction, eliminate
from plx.values import FloatArray, IntArray

_HOPELESS_BITS = 48.0
"""A search for an order stops at a clique of more than 2^48 states, and all searches"""

_HOPELESS_TRIES = 3
"""where so many have stopped so,"""

_HOPELESS_OPERATIONS, _FEW_TRIES = 1e13, 10
"""or after n, ten at least, where the best takes so many operations divided by n: ten times what any plan may
take, or twice after fifty."""

_FEW_NODES = 2000
"""Where an order by size is hopeless, others are tried for so many nodes."""


GOOD_ENOUGH = 2e5
"""Operations below which the first order is taken; after n tries n³ times as many are good enough,"""

_MANY_TRIES = 100
"""at most 100 n times."""

_TEMPER, _PLAIN_TRIES = 0.1, 3
"""After so many tries the fill of each node is multiplied by a random number to this power: orders that are
nearly greedy are often better by some bits, where ties are few."""

_MOST_TRIES = 150

_STEPS = 200_000
"""Nodes times tries at most, past the third try: the search must not take longer than what it spares."""

_MANY_STEPS = 20_000
"""Where counting the fill of every node takes more steps, in thousands, orders by size come first."""

_SEARCH_STEPS = 1_000_000_000
"""After so many steps, some two seconds, fill is not counted any more, and three tries are enough;"""

_SEARCH_SHARE, _LONG_SEARCH = 0.1, 3_000_000_000
"""or after this share of the operations that the best order takes, at most so many."""

_TRIED_STEPS = 300_000_000
"""Orders to decide by, not to eliminate in, get fewer."""

_MOST_STEPS = 1 << 62
"""As good as no bound: a search ends by its width, or at the deadline."""

_EMPTY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Skeleton:
    """A junction tree without numbers: clique c eliminates ``order[c]``; children precede parents.

    The axes of a clique are sorted by their place in the order. ``clique_of`` and ``function_of``
    pair each clique with the functions whose families it contains; the output's axis is then not
    a base axis.
    """

    network: Network
    order: IntArray  # [C]
    place: IntArray  # [N] the inverse
    axis_start: IntArray  # [C + 1]
    axis: IntArray  # nodes
    parent: IntArray  # [C] or -1
    clique_of: IntArray
    function_of: IntArray
    complete: bool

    @cached_property
    def key(self) -> IntArray:
        """A sorted key for every axis: see `locate`."""
        owner = owners(self.axis_start)
        return owner * self.network.n_nodes + self.place[self.axis]

    def locate(self, clique: IntArray, node: IntArray) -> IntArray:
        """The axis that is a node of a clique, or -1 where the clique lacks the node."""
        return _find(self.key, clique * self.network.n_nodes + self.place[node])

    @cached_property
    def base(self) -> IntArray:
        """1 for a base axis of its clique, 0 for a function of other axes."""
        out = np.ones(len(self.axis), dtype=np.int64)
        output = self.network.family[self.network.family_start[self.function_of + 1] - 1]
        out[self.locate(self.clique_of, output)] = 0
        return out

    @cached_property
    def bits(self) -> FloatArray:
        """log2 of the entries of every clique."""
        return self._sum_bits(self.base)

    @cached_property
    def message_base(self) -> IntArray:
        """1 for the axes that a message to the parent runs over."""
        network = self.network
        out = np.ones(len(self.axis), dtype=np.int64)
        out[self.axis_start[:-1]] = 0
        home = first_place(network.family_start, network.family, self.place)
        kept = home[self.function_of] != self.clique_of
        output = network.family[network.family_start[self.function_of[kept] + 1] - 1]
        out[self.locate(self.clique_of[kept], output)] = 0
        return out

    @cached_property
    def message_bits(self) -> FloatArray:
        """log2 of the entries of the message of every clique."""
        return self._sum_bits(self.message_base)

    @cached_property
    def items(self) -> IntArray:
        """How many factors and messages every clique gathers."""
        home = first_place(self.network.scope_start, self.network.scope, self.place)
        parents = self.parent[self.parent >= 0]
        count = np.bincount(np.concatenate([home, parents]), minlength=len(self.order))
        return count[: len(self.order)]

    def home(self, scope: tuple[int, ...]) -> int:
        """The first clique that holds all these nodes, or -1."""
        nodes = np.array(scope, dtype=np.int64)
        clique = np.full(len(nodes), self.place[nodes].min())
        return int(clique[0]) if (self.locate(clique, nodes) >= 0).all() else -1

    @cached_property
    def smallest(self) -> IntArray:
        """The smallest clique that holds each node, shape (N,)."""
        owner = owners(self.axis_start)
        by_size = np.lexsort((self.bits[owner], self.axis))
        first = np.searchsorted(self.axis[by_size], np.arange(self.network.n_nodes))
        return owner[by_size[first]]

    @cached_property
    def operations(self) -> float:
        """Table entries touched by one propagation, about; infinite past the range of doubles."""
        return float(self.clique_operations.sum())

    @property
    def clique_operations(self) -> FloatArray:
        """Table entries of every clique touched by one propagation, about."""
        with np.errstate(over="ignore"):
            return np.asarray(2.0**self.bits * (2.0 * self.items + 10.0))

    def _sum_bits(self, base: IntArray) -> FloatArray:
        bits = np.log2(self.network.card[self.axis]) * base
        return np.add.reduceat(bits, self.axis_start[:-1]) if len(self.order) else np.empty(0)


def first_place(start: IntArray, node: IntArray, place: IntArray) -> IntArray:
    """The earliest place among each row of nodes: the clique that holds them all."""
    return np.minimum.reduceat(place[node], start[:-1]) if len(start) > 1 else _EMPTY


def find_order(network: Network, seed: int = 0) -> Skeleton:
    """The cheapest of several greedy elimination orders (min-fill and min-size, ties at random).

    The dearer the best so far, the more are tried. Fill takes long to count, and where an order by size
    is hopeless, fill is not counted in large networks. Raises OutOfTime at the deadline.
    """
    graph = interaction(network)
    degree = np.diff(graph.start).astype(np.float64)
    large = network.n_nodes + float(degree @ degree) / 1000 > _MANY_STEPS
    if not large and network.n_functions == 0:
        scout = _eliminated(graph, _EMPTY, False, np.zeros(network.n_nodes), _HOPELESS_BITS)
        if len(scout[0]) < network.n_nodes and network.n_nodes > _FEW_NODES:
            return skeleton(network, *scout)
    trials = max(3, min(_MOST_TRIES, _STEPS // max(1, network.n_nodes)))
    candidates = [(network.guide, False)] if len(network.guide) else []
    candidates += [(_EMPTY, trial % 3 == 1 if large else trial % 3 != 1) for trial in range(trials)]
    noise = np.random.default_rng(seed)
    best: Skeleton | None = None
    spent = 0
    for tries, (forced, by_fill) in enumerate(candidates, start=1):
        cap = float(best.bits.max(initial=1.0)) if best and best.complete else _HOPELESS_BITS
        most = _SEARCH_STEPS
        if best and best.complete:
            most = max(most, int(min(_LONG_SEARCH, _SEARCH_SHARE * best.operations)))
        by_fill = by_fill and spent < most
        given = most - spent if by_fill else _MOST_STEPS
        steps_left = _counter(given)
        draw, temper = noise.random(network.n_nodes), _TEMPER * (by_fill and tries > _PLAIN_TRIES)
        calls = max(1, _HOPELESS_TRIES + 1 - tries)
        found = skeleton(network, *_eliminated(graph, forced, by_fill, draw, cap, steps_left, calls, temper))
        spent += given - int(steps_left[0])
        if by_fill and steps_left[0] < 0 and not found.complete:
            continue  # an order by size comes next
        if best is None or (found.complete, -found.operations) > (best.complete, -best.operations):
            best = found
        hopeless = not best.complete and (tries >= _HOPELESS_TRIES or network.n_nodes > _FEW_NODES)
        hopeless |= tries >= _FEW_TRIES and best.operations * tries > _HOPELESS_OPERATIONS
        hopeless |= tries >= _HOPELESS_TRIES and spent > most
        enough = (GOOD_ENOUGH + 200.0 * network.n_nodes) * min(tries**3, _MANY_TRIES * tries)
        if hopeless or (best.complete and best.operations < enough):
            break
    assert best is not None
    return best


def in_order_of_size(network: Network, cap: float) -> bool:
    """Whether the order in which the smallest clique comes next has none of more than ``cap`` bits."""
    order, *_ = _eliminated(interaction(network), _EMPTY, False, np.zeros(network.n_nodes), cap)
    return len(order) == network.n_nodes


def tried_orders(network: Network, tries: int, cap: float, seed: int = 0) -> list[Skeleton]:
    """The trees of several greedy orders, with cliques of up to ``cap`` bits; one of them is complete if any
    order by size is. Raises OutOfTimeError."""
    graph, noise = interaction(network), np.random.default_rng(seed)
    degree = np.diff(graph.start).astype(np.float64)
    large = network.n_nodes + float(degree @ degree) / 1000 > _MANY_STEPS
    left, found = _TRIED_STEPS, list[Skeleton]()
    for trial in range(1 if large else tries):
        by_fill = not large and trial % 3 != 1 and left > 0
        steps_left = _counter(left if by_fill else _MOST_STEPS)
        before, draw = int(steps_left[0]), noise.random(network.n_nodes)
        found.append(skeleton(network, *_eliminated(graph, _EMPTY, by_fill, draw, cap, steps_left)))
        left -= before - int(steps_left[0])
        if left <= 0 and not by_fill:
            break
    return found


def follow_order(network: Network, order: IntArray) -> Skeleton:
    """The tree of a given elimination order."""
    noise = np.zeros(network.n_nodes)
    return skeleton(network, *_eliminated(interaction(network), order, False, noise, _HOPELESS_BITS))


def _eliminated(
    graph: Interaction,
    forced: IntArray,
    by_fill: bool,
    noise: FloatArray,
    cap: float,
    steps_left: IntArray | None = None,
    calls: int = 1,
    temper: float = 0.0,
) -> tuple[IntArray, IntArray, IntArray]:
    steps_left = _counter() if steps_left is None else steps_left
    options = (graph, forced, by_fill, noise, temper, cap, steps_left)
    return waited(
        lambda stop: eliminate.counted(steps_left, calls, *options, stop),
        1000.0 * len(graph.neighbour),
    )


def _counter(steps: int = _MOST_STEPS) -> IntArray:
    return np.array([steps], dtype=np.int64)


def interaction(network: Network) -> Interaction:
    """The graph that joins nodes of a common scope or family."""
    n = network.n_nodes
    pairs = [
        _pairs(network.scope_start, network.scope, n),
        _pairs(network.family_start, network.family, n),
    ]
    key = np.sort(np.concatenate(pairs))  # np.unique hashes, which takes ten times as long
    key = key[np.concatenate([[True], key[1:] != key[:-1]])] if len(key) else key
    owner = owners(network.family_start)
    by_node = np.argsort(network.family, kind="stable")
    return Interaction(
        start=starts(np.bincount(key // n, minlength=n)),
        neighbour=np.ascontiguousarray(key % n),
        bits=np.log2(network.card),
        family_start=network.family_start,
        family=network.family,
        incident_start=starts(np.bincount(network.family, minlength=n)),
        incident=owner[by_node],
    )


def skeleton(network: Network, order: IntArray, row: IntArray, members: IntArray) -> Skeleton:
    """The tree of the cliques that an elimination left."""
    n, complete = network.n_nodes, len(order) == network.n_nodes
    place = np.full(n, n, dtype=np.int64)
    place[order] = np.arange(len(order))
    owner = owners(row)
    axis = members[np.lexsort((place[members], owner))]
    parent = np.full(len(order), -1, dtype=np.int64)
    if not complete:
        return Skeleton(network, order, place, row, axis, parent, _EMPTY, _EMPTY, False)
    joined = np.diff(row) > 1
    parent[joined] = place[axis[row[:-1][joined] + 1]]
    _share(parent, row, axis)
    key = owner * n + place[axis]
    cliques, functions = _contained(network, row, parent, place, key)
    return Skeleton(network, order, place, row, axis, parent, cliques, functions, True)


def _share(parent: IntArray, row: IntArray, axis: IntArray) -> None:
    """Of cliques with one message scope, let the last alone send to the parent, the rest to it.

    That spares a wide parent many messages, such as one per friendship of a pair of people.
    """
    width = np.diff(row) - 1
    for k in np.unique(width[width > 0]):
        cliques = np.flatnonzero(width == k)
        rows = axis[row[cliques][:, None] + np.arange(1, k + 1)]
        alike = np.lexsort(rows.T)
        same = (rows[alike][1:] == rows[alike][:-1]).all(axis=1)
        first = np.flatnonzero(np.concatenate([[True], ~same]))
        group = np.cumsum(np.concatenate([[True], ~same])) - 1
        last = np.maximum.reduceat(cliques[alike], first)[group]
        rest = cliques[alike] != last
        parent[cliques[alike][rest]] = last[rest]


def _contained(
    network: Network, row: IntArray, parent: IntArray, place: IntArray, key: IntArray
) -> tuple[IntArray, IntArray]:
    """All pairs of a clique and a function whose family it contains, by clique, then function.

    The cliques that contain a family form a subtree below the first one that eliminates a member.
    """
    n = network.n_nodes
    functions = np.arange(network.n_functions)
    cliques = first_place(network.family_start, network.family, place)
    by_parent = np.argsort(parent, kind="stable")
    child_start = np.searchsorted(parent[by_parent], np.arange(len(parent) + 1))
    found = [(cliques, functions)]
    while len(cliques):
        position, owner = entries_of(child_start, cliques)
        cliques, functions = by_parent[position], functions[owner]
        large = np.diff(row)[cliques] > np.diff(network.family_start)[functions]
        cliques, functions = cliques[large], functions[large]
        position, owner = entries_of(network.family_start, functions)
        inside = _find(key, cliques[owner] * n + place[network.family[position]]) >= 0
        whole = np.bincount(owner[~inside], minlength=len(cliques)) == 0
        cliques, functions = cliques[whole], functions[whole]
        found.append((cliques, functions))
    cliques = np.concatenate([pair[0] for pair in found])
    functions = np.concatenate([pair[1] for pair in found])
    by_clique = np.lexsort((functions, cliques))
    return cliques[by_clique], functions[by_clique]


def _find(key: IntArray, wanted: IntArray) -> IntArray:
    at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    return np.where(key[at] == wanted, at, -1) if len(key) else np.full(len(wanted), -1)


def _pairs(start: IntArray, node: IntArray, n: int) -> IntArray:
    """Keys ``u·n + w`` of all ordered pairs within rows."""
    sizes = np.diff(start)
    keys = [_EMPTY]
    for k in np.unique(sizes):
        rows = node[start[:-1][sizes == k][:, None] + np.arange(k)]
        for i in range(k):
            for j in range(i + 1, k):
                keys += [rows[:, i] * n + rows[:, j], rows[:, j] * n + rows[:, i]]
    return np.concatenate(keys)
