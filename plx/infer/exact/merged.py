"""Elimination on the reduced model: interchangeable values of an unknown count as one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plx.graph.ragged import starts
from plx.infer.answers import exact_answer
from plx.infer.exact.elimination import JunctionTreePlan, elimination
from plx.infer.exact_plan import Refusal
from plx.infer.inference import Assignments, Inference
from plx.infer.problem import Problem
from plx.lift.reduced import Reduced, reduced_model


@dataclass(frozen=True, eq=False)
class MergedPlan:
    """A plan for the reduced model, whose answers are spread over the values that were merged."""

    reduced: Reduced
    inner: JunctionTreePlan

    @property
    def reason(self) -> str:
        """In words for people."""
        return f"interchangeable values merged; {self.inner.reason}"

    @property
    def operations(self) -> float:
        """As of the plan for the reduced model."""
        return self.inner.operations

    @property
    def memory(self) -> float:
        """As of the plan for the reduced model."""
        return self.inner.memory

    def run(self) -> Inference:
        """The answers in the states of the original model."""
        found, model = self.inner.run(), self.reduced.original
        answers = tuple(
            exact_answer(model, query, self.reduced.spread(query, answer.p)) if query.targets else answer
            for query, answer in zip(model.queries, found.answers, strict=True)
        )
        return replace(found, reason=self.reason, answers=answers)

    def draw(self, count: int, random: np.random.Generator) -> Assignments:
        """Worlds of the reduced model, each state turned into one of the values that it stands for."""
        reduced, worlds = self.reduced, self.inner.draw(count, random)
        quotient, node = reduced.quotient, reduced.nodes.node
        first = starts(quotient.multiplicity)
        states = np.empty((reduced.original.graph.n_variables, count), dtype=np.int32)
        for variable in range(len(states)):
            at = worlds[node[variable]] if node[variable] >= 0 else 0
            at = np.broadcast_to(quotient.start[variable] + at, count)
            which = (random.random(count) * quotient.multiplicity[at]).astype(np.int64)
            states[variable] = quotient.members[first[at] + which] - reduced.start[variable]
        return states


def merged(problem: Problem) -> MergedPlan | Refusal | None:
    """The plan for elimination on merged values, or why it takes too much; None if nothing merges."""
    if int(problem.graph.card[: problem.graph.n_variables].max(initial=0)) <= 2:
        return None
    reduced = reduced_model(problem.model)
    if not reduced.is_smaller:
        return None
    found = elimination(Problem(reduced.model))
    if isinstance(found, Refusal):
        return replace(found, needs=lambda: f"with interchangeable values merged, {found.needs()}")
    return MergedPlan(reduced, found)
