"""How deep expressions may nest, so that whoever walks a tree may do so recursively."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plx.errors import Diagnostic, PlxError
from plx.source import Span
from plx.syntax import ast
from plx.syntax.words import Word

LIMIT = 200
"""The most levels of a syntax tree, where a chain of one operator is one level."""

_OPENERS = ("LPAR", "LBRACE")
_CLOSERS = ("RPAR", "RBRACE")


def check_brackets(words: Sequence[Word]) -> None:
    """Raises PlxError where brackets nest deeper than the limit."""
    depth = 0
    for word in words:
        if word.type in _OPENERS:
            depth += 1
            if depth > LIMIT:
                raise _too_deep(word.span)
        elif word.type in _CLOSERS:
            depth -= 1


def check_tree(root: Any) -> None:
    """Raises PlxError where a tree is deeper than the limit. Linear in the tree, not recursive.

    A chain of one operator, ``a & b & c``, counts as one level.
    """
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > LIMIT:
            raise _too_deep(Span(root.span.source, root.span.start, node.span.end))
        waiting += [(child, depth + (not _continues(node, child))) for child in _children(node)]


_GROUPS = {"-": "+", "/": "*", "%": "*"}


def _continues(node: Any, child: Any) -> bool:
    """True where a child is the rest of the chain that its parent begins."""
    if not isinstance(node, ast.Binary) or not isinstance(child, ast.Binary):
        return False
    inner = node.right if node.op == "=>" else node.left
    return child is inner and _GROUPS.get(child.op, child.op) == _GROUPS.get(node.op, node.op)


def _children(node: Any) -> list[Any]:
    found: list[Any] = []
    for field in type(node).__slots__:
        value = getattr(node, field)
        if isinstance(value, tuple):
            found += [item for item in value if hasattr(item, "span")]
        elif hasattr(value, "span"):
            found.append(value)
    return found


def _too_deep(span: Span) -> PlxError:
    hint = "split it with `define`, or use `exists`, `forall`, `count` or `sum` over a set or a relation"
    return PlxError(Diagnostic(f"this expression nests more than {LIMIT:,} levels deep", span, hint))
