"""What a rule of the catalogue has found."""

from __future__ import annotations

from plx.errors import Diagnostic, Note
from plx.source import Span


def finding(
    code: str, span: Span | None, message: str, hint: str | None = None, notes: tuple[Note, ...] = ()
) -> Diagnostic:
    """A warning by the rule with this code."""
    return Diagnostic(message, span, hint, notes, severity="warning", code=code)
