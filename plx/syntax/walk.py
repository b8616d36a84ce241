"""All nodes of a syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from plx.source import Span


def nodes(tree: Any) -> Iterator[Any]:
    """The node and every node inside it, of whatever kind, in no promised order."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting += node
        elif is_dataclass(node) and not isinstance(node, Span):
            yield node
            waiting += [getattr(node, field.name) for field in fields(node) if field.compare]
