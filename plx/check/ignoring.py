"""Warnings that comments hide: ``# plx: ignore CODE``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plx.errors import Diagnostic
from plx.syntax import ast


def unignored(found: Iterable[Diagnostic], module: ast.Module) -> Iterator[Diagnostic]:
    """The diagnostics that no comment of the program hides; errors cannot be hidden."""
    hidden = {(ignore.code, ignore.line) for ignore in module.ignores}
    for one in found:
        inside = one.span is not None and one.span.source is module.source
        if not (hidden and inside and one.span and (one.code, one.span.line) in hidden):
            yield one
