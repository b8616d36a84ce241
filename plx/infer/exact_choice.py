"""The choice among exact ways: the cheapest of their plans, or why none fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from plx.errors import Diagnostic, Note, PlxError
from plx.graph.model import GroundModel
from plx.graph.queries import blocks, singles
from plx.infer.counting.limits import MANY
from plx.infer.exact.enumeration import EnumerationPlan, enumeration
from plx.infer.exact.limits import NARROW_FACTORS
from plx.infer.exact_plan import Drawing, ExactPlan, Refusal
from plx.infer.inference import Answer, Inference
from plx.infer.limits import CHEAP, DEAR, FEW, MEMORY
from plx.infer.options import Progress, Report, silent
from plx.infer.problem import Problem

Found = ExactPlan | Refusal | None
"""What a way says of a problem: None where it has nothing to do with it."""


def exact_way(problem: Problem) -> ExactPlan | None:
    """The cheapest exact plan of known cost, or None if none fits. Raises OutOfTimeError at the deadline."""
    return ExactWays(problem).cheapest()


class ExactWays:
    """The plans of all exact ways for a problem, each made when it is first needed, and once.

    ``drawing``: only those that worlds can be drawn from. All of its methods raise OutOfTimeError at the
    deadline.
    """

    def __init__(self, problem: Problem, report: Report = silent, drawing: bool = False) -> None:
        self.problem, self._report, self._drawing = problem, report, drawing
        self._found: dict[str, Found] = {}
        self.given_up: list[str] = []
        """What was tried in vain, in words for people."""

    def cheapest(self) -> ExactPlan | None:
        """The cheapest plan of known cost, or None if none fits. Most probable worlds are not its matter."""
        few = enumeration(self.problem, FEW)
        if not isinstance(few, Refusal):
            return few
        self._report(Progress("looking for an order to eliminate in", 0.0, 0.0))
        if self.problem.graph.n_factors > MANY and (counted := self._plan("counting")):
            return counted
        if early := self._early():
            return early
        eliminated = self._plan("elimination")
        if eliminated and _cost(eliminated) <= CHEAP:
            return eliminated
        known = [plan for plan in self._plans() if plan.operations is not None]
        return min(known, key=_cost, default=_worlds_only(self.problem))

    def uncertain(self) -> list[ExactPlan]:
        """The plans whose cost only trying tells."""
        return [plan for plan in self._plans() if plan.operations is None]

    def _early(self) -> ExactPlan | None:
        """A plan for what hard rules leave: looked for first where the search for an order may take long."""
        graph, hard = self.problem.graph, self.problem.parts.hard_factors
        if not len(hard) or graph.n_factors > NARROW_FACTORS or _is_narrow(self.problem):
            return None
        plans = (self._plan(name) for name in ("partitions", "few worlds"))
        return next((plan for plan in plans if plan and _cost(plan) <= DEAR), None)

    def name_of(self, plan: ExactPlan) -> str:
        """The way that a plan is of, as in `WAYS`."""
        others = (name for name, found in self._found.items() if found is plan)
        return next(others, "enumeration" if isinstance(plan, EnumerationPlan) else "map")

    def refusal(self, worlds: str, before: Sequence[str] = ()) -> PlxError:
        """Why no exact way fits: what the one that needs least would take, the rules to blame, other ways;
        ``before`` is what was found of ways that are not among these."""
        refused = [found for found in map(self._look, WAYS) if isinstance(found, Refusal)]
        least, *others = sorted(refused, key=lambda one: (one.couples is None, one.operations))
        what = "drawing worlds exactly" if self._drawing else "exact inference"
        message = f"{what} is out of reach: there are {worlds} worlds, and {least.needs()}"
        hint = "keep the draws of a sampler, run(draws=1000)" if self._drawing else "use --method gibbs"
        if least.couples is not None:
            names = "; ".join(f"`{rule.text}`" for rule in least.couples())
            hint += f", or loosen what couples most: {names}"
        notes = [*before, *(other.needs() for other in others), *self.given_up]
        return PlxError(Diagnostic(message, None, hint, tuple(map(Note, notes))))

    def _look(self, name: str) -> Found:
        if name not in self._found:
            found = _in_memory(name, WAYS[name](self.problem))
            self._found[name] = _drawable(name, found) if self._drawing else found
        return self._found[name]

    def _plan(self, name: str) -> ExactPlan | None:
        found = self._look(name)
        return None if isinstance(found, Refusal) else found

    def _plans(self) -> Iterator[ExactPlan]:
        return (plan for plan in map(self._plan, WAYS) if plan is not None)


def _in_memory(name: str, found: Found) -> Found:
    """A plan that fits in memory, or why not."""
    if found is None or isinstance(found, Refusal) or found.memory <= MEMORY:
        return found
    size = found.memory
    return Refusal(
        lambda: f"{name} needs {size:,.0f} bytes of memory (at most {MEMORY:,.0f} are taken)",
        math.inf if found.operations is None else found.operations,
    )


def _drawable(name: str, found: Found) -> Found:
    """A plan that worlds can be drawn from, or that this way has none."""
    if found is None or isinstance(found, Refusal | Drawing):
        return found
    return Refusal(lambda: f"{name} gives answers, but no worlds", math.inf)


def _cost(plan: ExactPlan) -> float:
    assert plan.operations is not None
    return plan.operations


def _is_narrow(problem: Problem) -> bool:
    from plx.infer.exact.elimination import is_narrow

    return is_narrow(problem.model)


def _elimination(problem: Problem) -> Found:
    from plx.infer.exact.relevant import eliminated

    return eliminated(problem)


def _merged(problem: Problem) -> Found:
    from plx.infer.exact.merged import merged

    return merged(problem)


def _counting(problem: Problem) -> Found:
    from plx.infer.counting.marginals import counting

    return counting(problem)


def _partitions(problem: Problem) -> Found:
    from plx.infer.exact.partition_plan import partition_plan

    return partition_plan(problem)


def _circuit(problem: Problem) -> Found:
    from plx.infer.circuit.plan import circuit_plan

    return circuit_plan(problem)


def _few_worlds(problem: Problem) -> Found:
    from plx.infer.exact.few_worlds import few_worlds

    return few_worlds(problem)


WAYS: dict[str, Callable[[Problem], Found]] = {
    "elimination": _elimination,
    "partitions": _partitions,
    "merged": _merged,
    "counting": _counting,
    "few worlds": _few_worlds,
    "enumeration": enumeration,
    "circuit": _circuit,
}
"""The exact ways. To add one, enter it here."""


@dataclass(frozen=True, eq=False)
class _NothingToSum:
    """The plan where only most probable worlds are asked for."""

    model: GroundModel
    reason = "only most probable worlds are asked for"
    operations = 0.0
    memory = 0.0

    def run(self) -> Inference:
        return Inference("exact", self.reason, (Answer(),) * len(self.model.queries))


def lists_worlds(plan: ExactPlan) -> bool:
    """Whether a plan goes through all worlds, so that it knows the best."""
    from plx.infer.exact.few_worlds import FewWorldsPlan

    return isinstance(plan, EnumerationPlan | FewWorldsPlan)


def _worlds_only(problem: Problem) -> ExactPlan | None:
    """Nothing is to be summed where only most probable worlds are asked for."""
    queries = problem.model.queries
    only = queries and all(query.kind == "map" for _, query in singles(queries)) and not any(blocks(queries))
    return _NothingToSum(problem.model) if only else None
