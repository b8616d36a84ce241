"""A translated program as a text for people: sections with comments, long lists broken into lines."""

from __future__ import annotations

from collections.abc import Sequence

from plx.formats.mln.program import Translation
from plx.syntax import ast
from plx.syntax.printer import print_expr, print_statement

_WIDTH = 100


def text_of(translation: Translation, files: Sequence[str]) -> str:
    """The program of a translation; ``files`` are where it comes from."""
    lines = [f"# From {', '.join(files)}."]
    lines += [f"# `{before}` is called `{after}` here." for before, after in translation.renamed]
    for section in translation.sections:
        lines.append("")
        if section.comment:
            lines.append(f"# {section.comment}")
        lines += [_statement(statement) for statement in section.statements]
    return "\n".join(lines) + "\n"


def _statement(statement: ast.Statement) -> str:
    text, table = print_statement(statement), _table(statement)
    if len(text) <= _WIDTH or table is None:
        return text
    head = text[: text.index(" = {")]
    entries = [print_expr(ast.Braces((entry,), span=entry.span))[1:-1] for entry in table.entries]
    return f"{head} = {{\n{_wrapped(entries)}\n}}"


def _table(statement: ast.Statement) -> ast.Braces | None:
    """What a statement lists in braces."""
    match statement:
        case ast.TypeDecl() | ast.RelationDecl() | ast.ParamDecl():
            value: object = statement.value
        case ast.Observe(formula=ast.Compare((_, value), ("=",))):
            pass
        case _:
            return None
    return value if isinstance(value, ast.Braces) else None


def _wrapped(entries: Sequence[str]) -> str:
    lines = ["   "]
    for i, entry in enumerate(entries):
        item = f" {entry}" + "," * (i < len(entries) - 1)
        if len(lines[-1]) + len(item) > _WIDTH and lines[-1].strip():
            lines.append("   ")
        lines[-1] += item
    return "\n".join(lines)
