"""PLX204 and PLX205: queries that evidence decides, rules that hold in every world or in none."""

from __future__ import annotations

from collections.abc import Iterator

from plx.errors import Diagnostic
from plx.graph.model import GroundModel, GroundQuery
from plx.lint.finding import finding
from plx.source import Span


def decided(model: GroundModel) -> Iterator[Diagnostic]:
    """Queries and rules all of whose instances are decided before anything is inferred."""
    yield from _queries(model)
    for rule in model.rules:
        if rule.kind != "observe" and rule.instances and not rule.factors:
            message = (
                "this rule changes no answer: in each instance its value is the same in all possible worlds"
            )
            yield finding("PLX205", rule.span, message)


def _queries(model: GroundModel) -> Iterator[Diagnostic]:
    instances: dict[Span, list[GroundQuery]] = {}
    for query in model.queries:
        if query.span is not None and query.targets:
            instances.setdefault(query.span, []).append(query)
    for span, asked in instances.items():
        if all(target.node < 0 for query in asked for target in query.targets):
            message = "this query is decided by what is observed or fixed, whatever the rules say"
            yield finding("PLX204", span, message)
