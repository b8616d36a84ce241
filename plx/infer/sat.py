"""Worlds that satisfy every hard rule, and the rules to blame when there is none, by a SAT solver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from pysat.solvers import Solver

from plx.errors import Diagnostic, Note, NoWorldError
from plx.ground.graph import FactorGraph, GroundModel
from plx.infer.clauses import Encoder
from plx.values import IntArray

_SOLVER = "glucose4"
_ATOMS = 4
"""An error names at most so many unknowns of a ground instance,"""

_INSTANCES = 3
"""and so many ground instances of a rule."""

_SHRINK = 400
"""So many assumptions are minimised one by one; more are left as the solver reports them."""


class Satisfier:
    """Worlds near given ones that satisfy the hard factors of a graph."""

    def __init__(self, graph: FactorGraph) -> None:
        self._encoder = Encoder(graph)
        for factor in hard_factors(graph).tolist():
            self._encoder.forbid(factor)
        self._solver = Solver(name=_SOLVER, bootstrap_with=self._encoder.clauses)

    def near(self, states: npt.NDArray[np.int32]) -> npt.NDArray[np.int32] | None:
        """A world that satisfies all, looked for near these states, shape (V,); None if there is none."""
        variables = self._encoder.variables
        self._solver.set_phases([literals[states[node]] for node, literals in variables.items()])
        if not self._solver.solve():
            return None
        true = set(self._solver.get_model() or ())
        found = states.copy()
        for node, literals in variables.items():
            found[node] = next(
                state for state, literal in enumerate(literals) if literal in true or literal == 1
            )
        return found


def hard_factors(graph: FactorGraph) -> IntArray:
    """The factors with an impossible entry."""
    hard = np.zeros(graph.n_tables, dtype=bool)
    table = np.searchsorted(graph.table_start, np.flatnonzero(graph.table == -np.inf), side="right") - 1
    hard[table] = True
    return np.flatnonzero(hard[graph.table_of])


def contradiction(model: GroundModel) -> NoWorldError:
    """The error for a model without a possible world: rules that clash, each of which is needed for that."""
    graph = model.graph
    factors = hard_factors(graph)
    rules = _core(graph, factors, graph.rule_of[factors].astype(np.int64))
    within = factors[np.isin(graph.rule_of[factors], rules)]
    blamed = _core(graph, within, within)
    clash = [_described(model, rule, blamed[graph.rule_of[blamed] == rule]) for rule in rules.tolist()]
    if not clash:
        return NoWorldError(
            Diagnostic("no world is possible: the observations and requirements contradict each other")
        )
    first, *others = clash
    lead = "no world satisfies" if not others else "no world satisfies all of these together:"
    notes = tuple(Note(f"and {note.message}", note.span) for note in others)
    hint = "change or drop one of them" if others else "change or drop it"
    return NoWorldError(Diagnostic(f"{lead} {first.message}", first.span, hint, notes))


def _described(model: GroundModel, rule: int, factors: IntArray) -> Note:
    found = model.rules[rule]
    instances = [_instance(model, factor) for factor in factors[:_INSTANCES].tolist()]
    more = ["…"] if len(factors) > _INSTANCES else []
    return Note(f"`{found.text}` (on {'; '.join(instances + more)})", found.span)


def _instance(model: GroundModel, factor: int) -> str:
    """The unknowns that a factor is about."""
    graph = model.graph
    nodes = sorted(_unknowns(graph, graph.scope_of(factor).tolist()))
    names = [model.atoms.name(int(model.atoms.atom_of[node])) for node in nodes[:_ATOMS]]
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


def _core(graph: FactorGraph, factors: IntArray, group: IntArray) -> IntArray:
    """Groups of factors that cannot hold together; none can be left out, where there are not too many."""
    encoder = Encoder(graph)
    switch: dict[int, int] = {}
    for factor, label in zip(factors.tolist(), group.tolist(), strict=True):
        if label not in switch:
            switch[label] = encoder.new()
        encoder.forbid(factor, unless=-switch[label])
    with Solver(name=_SOLVER, bootstrap_with=encoder.clauses) as solver:
        needed = _unsatisfiable(solver, list(switch.values()))
        if needed is not None and len(needed) <= _SHRINK:
            needed = _shrink(solver, needed)
    blamed = set(needed or ())
    return np.array(sorted(label for label, literal in switch.items() if literal in blamed), dtype=np.int64)


def _unsatisfiable(solver: Solver, assumptions: Sequence[int]) -> list[int] | None:
    """Assumptions that fail together; None if all can hold."""
    return None if solver.solve(assumptions=assumptions) else sorted(solver.get_core() or ())


def _shrink(solver: Solver, core: list[int]) -> list[int]:
    """Leave out one assumption after the other where the rest still fails."""
    kept = list(core)
    for literal in core:
        if literal in kept:
            smaller = _unsatisfiable(solver, [other for other in kept if other != literal])
            kept = kept if smaller is None else smaller
    return kept
