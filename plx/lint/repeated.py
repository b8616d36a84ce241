"""PLX206: rules that stand twice."""

from __future__ import annotations

from collections.abc import Iterator

from plx.errors import Diagnostic, Note
from plx.lint.finding import finding
from plx.syntax import ast


def repeated(module: ast.Module) -> Iterator[Diagnostic]:
    """Rules that are, but for their layout, the same as an earlier one."""
    first: dict[ast.Statement, ast.Statement] = {}
    for statement in module.statements:
        if not isinstance(statement, ast.Weight | ast.Factor | ast.Require):
            continue
        earlier = first.setdefault(statement, statement)
        if earlier is not statement:
            message = "this rule stands twice"
            if not isinstance(statement, ast.Require):
                message += ", so it counts double"
            notes = (Note("the first one is here", earlier.span),)
            yield finding("PLX206", statement.span, message, "leave one out", notes)
