"""A word in the wrong place → what is wrong, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from plx.errors import Diagnostic
from plx.syntax.words import Word


def explain(words: Sequence[Word], start: int, at: int, expected: frozenset[str]) -> Diagnostic:
    """The diagnostic for word ``at`` (or the end) of the statement that begins at ``start``."""
    if at >= len(words):
        return Diagnostic("the program ends in the middle of a statement", words[-1].span)
    return Diagnostic(f"`{words[at].text}` does not fit here", words[at].span)
