"""Exact answers from a compiled circuit. What it takes to compile one only trying tells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from plx.infer.answers import asked_together, with_maps, worlds_wanted
from plx.infer.circuit.compiled import Compilation, CompiledCircuit
from plx.infer.circuit.counter_process import installed
from plx.infer.circuit.exclusive import in_pairs
from plx.infer.circuit.limits import EDGES, FEW_COUNTS, STATES
from plx.infer.circuit.weighted_counts import counts_needed, weighted_counts
from plx.infer.exact.junction_tree import ImpossibleError
from plx.infer.exact_plan import GaveUpError, Refusal, exact_inference
from plx.infer.exact_scores import States as Worlds
from plx.infer.exact_scores import Sums, proven, sums_of, told
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import Inference, World
from plx.infer.options import Clock
from plx.infer.problem import Problem
from plx.numerals import counted
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
        if (by_counts := self._by_counts(clock)) is not None:
            return by_counts
        circuit = self._circuit
        place = circuit.network.node
        found = exact_inference(
            model,
            _reason(circuit, clock.seconds),
            circuit.log_sum,
            lambda nodes: circuit.joint(tuple(place[list(nodes)].tolist())),
        )
        found = replace(found, notes=(*found.notes, *circuit.given_up))
        wanted = worlds_wanted(model.queries)
        best = max(wanted.values(), default=0)
        if not best or not circuit.lists(best):
            return found
        worlds, note = told(self._worlds(circuit, best), "the circuit")
        return with_maps(replace(found, notes=(*found.notes, note)), wanted, worlds)

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

    def _by_counts(self, clock: Clock) -> Inference | None:
        """All answers by counting models, where there is a counter and so few are asked for that no circuit
        is wanted, and none is made soon; None if that cannot be done."""
        model = self.problem.model
        if not installed() or worlds_wanted(model.queries):
            return None
        try:
            compiling = self._compiling
            place = compiling.merged.network.node
            wanted = {n: tuple(place[list(n)].tolist()) for n in asked_together(model.queries)}
            many = counts_needed(compiling, list(wanted.values()))
            if many > FEW_COUNTS or compiling.ended_at_once() or compiling.ended_soon():
                return None
            sums = weighted_counts(compiling, list(wanted.values()))
        except GaveUpError as gave_up:
            self._compiling.given_up.append(f"models were not counted by ganak: {gave_up}")
            return None
        except ImpossibleError:
            raise contradiction(model) from None
        reason = f"{counted(many, 'count')} of weighted models by ganak, {clock.seconds:.2f} s"
        return exact_inference(model, reason, sums.log_sum, lambda nodes: sums.joints[wanted[nodes]])

    @cached_property
    def _compiling(self) -> Compilation:
        return Compilation(in_pairs(self._sums.graph, self.problem.targets.asked), self._sums.unit)

    @cached_property
    def _circuit(self) -> CompiledCircuit:
        try:
            return self._compiling.circuit()
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


def is_ruled(problem: Problem) -> bool:
    """Whether it pays to try to compile a model whose soft rules are to stay apart: some rules are hard."""
    return bool(len(problem.parts.hard_factors)) and isinstance(circuit_plan(problem), CircuitPlan)


def _reason(circuit: CompiledCircuit, seconds: float) -> str:
    return f"compiled to {circuit.size_text} {circuit.effort}, {seconds:.2f} s"
