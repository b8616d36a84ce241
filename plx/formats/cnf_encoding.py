"""A ground model as clauses over Boolean variables that have as many models as the model has worlds.

An unknown of two states is a variable; one of more has a variable for each state, of which exactly one is
true (the direct encoding). A count, or another derived node, is summed input by input: what the inputs so far
come to, as far as it matters for the result, is the state of a layer, and each layer follows from the one
before, as in a reduced decision diagram. What is no unknown is determined by the unknowns, so no world is
counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Final

from plx.graph.model import FactorGraph

Clause = tuple[int, ...]
"""Literals: the number of a variable, or minus that."""

_PAIRWISE: Final = 5
"""Of more states than this, "at most one" goes along a chain of variables."""


class Encoding:
    """The variables and clauses of a factor graph; ``clauses`` may be added to."""

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph
        self.variables = 0
        self.clauses: list[Clause] = []
        self.literals: list[tuple[int, ...]] = []  # of each node, by state
        self._true = 0
        for node in range(graph.n_variables):
            self.literals.append(self._choice(int(graph.card[node])))
        for derived in range(graph.n_derived):
            self.literals.append(self._derived(derived))

    def new(self) -> int:
        """A new variable."""
        self.variables += 1
        return self.variables

    def true(self) -> int:
        """A variable that is true in every model."""
        if not self._true:
            self._true = self.new()
            self.clauses.append((self._true,))
        return self._true

    def unless(self, nodes: Iterable[int], states: Iterable[int]) -> Clause:
        """The clause that these nodes are not all in these states."""
        return tuple(-self.literals[node][state] for node, state in zip(nodes, states, strict=True))

    def _choice(self, card: int) -> tuple[int, ...]:
        """A literal for each state of something that is in one of them."""
        if card == 1:
            return (self.true(),)
        if card == 2:
            one = self.new()
            return (-one, one)
        states = tuple(self.new() for _ in range(card))
        self.clauses.append(states)
        self._at_most_one(states)
        return states

    def _at_most_one(self, literals: Sequence[int]) -> None:
        if len(literals) <= _PAIRWISE:
            self.clauses += [(-a, -b) for a, b in combinations(literals, 2)]
            return
        so_far = [literals[0], *(self.new() for _ in literals[1:])]  # one of the first is true
        for (before, now), literal in zip(pairwise(so_far), literals[1:], strict=True):
            self.clauses += [(-before, now), (-literal, now), (-literal, -before), (before, literal, -now)]

    def _derived(self, derived: int) -> tuple[int, ...]:
        """The literals of a derived node, through a layer for each of its inputs."""
        graph = self.graph
        nodes, vectors = graph.inputs_of(derived)
        adds = [graph.contribution_of(int(vector)).tolist() for vector in vectors]
        layers = _layers(adds, graph.output_map(derived).tolist())
        card = int(graph.card[graph.n_variables + derived])
        before: Sequence[int] = ()
        for at, node in enumerate(nodes.tolist()):
            last = at == len(adds) - 1
            count = card if last else 1 + max(layers[at + 1].values())
            now = self._choice(count)
            for total, group in _representatives(layers[at]).items():
                for state, amount in enumerate(adds[at]):
                    then = now[layers[at + 1][total + amount]]
                    own = self.literals[node][state]
                    self.clauses.append((-before[group], -own, then) if at else (-own, then))
            before = now
        return tuple(before)


def _layers(adds: Sequence[Sequence[int]], output: Sequence[int]) -> list[dict[int, int]]:
    """For each number of inputs, which sums can be and to which group each belongs: sums of one group lead to
    the same state whatever follows. The groups of the last are the states."""
    reached = [{0}]
    for each in adds:
        reached.append({total + amount for total in reached[-1] for amount in set(each)})
    layers = [{total: output[total] for total in reached[-1]}]
    for each, totals in zip(reversed(adds), reversed(reached[:-1]), strict=True):
        seen: dict[tuple[int, ...], int] = {}
        after = layers[0]
        layers.insert(0, {})
        for total in sorted(totals):
            future = tuple(after[total + amount] for amount in each)
            layers[0][total] = seen.setdefault(future, len(seen))
    return layers


def _representatives(layer: dict[int, int]) -> dict[int, int]:
    """A sum of each group, with the group."""
    found = {group: total for total, group in layer.items()}
    return {total: group for group, total in found.items()}
