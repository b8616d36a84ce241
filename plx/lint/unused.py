"""PLX201: declarations that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from plx.errors import Diagnostic
from plx.lint.finding import finding
from plx.syntax import ast
from plx.syntax.walk import nodes

_WORDS = {
    ast.TypeDecl: "type",
    ast.ParamDecl: "param",
    ast.RelationDecl: "relation",
    ast.DefineDecl: "define",
}


def unused(module: ast.Module) -> Iterator[Diagnostic]:
    """Declarations whose names, and for types their symbols, no other statement mentions.

    Random functions are PLX102. A name that a variable hides counts as mentioned.
    """
    mentioned = [_names(statement) for statement in module.statements]
    times: dict[str, int] = {}
    for names in mentioned:
        for name in names:
            times[name] = times.get(name, 0) + 1
    for statement, inside in zip(module.statements, mentioned, strict=True):
        word = _WORDS.get(type(statement))
        if word is None:
            continue
        assert isinstance(statement, ast.TypeDecl | ast.ParamDecl | ast.RelationDecl | ast.DefineDecl)
        means = inside if isinstance(statement, ast.TypeDecl) else {statement.name.text}
        if all(times[name] == 1 for name in means):
            message = f"nothing uses the {word} `{statement.name.text}`"
            yield finding("PLX201", statement.name.span, message)


def _names(statement: ast.Statement) -> set[str]:
    return {node.text for node in nodes(statement) if isinstance(node, ast.Name | ast.Quoted)}
