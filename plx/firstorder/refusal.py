"""Why a program cannot be answered without grounding it."""

from __future__ import annotations

from plx.source import Span


class NotLiftableError(Exception):
    """What stands in the way, in words: the rule and the variable, or the size.

    ``width``: of the type whose variables are too many, so that another choice of types may do better.
    """

    def __init__(self, what: str, span: Span | None = None) -> None:
        self.what, self.span = what, span
        super().__init__(what)

    @property
    def words(self) -> str:
        """What stands in the way, and the line where it stands."""
        return self.what if self.span is None else f"{self.what} (line {self.span.line})"


def shown(span: Span) -> str:
    """A rule as it is written, on one line and not too long."""
    text = " ".join(span.text.split())
    return f"`{text if len(text) <= 60 else text[:57] + '…'}`"
