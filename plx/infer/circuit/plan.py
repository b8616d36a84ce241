"""Exact answers from a compiled circuit. What it takes to compile one only trying tells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from plx.graph.queries import singles
from plx.infer.answers import map_answer
from plx.infer.circuit.compiled import CompiledCircuit, compiled
from plx.infer.circuit.limits import EDGES, STATES
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.exact_plan import GaveUpError, Refusal, exact_inference
from plx.infer.exact_scores import States as Worlds
from plx.infer.exact_scores import Sums, proven, sums_of, told
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import Inference, World
from plx.infer.options import Clock
from plx.infer.problem import Problem
from plx.sequences import replaced
from plx.values import FloatArray, IntArray


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
        """All answers, `map` too unless so many worlds take too much memory, from one compilation.

        Raises NoWorldError, GaveUpError where the circuit gets too large, and OutOfTimeError.
        """
        model, clock = self.problem.model, Clock()
        circuit = self._circuit
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
        if not best or not circuit.lists(best):
            return found
        worlds, note = told(self._worlds(circuit, best), "the circuit")
        answers = replaced(found.answers, {i: map_answer(worlds[:n]) for i, n in wanted.items()})
        return replace(found, answers=answers, notes=(*found.notes, note))

    def best(self, count: int) -> tuple[tuple[World, ...], str]:
        """The best worlds, best first, and what they were read off, for people. Raises as ``run``."""
        circuit = self._circuit
        if not circuit.lists(count):
            raise GaveUpError(f"{count:,} worlds take too much memory")
        return self._worlds(circuit, count), circuit.size_text

    def draw(self, count: int, random: np.random.Generator) -> Worlds:
        """Worlds of the circuit. Raises as ``run``."""
        return self._of_variables(self._circuit, self._circuit.draw(count, random))

    @cached_property
    def _sums(self) -> Sums:
        return sums_of(self.problem.model)

    @cached_property
    def _circuit(self) -> CompiledCircuit:
        try:
            return compiled(self._sums.graph, self.problem.targets.asked, self._sums.unit)
        except ImpossibleError:
            raise contradiction(self.problem.model) from None

    def _worlds(self, circuit: CompiledCircuit, count: int) -> tuple[World, ...]:
        def listed(k: int) -> tuple[Worlds, FloatArray]:
            worlds, totals = circuit.best(k)
            return self._of_variables(circuit, worlds), totals

        return proven(self.problem.model, self._sums, count, listed, circuit.lists)

    def _of_variables(self, circuit: CompiledCircuit, worlds: IntArray) -> Worlds:
        variables = circuit.network.node[: self.problem.graph.n_variables]
        return np.ascontiguousarray(worlds[:, variables].T.astype(np.int32))


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
    return f"compiled to {circuit.size_text} {circuit.effort}, {seconds:.2f} s"
