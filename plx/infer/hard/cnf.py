"""The hard part of a factor graph in propositional clauses.

A literal is a non-zero integer, its negation the negative; literal 1 is true. A node of two
states is one proposition, of more states one each, exactly one of which holds. A sum is kept by
its thresholds "at least v": a generalised totalizer (Joshi, Martins and Manquinho 2015), or where
that would be large and the sum counts by ones, a merging network (Batcher 1968); both are cut off
where the output map no longer changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.graph.rows import unique_rows
from plx.graph.subgraph import reached
from plx.values import IntArray

TRUE = 1
_PAIRWISE = 6
"""Up to so many states, "at most one" is said pair by pair."""

_MERGE = 64
"""Parts with so many pairs of values are merged by a network."""

_AXES = 8
"""Tables over more nodes are ruled out entry by entry."""


@dataclass(frozen=True)
class _Sum:
    """A number by its possible values, ascending, and the literal "at least" for each; the first is TRUE."""

    values: list[int]
    at_least: list[int]


class Encoder:
    """Clauses that make literals mean what `literal` says."""

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph
        self.clauses: list[list[int]] = [[TRUE]]
        self.top = TRUE
        self.first = np.zeros(graph.n_variables, dtype=np.int64)
        """The proposition of the last of two states, or of the first of more; 0: not mentioned yet."""
        self._sums: dict[int, tuple[_Sum, list[int]]] = {}
        self._states: dict[tuple[int, int], int] = {}
        self._any: dict[tuple[int, ...], int] = {}

    @property
    def variables(self) -> dict[int, list[int]]:
        """The literals of the states of every variable that a clause mentions."""
        mentioned = np.flatnonzero(self.first).tolist()
        return {v: [self.literal(v, s) for s in range(self.graph.card[v])] for v in mentioned}

    def literal(self, node: int, state: int) -> int:
        """The literal "the node is in the state"."""
        if node < self.graph.n_variables:
            if not self.first[node]:
                self.mention(np.array([node]))
            return int(self.literals(np.array([node]), np.array([state]))[0])
        key = (node, state)
        if key not in self._states:
            self._states[key] = self._derived_state(node, state)
        return self._states[key]

    def literals(self, variables: npt.NDArray[np.integer], states: npt.NDArray[np.integer]) -> IntArray:
        """The literals of states of variables that have been mentioned."""
        first, card = self.first[variables], self.graph.card[variables]
        two: IntArray = np.where(states == 1, first, -first)
        return np.where(card > 2, first + states, np.where(card == 2, two, TRUE))

    def mention(self, variables: npt.NDArray[np.integer]) -> None:
        """Propositions for the states of variables that have none yet."""
        fresh = np.unique(variables[self.first[variables] == 0])
        cards = self.graph.card[fresh]
        for card in np.unique(cards).tolist():
            mine = fresh[cards == card]
            size, clauses = _one_of(card)
            self.first[mine] = self.top + 1 + size * np.arange(len(mine))
            self.top += size * len(mine)
            for clause in clauses:
                template = np.array(clause)
                shift = self.first[mine][:, None] - 1
                self.clauses += (np.sign(template) * (np.abs(template) + shift)).tolist()

    def forbid(self, factors: IntArray, unless: IntArray | None = None) -> None:
        """Clauses that rule out the impossible entries of factors.

        ``unless`` has a literal for each factor that switches its clauses off.
        """
        if not len(factors):
            return
        self.mention(np.flatnonzero(reached(self.graph, factors)[: self.graph.n_variables]))
        start, end = self.graph.scope_start[factors], self.graph.scope_start[factors + 1]
        for arity in np.unique(end - start).tolist():
            mine = np.flatnonzero(end - start == arity)
            scope = self.graph.scope[start[mine][:, None] + np.arange(arity)]
            pattern = self._patterns(factors[mine])
            kind = np.concatenate([pattern[:, None], self.graph.card[scope]], axis=1)
            first, inverse = unique_rows(kind)
            for i, f in enumerate(first):
                alike = inverse == i
                switch = None if unless is None else unless[mine[alike]]
                self._forbid_alike(self.graph.table_values(int(factors[mine[f]])), scope[alike], switch)

    def require(self, node: int, state: int) -> None:
        """A clause that puts a node in a state."""
        self._add([self.literal(node, state)])

    def new(self) -> int:
        """A fresh proposition."""
        self.top += 1
        return self.top

    def _patterns(self, factors: IntArray) -> IntArray:
        """A number per factor, equal where tables of one shape have the same impossible entries."""
        graph, seen = self.graph, dict[bytes, int]()
        used, inverse = np.unique(graph.table_of[factors], return_inverse=True)
        keys = [np.packbits(graph.table[slice(*graph.table_start[t : t + 2])] == -np.inf) for t in used]
        number = np.array([seen.setdefault(key.tobytes(), len(seen)) for key in keys], dtype=np.int64)
        return number[inverse]

    def _forbid_alike(
        self, table: npt.NDArray[np.float64], scope: npt.NDArray[np.integer], unless: IntArray | None
    ) -> None:
        """Rule out the impossible entries of one table at many scopes [n, k]."""
        for axes, states in _forbidden(table):
            columns = [self._column(scope[:, a], s) for a, s in zip(axes, states, strict=True)]
            negated = [-column for column in columns] + ([] if unless is None else [unless])
            self.clauses += np.stack(negated, axis=1).tolist()

    def _column(self, nodes: npt.NDArray[np.integer], state: int) -> IntArray:
        """The literals of one state of several nodes."""
        out = np.empty(len(nodes), dtype=np.int64)
        plain = nodes < self.graph.n_variables
        out[plain] = self.literals(nodes[plain], np.full(int(plain.sum()), state))
        out[~plain] = [self.literal(node, state) for node in nodes[~plain].tolist()]
        return out

    def _add(self, clause: Iterable[int]) -> None:
        kept = set(clause) - {-TRUE}
        if TRUE not in kept:
            self.clauses.append(sorted(kept))

    def _or(self, literals: Iterable[int]) -> int:
        """A literal that holds when one of these does."""
        key = tuple(sorted(set(literals) - {-TRUE}))
        if TRUE in key:
            return TRUE
        if len(key) < 2:
            return key[0] if key else -TRUE
        if key not in self._any:
            one = self._any[key] = self.new()
            self._add([-one, *key])
            for literal in key:
                self._add([one, -literal])
        return self._any[key]

    def _derived_state(self, node: int, state: int) -> int:
        """The runs of totals with this output, each "at least its first and not at least the next"."""
        total, output = self._sum(node)
        runs = []
        hit = [output[value] == state for value in total.values] + [False]
        for i, value in enumerate(hit[:-1]):
            if value and (i == 0 or not hit[i - 1]):
                end = next(j for j in range(i, len(hit)) if not hit[j])
                above = total.at_least[end] if end < len(total.values) else -TRUE
                runs.append(-self._or([-total.at_least[i], above]))
        return self._or(runs)

    def _sum(self, node: int) -> tuple[_Sum, list[int]]:
        """The total behind a derived node and its outputs, counted from the end that decides them sooner."""
        if node not in self._sums:
            graph, derived = self.graph, node - self.graph.n_variables
            inputs = [
                (int(source), graph.contribution_of(int(vector)).tolist())
                for source, vector in zip(*graph.inputs_of(derived), strict=True)
            ]
            most = sum(max(vector) for _, vector in inputs)
            output = graph.output_map(derived)[: most + 1].tolist()
            if _decided(output[::-1]) < _decided(output):
                output = output[::-1]
                inputs = [(source, [max(vector) - c for c in vector]) for source, vector in inputs]
            self._sums[node] = self._total(inputs, _decided(output)), output
        return self._sums[node]

    def _total(self, inputs: Sequence[tuple[int, list[int]]], cap: int) -> _Sum:
        parts = [self._leaf(source, [min(c, cap) for c in vector]) for source, vector in inputs]
        while len(parts) > 1:
            odd = parts[-1:] if len(parts) % 2 else []
            parts = [self._merge(a, b, cap) for a, b in zip(parts[::2], parts[1::2], strict=False)] + odd
        return parts[0] if parts else _Sum([0], [TRUE])

    def _leaf(self, source: int, vector: list[int]) -> _Sum:
        values = sorted(set(vector))
        states = range(len(vector))
        at_least = [
            self._or([self.literal(source, s) for s in states if vector[s] >= value]) for value in values[1:]
        ]
        return _Sum(values, [TRUE, *at_least])

    def _merge(self, a: _Sum, b: _Sum, cap: int) -> _Sum:
        if len(a.values) * len(b.values) > _MERGE and _by_ones(a.values) and _by_ones(b.values):
            merged = self._network(a.at_least[1:], b.at_least[1:])[:cap]
            return _Sum(list(range(a.values[0] + b.values[0], len(merged) + 1)), [TRUE, *merged])
        values = sorted({min(x + y, cap) for x in a.values for y in b.values})
        at_least = [TRUE] + [self.new() for _ in values[1:]]
        place = {value: i for i, value in enumerate(values)}
        for low, high in pairwise(at_least[1:]):
            self._add([low, -high])
        for i, x in enumerate(a.values):
            for j, y in enumerate(b.values):
                at = place[min(x + y, cap)]
                self._add([-a.at_least[i], -b.at_least[j], at_least[at]])
                if at + 1 < len(values):
                    above_a = a.at_least[i + 1] if i + 1 < len(a.values) else -TRUE
                    above_b = b.at_least[j + 1] if j + 1 < len(b.values) else -TRUE
                    self._add([above_a, above_b, -at_least[at + 1]])
        return _Sum(values, at_least)

    def _network(self, a: list[int], b: list[int]) -> list[int]:
        """Two descending lists of literals, as truth values, merged into one: odd-even merging."""
        if not a or not b:
            return a or b
        if len(a) == len(b) == 1:
            return list(self._sorted_pair(a[0], b[0]))
        first, second = self._network(a[::2], b[::2]), self._network(a[1::2], b[1::2])
        out = [first[0]]
        for x, y in zip(second, first[1:], strict=False):
            out += self._sorted_pair(x, y)
        return out + second[len(first) - 1 :] + first[len(second) + 1 :]

    def _sorted_pair(self, x: int, y: int) -> tuple[int, int]:
        """The literals "one of these" and "both of these"."""
        return self._or([x, y]), -self._or([-x, -y])


def _by_ones(values: list[int]) -> bool:
    return values[0] == 0 and values[-1] == len(values) - 1


def _decided(output: list[int]) -> int:
    """The least total from which on the output stays the same."""
    last = len(output) - 1
    while last and output[last - 1] == output[last]:
        last -= 1
    return last


@cache
def _one_of(card: int) -> tuple[int, list[list[int]]]:
    """How many propositions a variable takes, numbered from 1, and the clauses among them.

    "At most one" is said pair by pair, or with a ladder of "one of these so far".
    """
    if card <= 2:
        return 1, []
    states = list(range(1, card + 1))
    if card <= _PAIRWISE:
        return card, [states, *([-a, -b] for a, b in combinations(states, 2))]
    clauses, before, size = [states], 1, card
    for state in states[1:]:
        size += 1
        clauses += [[-before, -state], [-before, size], [-state, size]]
        before = size
    return size, clauses


def _forbidden(table: npt.NDArray[np.float64]) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Partial assignments (axes, states) that rule out exactly the impossible entries, short ones first."""
    left = table == -np.inf
    axes = range(table.ndim)
    sizes = axes if table.ndim <= _AXES and math.prod(table.shape) > 1 else axes[-1:]
    for size in sizes:
        for kept in combinations(axes, size + 1):
            others = tuple(a for a in axes if a not in kept)
            open_ = left.any(axis=others)
            whole = (table == -np.inf).all(axis=others) & open_
            for states in np.argwhere(whole).tolist():
                yield kept, states
                place: list[int | slice] = [slice(None)] * table.ndim
                for axis, state in zip(kept, states, strict=True):
                    place[axis] = state
                left[tuple(place)] = False
