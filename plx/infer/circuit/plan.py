"""Exact answers from a compiled circuit. What it takes to compile one only trying tells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plx.graph.queries import singles
from plx.infer.answers import map_answer
from plx.infer.circuit.compiled import CompiledCircuit, compiled
from plx.infer.circuit.limits import EDGES, STATES
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.exact_plan import Refusal, exact_inference
from plx.infer.exact_scores import States as Worlds
from plx.infer.exact_scores import Sums, proven, sums_of, told
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import Inference, World
from plx.infer.options import Clock
from plx.infer.problem import Problem
from plx.numerals import counted
from plx.sequences import replaced
from plx.values import FloatArray


@dataclass(frozen=True, eq=False)
class CircuitPlan:
    """A model to be compiled."""

    problem: Problem

    reason = "compiling a circuit"
    operations = None

    @property
    def memory(self) -> float:
        """Bytes held at once at most."""
        return 32.0 * EDGES

    def run(self) -> Inference:
        """All answers, `map` too, from one compilation.

        Raises NoWorldError, GaveUpError where the circuit gets too large, and OutOfTimeError.
        """
        model, clock = self.problem.model, Clock()
        sums = sums_of(model)
        try:
            circuit = compiled(sums.graph, self.problem.targets.asked, sums.unit)
        except ImpossibleError:
            raise contradiction(model) from None
        place = circuit.network.node
        found = exact_inference(
            model,
            _reason(circuit, clock.seconds),
            circuit.log_sum,
            lambda nodes: circuit.joint(tuple(place[list(nodes)].tolist())),
        )
        found = replace(found, notes=(*found.notes, *circuit.given_up))
        wanted = {i: query.best for i, query in singles(model.queries) if query.kind == "map"}
        best = max(wanted.values(), default=0)
        if not best:
            return found
        worlds, note = best_worlds(self.problem, circuit, sums, best)
        answers = replaced(found.answers, {i: map_answer(worlds[:n]) for i, n in wanted.items()})
        return replace(found, answers=answers, notes=(*found.notes, note))

    def draw(self, count: int, random: np.random.Generator) -> Worlds:
        """Worlds of the circuit. Raises as ``run``."""
        sums = sums_of(self.problem.model)
        try:
            circuit = compiled(sums.graph, self.problem.targets.asked, sums.unit)
        except ImpossibleError:
            raise contradiction(self.problem.model) from None
        variables = circuit.network.node[: sums.graph.n_variables]
        return np.ascontiguousarray(circuit.draw(count, random)[:, variables].T.astype(np.int32))


def best_worlds(
    problem: Problem, circuit: CompiledCircuit, sums: Sums, count: int
) -> tuple[tuple[World, ...], str]:
    """The best worlds of a model, best first, and how they were found, as a note for people."""
    variables = circuit.network.node[: problem.graph.n_variables]

    def listed(k: int) -> tuple[Worlds, FloatArray]:
        worlds, totals = circuit.best(k)
        return np.ascontiguousarray(worlds[:, variables].T.astype(np.int32)), totals

    return told(proven(problem.model, sums, count, listed), "the circuit")


def circuit_plan(problem: Problem) -> CircuitPlan | Refusal | None:
    """The plan to compile a model; None where no rule is hard and no node derived, as it pays for these."""
    graph = problem.graph
    if not len(problem.parts.hard_factors) and not graph.n_derived:
        return None
    states = int(graph.card.sum())
    if states > STATES:
        return Refusal(
            lambda: f"circuits are compiled of at most {STATES:,} states of unknowns, not {states:,}",
            float("inf"),
        )
    return CircuitPlan(problem)


def _reason(circuit: CompiledCircuit, seconds: float) -> str:
    nodes, edges = circuit.size
    return (
        f"compiled to a circuit of {counted(nodes, 'node')} and {counted(edges, 'edge')}"
        f" {circuit.effort}, {seconds:.2f} s"
    )
