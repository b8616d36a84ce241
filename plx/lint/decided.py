"""PLX204 and PLX205: queries that evidence decides, rules that hold in every world or in none."""

from __future__ import annotations

from collections.abc import Iterator

from plx.errors import Diagnostic
from plx.graph.model import GroundModel
from plx.graph.queries import blocks, singles
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
    nodes: dict[Span, list[int]] = {}
    for _, query in singles(model.queries):
        if query.span is not None and query.targets:
            nodes.setdefault(query.span, []).extend(target.node for target in query.targets)
    for _, block in blocks(model.queries):
        if block.span is not None:
            nodes.setdefault(block.span, []).append(int(block.node.max()))
    for span, asked in nodes.items():
        if max(asked) < 0:
            message = "this query is decided by what is observed or fixed, whatever the rules say"
            yield finding("PLX204", span, message)
