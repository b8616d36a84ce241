"""A program as pieces of one kind each, blanks and comments included: what every highlighter colours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from plx.source import Source
from plx.syntax.parser import split
from plx.syntax.words import RESERVED, STATEMENTS, Word

Kind = Literal[
    "statement", "keyword", "declared", "name", "number", "string", "operator", "mark", "comment", "blank",
    "mistake",
]  # fmt: skip

_KINDS: Final[dict[str, Kind]] = {
    "NAME": "name",
    "CONSTRAINT": "keyword",
    "COLUMNS": "keyword",
    "NUMBER": "number",
    "STRING": "string",
    "UNCLOSED": "mistake",
    "STRAY": "mistake",
    **dict.fromkeys(("LPAR", "RPAR", "LBRACE", "RBRACE", "COMMA", "COLON"), "mark"),
}
"""The kinds of terminals; reserved words are told by their text, and all others are operators."""

_DECLARING: Final = ("TYPE", "PARAM", "RELATION", "RANDOM", "DEFINE")

_IGNORED = re.compile(r"#[^\r\n]*|[^#]+")
"""Between two words: a comment, or blanks."""


def pieces(source: Source) -> Iterator[tuple[Kind, str]]:
    """The text in order, piece by piece: joined, they are the text. ``declared`` is a name where it is
    declared, ``mark`` a bracket, comma or colon, ``mistake`` what is no word of the language."""
    words = split(source)
    end = 0
    for i, word in enumerate(words):
        yield from _between(source.text[end : word.start])
        yield _kind(words, i), word.text
        end = word.end
    yield from _between(source.text[end:])


def _kind(words: Sequence[Word], i: int) -> Kind:
    word = words[i]
    if word.text in RESERVED:
        return "statement" if word.text in STATEMENTS else "keyword"
    kind = _KINDS.get(word.type, "operator")
    declared = kind == "name" and i > 0 and words[i - 1].type in _DECLARING
    return "declared" if declared else kind


def _between(text: str) -> Iterator[tuple[Kind, str]]:
    for found in _IGNORED.findall(text):
        yield ("comment" if found.startswith("#") else "blank"), found


def statement_lines(source: Source) -> dict[int, int]:
    """The last line of each statement by its first line, lines counted from 1; of several on a line, the
    last."""
    found: dict[int, int] = {}
    words = split(source)
    firsts = [i for i, word in enumerate(words) if word.text in STATEMENTS]
    for i, following in zip(firsts, [*firsts[1:], len(words)], strict=True):
        first = words[i].span.line
        found[first] = max(found.get(first, 0), source.position(words[following - 1].end - 1)[0])
    return found
