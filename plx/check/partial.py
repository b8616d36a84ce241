"""Mistakes of a program of which only some statements could be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from plx.errors import Diagnostic
from plx.source import Source
from plx.syntax import ast

_DECLARED = re.compile(r"\b(?:type|param|relation|random|define)\b[ \t]*([^\W\d]\w*'*)?")
_QUOTED = re.compile(r"`([^`]*)`")
_WORD = re.compile(r"[^\W\d]\w*'*")


def independent(found: Iterable[Diagnostic], module: ast.Module) -> list[Diagnostic]:
    """The mistakes that do not follow from the statements that are missing in the module.

    A mistake may follow if it mentions a name that a missing statement seems to declare.
    """
    names = {match[1] for text in _missing(module) for match in _DECLARED.finditer(text)}
    if None in names:
        return []
    return [diagnostic for diagnostic in found if not names & _mentioned(diagnostic)]


def _mentioned(diagnostic: Diagnostic) -> set[str | None]:
    quoted = _QUOTED.findall(diagnostic.message)
    marked = [diagnostic.span.text] if diagnostic.span else []
    return {word for text in (*quoted, *marked) for word in _WORD.findall(text)}


def _missing(module: ast.Module) -> Iterator[str]:
    """The text before, between and after the statements that were read, without comments."""
    start = 0
    for statement in module.statements:
        yield _uncommented(module.source, start, statement.span.start)
        start = max(start, statement.span.end)
    yield _uncommented(module.source, start, len(module.source.text))


def _uncommented(source: Source, start: int, end: int) -> str:
    return re.sub(r"#[^\n]*", "", source.text[start:end])
