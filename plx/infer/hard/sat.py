"""Worlds that satisfy every hard rule, and the rules to blame when there is none, by a SAT solver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from pysat.solvers import Solver

from plx import deadline
from plx.deadline import OutOfTimeError
from plx.errors import Diagnostic, Note, NoWorldError, PlxError
from plx.graph.model import FactorGraph, GroundModel, GroundRule
from plx.graph.subgraph import hard_factors
from plx.infer.hard.cnf import Encoder
from plx.infer.hard.limits import CONFLICTS, FEW_CONFLICTS, SHRINK
from plx.values import IntArray

Facts = Sequence[tuple[int, int]]
"""Nodes and the states that they are known to be in."""

_SOLVER = "glucose4"
_ATOMS = 4
"""An error names at most so many unknowns of a ground instance,"""

_INSTANCES = 3
"""and so many ground instances of a rule."""


_SLICE = 2_000
"""It is asked for so many conflicts at a time, about a fifth of a second, so that it stops at the deadline
and Ctrl-C gets through."""

_PINNED = 8
"""So many unknowns of a wished-for world are tried to be kept, so that solutions spread out."""


class Satisfier:
    """Worlds near given ones that satisfy the hard factors of a graph; ``mentioned`` are the variables that
    clauses are about."""

    def __init__(self, graph: FactorGraph) -> None:
        self._encoder = Encoder(graph)
        self._encoder.forbid(hard_factors(graph))
        self.mentioned = np.flatnonzero(self._encoder.first)
        self._card = graph.card[self.mentioned]
        self._solver = Solver(name=_SOLVER, bootstrap_with=self._encoder.clauses)

    def near(self, states: npt.NDArray[np.integer]) -> npt.NDArray[np.int32] | None:
        """A world that satisfies all, looked for near these states, shape (V,); None if there is none.

        Raises OutOfTime at the deadline, as all that looks for worlds does.
        """
        wished = self._encoder.literals(self.mentioned, states[self.mentioned])
        self._solver.set_phases(wished.tolist())
        return self._world(states) if _decided(self._solver) else None

    def spread(
        self,
        states: npt.NDArray[np.integer],
        random: np.random.Generator,
        wish: tuple[int, int] | None = None,
    ) -> npt.NDArray[np.int32]:
        """As `near`, but with the wish, a variable and a state, and some unknowns picked at random kept,
        where that is possible. Some world must be."""
        wished = self._encoder.literals(self.mentioned, states[self.mentioned])
        self._solver.set_phases(wished.tolist())
        first = [] if wish is None else [self._encoder.literal(*wish)]
        pins: list[int] = []
        found = None
        for literal in first + wished[random.permutation(len(wished))[:_PINNED]].tolist():
            if _tried(self._solver, [*pins, literal]):
                pins.append(literal)
                found = self._world(states)
        if found is None and _decided(self._solver):
            found = self._world(states)
        assert found is not None
        return found

    def all(self, limit: int, conflicts: int = CONFLICTS) -> npt.NDArray[np.int32] | None:
        """The different states, shape (n, V), of the variables that clauses mention, others 0; None if more
        than ``limit``, or if so many conflicts do not tell whether there is one more. Every one found is
        ruled out, so this can be asked only once."""
        found: list[npt.NDArray[np.int32]] = []
        start = np.zeros(len(self._encoder.first), dtype=np.int32)
        while (answer := _answer(self._solver, (), conflicts)) is not False:
            if answer is None:
                return None
            if len(found) == limit:
                return None
            world = self._world(start)
            found.append(world)
            literals = self._encoder.literals(self.mentioned, world[self.mentioned])
            self._solver.add_clause((-literals).tolist())
        return np.array(found, dtype=np.int32).reshape(-1, len(start))

    def _world(self, states: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """The solver's model; variables that no clause mentions stay as they are."""
        value = np.zeros(self._encoder.top + 1, dtype=bool)
        model = np.array(self._solver.get_model() or [1])
        value[model[model > 0]] = True
        found = states.astype(np.int32)
        first = self._encoder.first[self.mentioned]
        for card in np.unique(self._card).tolist():
            mine = self._card == card
            at = first[mine]
            found[self.mentioned[mine]] = (
                value[at] if card == 2 else value[at[:, None] + np.arange(card)].argmax(axis=1)
            )
        return found


def _decided(solver: Solver) -> bool:
    """Whether the clauses can hold together. Raises PlxError if that is not decided in reasonable time."""
    answer = _answer(solver, (), CONFLICTS)
    if answer is None:
        message = (
            f"it is not known whether any world keeps every hard rule: the SAT solver gave up"
            f" after {CONFLICTS:,} conflicts"
        )
        raise PlxError(Diagnostic(message, hint="state the rules in another way, or observe more"))
    return answer


