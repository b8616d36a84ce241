"""Mistakes of a program of which only some statements could be read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from plx.errors import Diagnostic
from plx.syntax import ast

_DECLARED = re.compile(r"\b(?:type|param|relation|random|define)\b[ \t]*([^\W\d]\w*'*)?")
_MISSPELT = re.compile(
    r"(?!(?:type|param|relation|random|define|weight|factor|require|observe|query)\b)"
    r"[^\W\d]\w*[ \t]+([^\W\d]\w*'*)"
)
_INTRODUCES = re.compile(r"\btype\b|\brandom\b.*(?:\{|\.\.)", re.DOTALL)
_QUOTED = re.compile(r"`([^`]*)`")
_WORD = re.compile(r"[^\W\d]\w*'*")
_COMMENT = re.compile(r"#[^\n]*")


def independent(found: Iterable[Diagnostic], module: ast.Module) -> list[Diagnostic]:
    """The mistakes that do not follow from the statements that could not be read.

    A mistake may follow if it mentions a name that such a statement seems to declare.
    """
    names = {name for text in _texts(module) for name in _declared(text)}
    if None in names:
        return []
    return [diagnostic for diagnostic in found if not names & _mentioned(diagnostic)]


def hides_members(module: ast.Module) -> bool:
    """Whether a statement that could not be read may introduce symbols."""
    return any(_INTRODUCES.search(text) or _MISSPELT.match(text) for text in _texts(module))


def _declared(text: str) -> list[str | None]:
    found: list[str | None] = [match[1] for match in _DECLARED.finditer(text)]
    misspelt = None if found else _MISSPELT.match(text)
    return [misspelt[1]] if misspelt else found


def _mentioned(diagnostic: Diagnostic) -> set[str | None]:
    quoted = _QUOTED.findall(diagnostic.message)
    marked = [diagnostic.span.text] if diagnostic.span else []
    return {word for text in (*quoted, *marked) for word in _WORD.findall(text)}


def _texts(module: ast.Module) -> list[str]:
    """The text of each statement that could not be read, without comments."""
    return [_COMMENT.sub("", span.text) for span in module.unread]
