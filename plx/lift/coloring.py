"""The coloured graph of a model: its automorphisms are the symmetries over variable-value pairs.

One vertex per pair; the two pairs of a variable are joined, more are joined to a vertex of its own.
A table is written canonically (see `offsets`) as weighted conjunctions: one vertex per entry,
coloured by the exact weight and joined to its pairs. A count of literals is one vertex, coloured by
the weight of every count, joined to its literals: to the pair where a literal is one pair, else to a
vertex that stands for the set of pairs. Other derived nodes have a vertex of their own, coloured by
their output map, and one per state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.assemble import factor_batches
from plx.graph.model import FactorGraph, Int32Array
from plx.graph.ragged import segments, starts
from plx.graph.rows import AnyInt, unique_keys, unique_rows
from plx.graph.sizes import joint_states
from plx.lift.entries import offsets
from plx.lift.kernels import adjacency
from plx.lift.limits import LARGEST_GRAPH, TRUTH_TABLE
from plx.values import ZERO, IntArray, Values

PAIR: Final = 0
VARIABLE: Final = 1
LITERAL: Final = 2
ENTRY: Final = 3
COUNT: Final = 4
SIDE: Final = 5
DERIVED: Final = 6
STATE: Final = 7
ROLES: Final = ("pair", "variable", "literal", "entry", "count", "side", "derived", "state")


class ColoredGraph(NamedTuple):
    """An undirected graph with coloured vertices; vertices 0 … n_pairs-1 are the pairs."""

    n_pairs: int
    start: IntArray  # [n + 1]
    neighbor: Int32Array  # neighbours of v: neighbor[start[v] : start[v + 1]]
    color: IntArray  # [n], dense from 0
    role: npt.NDArray[np.int8]  # [n], an index of ROLES
    weight: IntArray  # [n], for an entry of a table the id of its exact weight

    @property
    def n_vertices(self) -> int:
        return len(self.color)


def color_graph(values: Values, graph: FactorGraph, pair_label: AnyInt) -> ColoredGraph:
    """The coloured graph of a factor graph in normal form.

    ``pair_label`` [Σ card of the variables] are labels that symmetries must respect: the truth
    value where only variables may be permuted, multiplicities of value classes, or zeros. Raises
    MemoryError, before the memory is taken, for a graph of more than 60 million vertices and edges, and
    OutOfTimeError at the deadline.
    """
    build = _Builder(values, graph)
    build.pairs(pair_label)
    build.tables()
    build.derived_nodes()
    return build.finish(len(pair_label))


@dataclass
class _Builder:
    """Vertices and edges as they are found. A literal is a number below 0 until `finish`."""

    values: Values
    graph: FactorGraph
    size: int = 0
    edges: int = 0
    keys: list[IntArray] = field(default_factory=list)  # colours as rows (role, a, b, c)
    left: list[IntArray] = field(default_factory=list)
    right: list[IntArray] = field(default_factory=list)
    literals: list[IntArray] = field(default_factory=list)  # rows (node, set)
    n_literals: int = 0
    sets: dict[tuple[int, tuple[int, ...]], int] = field(default_factory=dict)
    content: dict[tuple[object, ...], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        graph = self.graph
        derived = np.arange(graph.n_derived) + graph.n_variables
        arity = np.diff(graph.scope_start)
        alone = graph.scope[graph.scope_start[:-1]][arity == 1]
        scopes = np.bincount(graph.scope, minlength=graph.n_nodes)[derived]
        fed = np.bincount(graph.input_node, minlength=graph.n_nodes)[derived]
        lone = np.bincount(alone, minlength=graph.n_nodes)[derived]
        self.private = (scopes == 1) & (lone == 1) & (fed == 0)
        self.unary = np.full(graph.n_nodes, -1, dtype=np.int64)
        self.unary[alone] = np.flatnonzero(arity == 1)

    def add(self, role: int, n: int, *parts: AnyInt | int) -> IntArray:
        """n new vertices whose colour is the role and up to three numbers."""
        self._check(n)
        rows = np.zeros((n, 4), dtype=np.int64)
        rows[:, 0] = role
        for i, part in enumerate(parts):
            rows[:, i + 1] = part
        self.keys.append(rows)
        self.size += n
        return np.arange(self.size - n, self.size)

    def join(self, left: AnyInt, right: AnyInt) -> None:
        self.edges += np.size(left)
        self._check(0)
        self.left.append(np.asarray(left, dtype=np.int64).ravel())
        self.right.append(np.asarray(right, dtype=np.int64).ravel())

    def _check(self, more: int) -> None:
        deadline.check()
        if self.size + self.edges + more > LARGEST_GRAPH:
            raise MemoryError

    def number(self, *content: object) -> int:
        """A number for a colour that is more than a few integers."""
        return self.content.setdefault(content, len(self.content))

    # ------------------------------------------------------------------ pairs and states

    def pairs(self, label: AnyInt) -> None:
        graph = self.graph
        card = graph.card[: graph.n_variables].astype(np.int64)
        weight = self._unary_offsets(np.arange(graph.n_variables))
        pair = self.add(PAIR, len(label), label, weight)
        begin = starts(card)[:-1]
        self.join(begin[card == 2], begin[card == 2] + 1)
        many = np.flatnonzero(card != 2)
        variable = np.repeat(self.add(VARIABLE, len(many)), card[many])
        self.join(variable, pair[segments(begin[many], card[many])])
        self.first = np.concatenate([begin, np.full(graph.n_derived, -1)])
        public = np.flatnonzero(~self.private)
        if len(public):
            self._states(graph.n_variables + public)

    def _states(self, nodes: IntArray) -> None:
        """A vertex for each derived node that others read, and for each of its states."""
        card = self.graph.card[nodes].astype(np.int64)
        self.vertex = np.full(self.graph.n_nodes, -1, dtype=np.int64)
        self.vertex[nodes] = self.add(
            DERIVED, len(nodes), self.graph.output_of[nodes - self.graph.n_variables]
        )
        place = segments(np.zeros(len(nodes), dtype=np.int64), card)
        state = self.add(STATE, len(place), place, self._unary_offsets(nodes))
        self.join(np.repeat(self.vertex[nodes], card), state)
        self.first[nodes] = state[0] + starts(card)[:-1]

    def _unary_offsets(self, nodes: AnyInt) -> IntArray:
        """Offsets of the entries of the unary factor of each node, one node after the other."""
        graph = self.graph
        card = graph.card[nodes].astype(np.int64)
        out = np.full(card.sum(), ZERO, dtype=np.int64)
        factor = self.unary[nodes]
        begin = starts(card)[:-1]
        for c in np.unique(card[factor >= 0]):
            mine = np.flatnonzero((factor >= 0) & (card == c))
            used, row = unique_keys(graph.table_of[factor[mine]].astype(np.int64))
            entry = graph.table_start[graph.table_of[factor[mine[used]]]][:, None] + np.arange(c)
            out[begin[mine][:, None] + np.arange(c)] = offsets(self.values, graph.weight[entry])[0][row]
        return out

    # ----------------------------------------------------------------------------- tables

    def tables(self) -> None:
        for batch in factor_batches(self.graph):
            scope = np.asarray(batch.scope, dtype=np.int64)
            if scope.shape[1] > 1:
                cards = self.graph.card[scope[0]]
                self._entries(self.first[scope], cards, np.asarray(batch.table), batch.tables)

    def _entries(self, first: IntArray, cards: AnyInt, table: AnyInt, tables: IntArray) -> None:
        """One vertex per entry that is written: ``first`` [n, k] are the vertices of the states 0."""
        offset, omitted = offsets(self.values, tables)
        row, column = np.nonzero(offset != omitted[:, None])
        begin = starts(np.bincount(row, minlength=len(tables)))
        count = np.diff(begin)[table]
        entry = segments(begin[:-1][table], count)
        owner = np.repeat(np.arange(len(first)), count)
        state = np.stack(np.unravel_index(column, tuple(cards)), axis=1)
        weight = offset[row, column]
        vertex = self.add(ENTRY, len(entry), weight[entry], omitted[row[entry]])
        self.join(np.repeat(vertex, first.shape[1]), first[owner] + state[entry])

    # ---------------------------------------------------------------------- derived nodes

    def derived_nodes(self) -> None:
        """Groups of derived nodes that differ in their inputs alone are written together."""
        graph = self.graph
        fan_in = np.diff(graph.input_start)
        for k in np.unique(fan_in):
            group = np.flatnonzero(fan_in == k)
            edge = graph.input_start[group][:, None] + np.arange(k)
            vector = graph.input_contribution[edge].astype(np.int64)
            unary = self.unary[graph.n_variables + group]
            table = np.where(self.private[group], graph.table_of[unary], -1)
            kind = np.concatenate([vector, graph.output_of[group][:, None], table[:, None]], axis=1)
            first, inverse = unique_rows(kind)
            for i, row in enumerate(first):
                mine = inverse == i
                self._derived(group[mine], graph.input_node[edge[mine]].astype(np.int64), vector[row])

    def _derived(self, derived: IntArray, node: IntArray, vectors: IntArray) -> None:
        """Derived nodes [n] with inputs ``node`` [n, k] and the same contribution vectors and map."""
        vector = [self.graph.contribution_of(v) for v in vectors]
        levels = [np.unique(v) for v in vector]
        output = self.graph.output_map(int(derived[0])).astype(np.int64)
        binary = all(v.max() == 1 for v in vector)
        like_table = (
            not binary and joint_states([len(level) for level in levels]) == len(output) <= TRUTH_TABLE
        )
        if not self.private[derived[0]]:
            if like_table:
                self._truth_table(derived, node, vector, levels, output)
            else:
                target = self.vertex[self.graph.n_variables + derived]
                self._count(target, node, vector, levels)
            return
        factor = self.unary[self.graph.n_variables + int(derived[0])]
        weight = self.graph.table_weights(factor)[output]
        if like_table:
            literal, sums, shape = self._grid(node, vector, levels)
            tables = weight[sums][None]
            self._literal_entries(literal, shape, tables)
        else:
            self._count_feature(node, vector, levels, offsets(self.values, weight[None])[0][0], binary)

    def _count_feature(
        self,
        node: IntArray,
        vector: Sequence[AnyInt],
        levels: Sequence[AnyInt],
        weight: IntArray,
        binary: bool,
    ) -> None:
        """Count features; a count of true literals is also one of false literals, from the other end."""
        forward, backward = tuple(weight.tolist()), tuple(weight[::-1].tolist())
        if not binary or forward < backward:
            target = self.add(COUNT, len(node), self.number(forward))
            self._count(target, node, vector, levels)
        elif forward > backward:
            target = self.add(COUNT, len(node), self.number(backward))
            self._count(target, node, [1 - v for v in vector], levels)
        else:
            target = self.add(COUNT, len(node), self.number(forward))
            for side in (vector, [1 - v for v in vector]):
                end = self.add(SIDE, len(node))
                self.join(target, end)
                self._count(end, node, side, levels)

    def _count(
        self, target: IntArray, node: IntArray, vector: Sequence[AnyInt], levels: Sequence[AnyInt]
    ) -> None:
        """Join the vertices ``target`` [n] to the literals of their inputs ``node`` [n, k]."""
        for j, contributions in enumerate(vector):
            for level in levels[j]:
                if level:
                    self.join(
                        target, self._literal(node[:, j], np.flatnonzero(contributions == level), level)
                    )

    def _literal(self, node: IntArray, states: IntArray, times: int = 1) -> IntArray:
        """The vertices that say "node is in states"; ``times`` is what that contributes."""
        if len(states) == 1 and times == 1:
            pair: IntArray = self.first[node] + states[0]
            return pair
        key = (int(times), tuple(states.tolist()))
        number = self.sets.setdefault(key, len(self.sets))
        self.literals.append(np.stack([node, np.full(len(node), number)], axis=1))
        self.n_literals += len(node)
        return -1 - np.arange(self.n_literals - len(node), self.n_literals)

    def _grid(
        self, node: IntArray, vector: Sequence[AnyInt], levels: Sequence[AnyInt]
    ) -> tuple[list[IntArray], IntArray, tuple[int, ...]]:
        """Per input its literals [n, levels], the sum of each combination, and the shape of those."""
        literal = [
            np.stack([self._literal(node[:, j], np.flatnonzero(v == level)) for level in levels[j]], axis=1)
            for j, v in enumerate(vector)
        ]
        shape = tuple(len(level) for level in levels)
        sums = np.zeros(shape, dtype=np.int64)
        for level in np.ix_(*levels):
            sums = sums + level
        return literal, sums.ravel(), shape

    def _literal_entries(self, literal: list[IntArray], shape: tuple[int, ...], tables: IntArray) -> None:
        """A weighted table over literals, for all nodes alike."""
        offset, omitted = offsets(self.values, tables)
        for column in np.flatnonzero(offset[0] != omitted[0]):
            vertex = self.add(ENTRY, len(literal[0]), offset[0, column], omitted[0])
            for j, state in enumerate(np.unravel_index(column, shape)):
                self.join(vertex, literal[j][:, state])

    def _truth_table(
        self,
        derived: IntArray,
        node: IntArray,
        vector: Sequence[AnyInt],
        levels: Sequence[AnyInt],
        output: IntArray,
    ) -> None:
        """Every combination of literals joined to the state it gives; the commonest state is left out."""
        literal, sums, shape = self._grid(node, vector, levels)
        state = output[sums]
        omitted = np.bincount(state).argmax()
        first = self.first[self.graph.n_variables + derived]
        for column in np.flatnonzero(state != omitted):
            vertex = self.add(ENTRY, len(node), -1)
            self.join(vertex, first + state[column])
            for j, level in enumerate(np.unravel_index(column, shape)):
                self.join(vertex, literal[j][:, level])

    # ----------------------------------------------------------------------------- the end

    def finish(self, n_pairs: int) -> ColoredGraph:
        place = self._place_literals()
        left, right = (_resolve(np.concatenate([*ends]), place) for ends in (self.left, self.right))
        keys = np.concatenate(self.keys)
        start, neighbor = adjacency(len(keys), left, right)
        deadline.check()
        _, color = unique_rows(self._separate_copies(keys, start, neighbor))
        return ColoredGraph(n_pairs, start, neighbor, color, keys[:, 0].astype(np.int8), keys[:, 1].copy())

    def _place_literals(self) -> IntArray:
        """The vertex of every literal that was asked for; equal ones are one."""
        if not self.literals:
            return np.empty(0, dtype=np.int64)
        rows = np.concatenate(self.literals)
        first, inverse = unique_rows(rows)
        sets = list(self.sets)
        for number in np.unique(rows[first, 1]):
            mine = np.flatnonzero(rows[first, 1] == number)
            times, states = sets[number]
            vertex = self.add(LITERAL, len(mine), times)
            if len(mine):
                pairs = self.first[rows[first[mine], 0]][:, None] + np.array(states)
                self.join(np.repeat(vertex, len(states)), pairs)
            rows[first[mine], 1] = vertex
        vertex_of: IntArray = rows[first, 1][inverse]
        return vertex_of

    def _separate_copies(self, keys: IntArray, start: IntArray, neighbor: Int32Array) -> IntArray:
        """Number features with one colour and the same literals: swapping those is no symmetry."""
        seen: dict[bytes, int] = {}
        for v in np.flatnonzero(keys[:, 0] == COUNT):
            around = np.sort(neighbor[start[v] : start[v + 1]])
            content = keys[v].tobytes() + around.tobytes()
            keys[v, 3] = seen[content] = seen.get(content, -1) + 1
        return keys


def _resolve(ends: IntArray, place: IntArray) -> IntArray:
    literal = ends < 0
    ends[literal] = place[-1 - ends[literal]]
    return ends