def _tried(solver: Solver, assumptions: list[int]) -> bool:
    """Whether the clauses can hold with the assumptions; False also where that is not found out soon."""
    return bool(_answer(solver, assumptions, FEW_CONFLICTS))


def _answer(solver: Solver, assumptions: Sequence[int], conflicts: int) -> bool | None:
    """Whether the clauses can hold with the assumptions; None if so many conflicts do not tell.

    Raises OutOfTime at the deadline. Ctrl-C ends the search after a slice: the solver leaves it to Python.
    """
    for _ in range(0, conflicts, _SLICE):
        deadline.check()
        solver.conf_budget(_SLICE)
        answer: bool | None = solver.solve_limited(assumptions=assumptions, expect_interrupt=True)
        if answer is not None:
            return answer
    return None


def contradiction(model: GroundModel, facts: Sequence[tuple[int, int]] = ()) -> NoWorldError:
    """The error for a model without a possible world: rules that clash, each of which is needed for that.

    Of each rule it names ground instances that clash, each of which is needed. ``facts`` are nodes
    and the states that they are taken to have.
    """
    graph = model.graph
    factors = hard_factors(graph)
    rules = _core(graph, factors, graph.rule_of[factors].astype(np.int64), facts)
    within = factors[np.isin(graph.rule_of[factors], rules)]
    blamed = _core(graph, within, within, facts)
    rules = rules[np.isin(rules, graph.rule_of[blamed])]
    clash = [_described(model, rule, blamed[graph.rule_of[blamed] == rule]) for rule in rules.tolist()]
    if not clash:
        message = "no world is possible: the observations and requirements contradict each other"
        return NoWorldError(Diagnostic(message))
    first, *others = clash
    lead = "no world satisfies" if not others else "no world satisfies all of these together:"
    notes = tuple(replace(note, message=f"and {note.message}") for note in others)
    hint = "change or drop one of them" if others else "change or drop it"
    return NoWorldError(Diagnostic(f"{lead} {first.message}", first.span, hint, notes))


def _described(model: GroundModel, rule: int, factors: IntArray) -> Note:
    found = model.rules[rule]
    instances = [_instance(model, factor, found) for factor in factors[:_INSTANCES].tolist()]
    more = ["…"] if len(factors) > _INSTANCES else []
    return Note(f"`{found.text}` (on {'; '.join(instances + more)})", found.span)


def _instance(model: GroundModel, factor: int, rule: GroundRule) -> str:
    """The unknowns that a factor is about, and where in the data they were observed."""
    graph = model.graph
    nodes = sorted(_unknowns(graph, graph.scope_of(factor).tolist()))
    atoms = model.atoms.atom_of[nodes[:_ATOMS]].tolist()
    names = [model.atoms.name(atom) + (rule.told(atom) if rule.told else "") for atom in atoms]
    return ", ".join(names + (["…"] if len(nodes) > _ATOMS else []))


def _unknowns(graph: FactorGraph, nodes: Iterable[int]) -> set[int]:
    found: set[int] = set()
    open_nodes = set(nodes)
    while open_nodes:
        node = open_nodes.pop()
        if node < graph.n_variables:
            found.add(node)
        else:
            open_nodes.update(graph.inputs_of(node - graph.n_variables)[0].tolist())
    return found


def _core(graph: FactorGraph, factors: IntArray, group: IntArray, facts: Facts) -> IntArray:
    """Groups of factors that cannot hold together; none can be left out, where there are not too many.

    All groups, if the solver gives up; some may not be needed, if the time is over.
    """
    encoder = Encoder(graph)
    labels, inverse = np.unique(group, return_inverse=True)
    switch = np.array([encoder.new() for _ in labels], dtype=np.int64)
    encoder.forbid(factors, unless=-switch[inverse])
    encoder.clauses += [[encoder.literal(node, state)] for node, state in facts]
    with Solver(name=_SOLVER, bootstrap_with=encoder.clauses) as solver:
        needed = None
        with suppress(OutOfTimeError):
            needed = _unsatisfiable(solver, switch.tolist(), CONFLICTS)
            if needed is not None and len(needed) <= SHRINK:
                needed = _shrink(solver, needed)
    return labels if needed is None else labels[np.isin(switch, needed)]


def _unsatisfiable(solver: Solver, assumptions: Sequence[int], conflicts: int) -> list[int] | None:
    """Assumptions that fail together; None if all can hold, or if that is not found out soon."""
    answer = _answer(solver, assumptions, conflicts)
    return sorted(solver.get_core() or ()) if answer is False else None


def _shrink(solver: Solver, core: list[int]) -> list[int]:
    """Leave out one assumption after the other where the rest still fails."""
    kept = list(core)
    for literal in core:
        if literal in kept:
            smaller = _unsatisfiable(solver, [other for other in kept if other != literal], FEW_CONFLICTS)
            kept = kept if smaller is None else smaller
    return kept
