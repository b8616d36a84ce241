"""The cheapest exact way: elimination or counting, on merged values where that pays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.graph.model import GroundModel
from plx.graph.sizes import size_text
from plx.infer.answers import exact_answer
from plx.infer.counting.marginals import MANY, count, count_plan
from plx.infer.exact.elimination import ExactBudget, JunctionTreePlan, coupling_rules, plan, solve
from plx.infer.exact.few_worlds import few_worlds
from plx.infer.exact.treewidth import least_bits, surely_wider
from plx.infer.inference import Answer, Inference, Way

_AT_MOST = f"(at most {ExactBudget().entries:,.0f} are made)"

_CHEAP = 3e6
"""Operations below which elimination is taken without looking for anything better."""


def exact_way(model: GroundModel) -> Way | None:
    """The cheapest exact way, or None if none fits."""
    return ExactWays(model).cheapest()


class ExactWays:
    """The exact ways for a model. Plans are made when they are first needed, and once.

    All of its methods raise OutOfTimeError at the deadline.
    """

    def __init__(self, model: GroundModel) -> None:
        self.model = model

    def cheapest(self) -> Way | None:
        """The cheapest exact way, or None if none fits. Most probable worlds are not its matter."""
        if self.model.graph.n_factors > MANY and self.counted:
            return self.counted
        ways = [_eliminated(self.model, self._plan)]
        if not ways[0] or ways[0].operations > _CHEAP:
            ways += [find(self) for find in WAYS.values()]
        fitting = (way for way in ways if way)
        return min(fitting, key=lambda way: way.operations, default=_worlds_only(self.model))

    def refusal(self, worlds: str) -> PlxError:
        """Why no exact way fits: the size of the smallest plan, and the rules that couple most in it."""
        plans = [plan for plan in (self._plan, self._merged_plan) if plan]
        chosen = min(plans, key=lambda one: (not one.complete, one.operations), default=None)
        needs = _table(self.model) if chosen is None else _needs(chosen)
        inside = np.arange(self.model.graph.n_variables) if chosen is None else chosen.widest()
        rules = coupling_rules(self.model if chosen is None else chosen.model, inside)
        names = "; ".join(f"`{rule.text}`" for rule in rules)
        return PlxError(
            Diagnostic(
                f"exact inference is out of reach: there are {worlds} worlds, and elimination needs {needs}",
                hint=f"use --method gibbs, or loosen what couples most: {names}",
            )
        )

    @cached_property
    def _plan(self) -> JunctionTreePlan | None:
        return _plan(self.model)

    @cached_property
    def _merged(self) -> tuple[GroundModel, Callable[[Inference], Inference]] | None:
        return _merge(self.model)

    @cached_property
    def _merged_plan(self) -> JunctionTreePlan | None:
        return None if self._merged is None else _plan(self._merged[0])

    def eliminated_when_merged(self) -> Way | None:
        """Elimination on the model whose interchangeable values are one, answers spread over them."""
        if self._merged is None or (way := _eliminated(self._merged[0], self._merged_plan)) is None:
            return None
        spread = self._merged[1]
        reason = f"interchangeable values merged; {way.reason}"
        return replace(way, reason=reason, run=lambda: spread(way.run()))

    @cached_property
    def counted(self) -> Way | None:
        """Counting, for interchangeable unknowns."""
        chosen = count_plan(self.model)
        if chosen is None or not chosen.fits():
            return None
        return Way(chosen.reason, chosen.operations, lambda: count(chosen))


WAYS: dict[str, Callable[[ExactWays], Way | None]] = {
    "merged": ExactWays.eliminated_when_merged,
    "counting": lambda ways: ways.counted,
    "few worlds": lambda ways: few_worlds(ways.model),
}
"""The exact ways that are looked for where elimination is dear. To add one, enter it here."""


def _worlds_only(model: GroundModel) -> Way | None:
    """Nothing is to be summed where only most probable worlds are asked for."""
    if not model.queries or any(query.kind != "map" for query in model.queries):
        return None
    answers = (Answer(),) * len(model.queries)
    return Way("only most probable worlds are asked for", 0.0, lambda: Inference("exact", "", answers))


def _needs(chosen: JunctionTreePlan) -> str:
    """What of a plan does not fit, with its size."""
    limit = ExactBudget()
    if not chosen.complete:
        return _table(chosen.model, chosen.table_bits)
    if chosen.table_bits > math.log2(limit.entries):
        return f"a table of {size_text(chosen.table_bits)} entries {_AT_MOST}"
    if chosen.entry_bits > math.log2(limit.entries):
        return f"{size_text(chosen.entry_bits)} numbers in memory (at most {limit.entries:,.0f} are kept)"
    return f"{size_text(math.log2(chosen.operations))} operations (at most {limit.operations:,.0f} are done)"


def _table(model: GroundModel, tried: float = 0.0) -> str:
    """The least size of the largest table: in any order, or else in those tried, of so many bits."""
    sure = least_bits(model.graph)
    if sure > math.log2(ExactBudget().entries):
        return f"a table of at least {_states_text(sure)} entries, whatever the order {_AT_MOST}"
    return f"a table of over {_states_text(tried)} entries in every order tried {_AT_MOST}"


def _states_text(bits: float) -> str:
    return size_text(bits) if bits < 30 else f"10^{math.floor(bits * math.log10(2))}"


def _plan(model: GroundModel) -> JunctionTreePlan | None:
    """A plan for elimination; None where every order is surely too wide."""
    return None if surely_wider(model.graph, math.log2(ExactBudget().entries)) else plan(model)


def _eliminated(model: GroundModel, chosen: JunctionTreePlan | None) -> Way | None:
    if chosen is None or not chosen.fits():
        return None
    return Way(chosen.reason, chosen.operations, lambda: solve(model, chosen))


def _merge(model: GroundModel) -> tuple[GroundModel, Callable[[Inference], Inference]] | None:
    """The model with merged values, and its answers turned back; None if nothing merges."""
    if int(model.graph.card[: model.graph.n_variables].max(initial=0)) <= 2:
        return None
    from plx.lift.reduced import reduced_model

    reduced = reduced_model(model)
    if not reduced.is_smaller:
        return None

    def spread(found: Inference) -> Inference:
        answers = tuple(
            exact_answer(model, query, reduced.spread(query, answer.p)) if query.targets else answer
            for query, answer in zip(model.queries, found.answers, strict=True)
        )
        return replace(found, answers=answers)

    return reduced.model, spread
