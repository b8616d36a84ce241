"""A circuit compiled once, evaluated at any log potentials: their sum, its slopes, and its curvature.

An entry of a table whose log potential is left open becomes a state of a node of its own: which of these
entries a joint state takes is a function of it. The circuit is then about hard rules and what is fixed alone,
and log potentials are the values of its states. So none is taken for zero, or for equal to another, because
it happens to be so when the circuit is made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, starts
from plx.infer.circuit.compiled import Compilation, CompiledCircuit
from plx.infer.circuit.equivalent import Equivalent
from plx.infer.circuit.exclusive import in_pairs
from plx.infer.circuit.limits import EDGE_OPERATIONS, SLOPES
from plx.infer.exact.network import Network
from plx.infer.kernels.circuit_passes import downward, upward, upward_means
from plx.values import FloatArray, IntArray

Bools = npt.NDArray[np.bool_]


class Places(NamedTuple):
    """Where log potentials count: row ``row[i]`` where node ``node[i]`` is in state ``state[i]``, and each of
    ``always`` in every world."""

    node: IntArray
    state: IntArray
    row: IntArray
    always: IntArray


class ReweighedCircuit:
    """log Z as a function of R log potentials, of which those at ``places`` are open."""

    def __init__(self, compiled: CompiledCircuit, places: Places) -> None:
        self._circuit, self._root, self._log = compiled.circuit, compiled.root, compiled.log
        self._n_states = int(compiled.state_at[-1])
        self._leaf, self._row = _leaves(compiled.merged, compiled.state_at, places)
        self._always = places.always

    @property
    def n_rows(self) -> int:
        """How many circuit nodes are evaluated."""
        return self._n_states + len(self._circuit.log)

    @property
    def operations(self) -> float:
        """What an evaluation costs, as of a junction tree."""
        return EDGE_OPERATIONS * len(self._circuit.child)

    def __call__(self, given: FloatArray) -> tuple[float, FloatArray]:
        """log Z at these log potentials, shape (R,), and its derivatives by them: how often each is expected
        to count; −∞ if there is no world."""
        value = self._values(given)
        moved = np.bincount(self._always, minlength=len(given)).astype(np.float64)
        log_z = float(value[self._root]) + self._log + float(given[self._always].sum())
        if log_z > -np.inf:
            moved += np.bincount(self._row, self._flow(value)[self._leaf], len(given))
        return log_z, moved

    def second(self, given: FloatArray, along: FloatArray) -> FloatArray:
        """The second derivatives along K directions, ``along`` (R, K), shape (K, K).

        They are the covariance of the statistics: that of what each sum chooses, as often as it is passed,
        by the law of total variance. Children of a product are independent of one another.
        """
        value, size = self._values(given), along.shape[1]
        means = np.zeros((len(value), size))
        np.add.at(means, self._leaf, along[self._row])
        upward_means.sized(float(len(self._circuit.child)) * size)(self._circuit, value, means)
        edge = np.flatnonzero(np.repeat(self._circuit.is_sum > 0, np.diff(self._circuit.start)))
        node = self._n_states + owners(self._circuit.start)[edge]
        child, flow = self._circuit.child[edge], self._flow(value)
        out = np.zeros((size, size))
        step = max(1, SLOPES // max(1, size))
        for begin in range(0, len(edge), step):
            deadline.check()
            above, below = node[begin : begin + step], child[begin : begin + step]
            passed = (flow[above] > 0) & (value[below] > -np.inf)
            above, below = above[passed], below[passed]
            centred = means[below] - means[above]
            out += centred.T @ (centred * (flow[above] * np.exp(value[below] - value[above]))[:, None])
        return out

    def _values(self, given: FloatArray) -> FloatArray:
        deadline.check()
        states = np.bincount(self._leaf, given[self._row], self._n_states).astype(np.float64, copy=False)
        return upward.sized(float(len(self._circuit.child)))(self._circuit, states)

    def _flow(self, value: FloatArray) -> FloatArray:
        kernel = downward.sized(float(len(self._circuit.child)))
        return kernel(self._circuit, value, self._root, self._n_states)


def reweighed(graph: FactorGraph, rows: IntArray, is_open: Bools) -> ReweighedCircuit:
    """The circuit of a graph whose table entries have the log potentials ``rows``, shape like its weights;
    of these the ``is_open`` [R] are given anew each time, and the others are as in its tables.

    Raises as `compiled`.
    """
    open_entry = is_open[rows]
    # An open entry is no 0, whatever it is now: a table of zeros may be taken for a hard rule.
    general = graph._replace(table=np.where(open_entry, 1.0, graph.table))
    network, places = separated(in_pairs(general, np.empty(0, dtype=np.int64)), rows, open_entry)
    return ReweighedCircuit(Compilation(network).circuit(), places)


def separated(network: Network, rows: IntArray, open_entry: Bools) -> tuple[Network, Places]:
    """The network whose open entries are functions of the nodes of their factors, and of weight 1; the first
    entries of its table are those of the arguments."""
    builder = _Separation(network, rows, open_entry)
    scopes = zip(network.scope_start, network.scope_start[1:], network.table_at.tolist(), strict=False)
    for f, (a, b, at) in enumerate(scopes):
        builder.add(f, network.scope[a:b], at)
    return builder.network(), builder.places()


class _Entries(NamedTuple):
    """A table with open entries: the rows that it may take (-1: none that is open), which of these each joint
    state does, where the map that says so begins, and the table without them."""

    row: IntArray
    choice: IntArray
    possible: Bools
    map_at: int
    table_at: int


class _Separation:
    """The open entries of one factor after another."""

    def __init__(self, network: Network, rows: IntArray, open_entry: Bools) -> None:
        self._network = network
        self._row = np.zeros(len(network.table), dtype=np.int64)
        self._open = np.zeros(len(network.table), dtype=bool)
        self._row[: len(rows)], self._open[: len(rows)] = rows, open_entry
        self._row[~self._open] = -1
        self._table_at = network.table_at.copy()
        self._tables, self._size = [network.table], len(network.table)
        self._maps, self._map_size, self._map_at = [network.map], len(network.map), list[int]()
        self._cards, self._families = list[int](), list[IntArray]()
        self._node, self._state, self._rows = list[IntArray](), list[IntArray](), list[IntArray]()
        self._always = list[int]()
        self._seen: dict[tuple[int, int], _Entries | None] = {}

    def add(self, factor: int, scope: IntArray, at: int) -> None:
        """Separate the open entries of a factor, if it has any. Raises OutOfTimeError."""
        deadline.check()
        key = at, int(self._network.card[scope].prod())
        if key not in self._seen:
            self._seen[key] = self._entries(*key)
        found = self._seen[key]
        if found is None:
            return
        self._table_at[factor] = found.table_at
        if len(found.row) == 1:
            self._always.append(int(found.row[0]))
        elif len(scope) == 1:
            self._count(int(scope[0]), np.where(found.possible, found.row[found.choice], -1))
        else:
            node = len(self._network.card) + len(self._cards)
            self._cards.append(len(found.row))
            self._families.append(np.append(scope, node))
            self._map_at.append(found.map_at)
            self._count(node, found.row)

    def network(self) -> Network:
        """The network with what was added."""
        old, sizes = self._network, starts([len(family) for family in self._families])
        new = np.arange(len(self._cards)) + old.n_nodes
        return old._replace(
            card=np.append(old.card, np.array(self._cards, dtype=old.card.dtype)),
            times=np.append(old.times, np.ones(len(new), dtype=old.times.dtype)),
            table_at=self._table_at,
            table=np.concatenate(self._tables),
            family_start=np.concatenate([old.family_start, old.family_start[-1] + sizes[1:]]),
            family=np.concatenate([old.family, *self._families]),
            map_at=np.append(old.map_at, np.array(self._map_at, dtype=old.map_at.dtype)),
            map=np.concatenate(self._maps),
            guide=np.append(new, old.guide) if len(old.guide) else old.guide,
        )

    def places(self) -> Places:
        """Where the open entries count now."""
        empty = np.empty(0, dtype=np.int64)
        node, state, row = (
            np.concatenate([empty, *parts]) for parts in (self._node, self._state, self._rows)
        )
        return Places(node, state, row, np.array(self._always, dtype=np.int64))

    def _entries(self, at: int, size: int) -> _Entries | None:
        if not self._open[at : at + size].any():
            return None
        table, row = self._network.table[at : at + size], self._row[at : at + size]
        possible = table > -np.inf
        distinct, which = np.unique(row[possible], return_inverse=True)
        choice = np.zeros(size, dtype=np.int64)
        choice[possible] = which
        self._tables.append(np.where(self._open[at : at + size], 0.0, table))
        self._maps.append(choice.astype(self._network.map.dtype))
        found = _Entries(distinct, choice, possible, self._map_size, self._size)
        self._size, self._map_size = self._size + size, self._map_size + size
        return found

    def _count(self, node: int, row: IntArray) -> None:
        """Count a row for each state of a node; -1 is none."""
        state = np.flatnonzero(row >= 0)
        self._node.append(np.full(len(state), node))
        self._state.append(state)
        self._rows.append(row[state])


def _leaves(merged: Equivalent, state_at: IntArray, places: Places) -> tuple[IntArray, IntArray]:
    """The states of the circuit, and the row that counts in each; a state may be met more than once."""
    leaf = [np.empty(0, dtype=np.int64)]
    row = [np.empty(0, dtype=np.int64)]
    gone = np.isin(places.node, np.array(list(merged.state), dtype=np.int64))
    leaf.append(state_at[places.node[~gone]] + places.state[~gone])
    row.append(places.row[~gone])
    for i in np.flatnonzero(gone).tolist():
        node = int(places.node[i])
        at = np.flatnonzero(merged.state[node] == places.state[i])
        leaf.append(state_at[merged.of[node]] + at)
        row.append(np.full(len(at), places.row[i]))
    return np.concatenate(leaf), np.concatenate(row)
