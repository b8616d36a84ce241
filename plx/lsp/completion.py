"""What may be written at a place."""

from __future__ import annotations

from collections.abc import Iterator

from plx.lsp.document import Document
from plx.syntax.words import RESERVED, is_name


def completions(document: Document, offset: int) -> Iterator[tuple[str, str]]:
    """Names and their kinds: declared names, symbols, variables of the statement at hand, reserved words."""
    statement = next(
        (one.span for one in reversed(document.module.statements) if one.span.start <= offset), None
    )
    found: dict[str, str] = {}
    for one in document.occurrences:
        kind, text, _ = one.meaning
        mine = statement is not None and statement.start <= one.span.start < statement.end
        if one.defines and is_name(text) and (kind != "variable" or mine):
            found.setdefault(text, kind)
    yield from found.items()
    yield from ((word, "word") for word in sorted(RESERVED))
