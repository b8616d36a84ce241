"""The cheapest exact way: elimination or counting, on merged values where that pays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from plx.errors import Diagnostic, PlxError
from plx.graph.model import GroundModel
from plx.graph.sizes import size_text
from plx.infer.answers import exact_answer
from plx.infer.counting.marginals import MANY, count, count_plan
from plx.infer.exact.elimination import Budget, plan, solve
from plx.infer.exact.treewidth import surely_wider
from plx.infer.inference import Answer, Inference

_CHEAP = 3e6
"""Operations below which elimination is taken without looking for anything better."""


@dataclass(frozen=True)
class Way:
    """An exact way that fits its budget. ``run`` leaves `map` queries without worlds."""

    reason: str
    operations: float
    run: Callable[[], Inference]


def exact_way(model: GroundModel) -> Way | None:
    """The cheapest exact way, or None if none fits. Ways to find most probable worlds are not its matter."""
    if model.graph.n_factors > MANY and (way := _counted(model)):
        return way
    ways = [_eliminated(model)]
    if not ways[0] or ways[0].operations > _CHEAP:
        ways += [_merged(model), None if model.graph.n_factors > MANY else _counted(model)]
    return min((way for way in ways if way), key=lambda way: way.operations, default=_worlds_only(model))


def _worlds_only(model: GroundModel) -> Way | None:
    """Nothing is to be summed where only most probable worlds are asked for."""
    if not model.queries or any(query.kind != "map" for query in model.queries):
        return None
    answers = (Answer(),) * len(model.queries)
    return Way("only most probable worlds are asked for", 0.0, lambda: Inference("exact", "", answers))


def refusal(model: GroundModel, worlds: str) -> PlxError:
    """Why no exact way fits: the size of the smallest plan, and the rules that couple most in it."""
    plans = [plan(model)]
    if (merged := _merge(model)) is not None:
        plans.append(plan(merged[0]))
    chosen = min(plans, key=lambda one: (not one.complete, one.operations))
    limit = Budget()
    if chosen.table_bits > math.log2(limit.entries) or not chosen.complete:
        size = ("" if chosen.complete else "over ") + size_text(chosen.table_bits)
        needs = f"a table of {size} entries (at most {limit.entries:,.0f} are made)"
    elif chosen.entry_bits > math.log2(limit.entries):
        needs = f"{size_text(chosen.entry_bits)} numbers in memory (at most {limit.entries:,.0f} are kept)"
    else:
        needs = (
            f"{size_text(math.log2(chosen.operations))} operations (at most {limit.operations:,.0f} are done)"
        )
    names = "; ".join(f"`{rule.text}`" for rule in chosen.coupling_rules())
    return PlxError(
        Diagnostic(
            f"exact inference is out of reach: there are {worlds} worlds, and elimination needs {needs}",
            hint=f"use --method gibbs, or loosen what couples most: {names}",
        )
    )


def _eliminated(model: GroundModel) -> Way | None:
    if surely_wider(model.graph, math.log2(Budget().entries)):
        return None
    chosen = plan(model)
    if not chosen.fits():
        return None
    return Way(chosen.reason, chosen.operations, lambda: solve(model, chosen))


def _counted(model: GroundModel) -> Way | None:
    chosen = count_plan(model)
    if chosen is None or not chosen.fits():
        return None
    return Way(chosen.reason, chosen.operations, lambda: count(chosen))


def _merged(model: GroundModel) -> Way | None:
    """Elimination on the model whose interchangeable values are one, answers spread over them."""
    merged = _merge(model)
    if merged is None:
        return None
    inner, spread = merged
    way = _eliminated(inner)
    if way is None:
        return None
    return replace(way, reason=f"interchangeable values merged; {way.reason}", run=lambda: spread(way.run()))


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
