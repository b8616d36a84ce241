"""The hard part of a factor graph in propositional clauses.

A literal is a non-zero integer, its negation the negative; literal 1 is true. A node of two
states is one proposition, of more states one each, exactly one of which holds. A sum is kept by
its thresholds "at least v" (generalised totalizer, Joshi, Martins and Manquinho 2015), cut off
where the output map no longer changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from plx.ground.graph import FactorGraph

TRUE = 1
_PAIRWISE = 6
"""Up to so many states, "at most one" is said pair by pair."""


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
        self._variables: dict[int, list[int]] = {}
        self._sums: dict[int, tuple[_Sum, list[int]]] = {}
        self._states: dict[tuple[int, int], int] = {}
        self._any: dict[tuple[int, ...], int] = {}

    @property
    def variables(self) -> dict[int, list[int]]:
        """The literals of the states of every variable that a clause mentions."""
        return self._variables

    def literal(self, node: int, state: int) -> int:
        """The literal "the node is in the state"."""
        if node < self.graph.n_variables:
            return self._variable(node)[state]
        key = (node, state)
        if key not in self._states:
            self._states[key] = self._derived_state(node, state)
        return self._states[key]

    def forbid(self, factor: int, unless: int | None = None) -> None:
        """Clauses that rule out the impossible entries of a factor, ``unless`` this literal holds."""
        scope = self.graph.scope_of(factor).tolist()
        for entry in np.argwhere(self.graph.table_values(factor) == -np.inf).tolist():
            clause = [-self.literal(node, state) for node, state in zip(scope, entry, strict=True)]
            self._add(clause if unless is None else [*clause, unless])

    def new(self) -> int:
        """A fresh proposition."""
        self.top += 1
        return self.top

    def _add(self, clause: Iterable[int]) -> None:
        kept = set(clause) - {-TRUE}
        if TRUE not in kept:
            self.clauses.append(sorted(kept))

    def _variable(self, node: int) -> list[int]:
        if node not in self._variables:
            card = int(self.graph.card[node])
            self._variables[node] = self._fresh_states(card)
        return self._variables[node]

    def _fresh_states(self, card: int) -> list[int]:
        if card == 1:
            return [TRUE]
        if card == 2:
            yes = self.new()
            return [-yes, yes]
        states = [self.new() for _ in range(card)]
        self._add(states)
        self._at_most_one(states)
        return states

    def _at_most_one(self, literals: Sequence[int]) -> None:
        """Pair by pair, or with a ladder of "one of these so far"."""
        if len(literals) <= _PAIRWISE:
            for i, a in enumerate(literals):
                for b in literals[:i]:
                    self._add([-a, -b])
            return
        before = literals[0]
        for literal in literals[1:]:
            self._add([-before, -literal])
            so_far = self.new()
            self._add([-before, so_far])
            self._add([-literal, so_far])
            before = so_far

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


def _decided(output: list[int]) -> int:
    """The least total from which on the output stays the same."""
    last = len(output) - 1
    while last and output[last - 1] == output[last]:
        last -= 1
    return last
