"""The words of the language: what a program is split into, and which of them are reserved."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from plx.source import Source, Span


@dataclass(frozen=True, slots=True)
class Word:
    """One token: its kind (a terminal of ``grammars/plx.lark``), its text and its place."""

    type: str
    text: str
    source: Source
    start: int

    @property
    def end(self) -> int:
        """Offset just after the word."""
        return self.start + len(self.text)

    @property
    def span(self) -> Span:
        """The characters of the word."""
        return Span(self.source, self.start, self.start + len(self.text))


STATEMENTS = (
    "type",
    "param",
    "relation",
    "random",
    "define",
    "weight",
    "factor",
    "require",
    "observe",
    "query",
)
"""The reserved words that start a statement."""

CLAUSES = ("for", "if", "from", "as", "given", "else", "map", "logz")
"""The reserved words that start a part of a statement, or stand for what is asked."""

OPERATOR_WORDS = ("and", "or", "not", "xor", "in")
"""The operators that are words."""

TRUTHS = ("true", "false")

AGGREGATES = ("exists", "forall", "count", "sum")
"""The reserved words that take a formula and a scope in parentheses."""

RESERVED = frozenset({*STATEMENTS, *CLAUSES, *OPERATOR_WORDS, *TRUTHS, *AGGREGATES})
"""The words that cannot be names. A symbol spelt like one is written in quotes."""

CONSTRAINTS = ("alldifferent", "exactly", "at_least", "at_most")
"""Names that take a ``for`` in their parentheses. They are not reserved."""

FILE_WORDS = ("columns", "table", "sql")
"""Names that say, after a file, what is read of it. They are not reserved."""

_NAME = re.compile(
    r"[^\W\d][\w\u0300-\u036F\u0591-\u05BD\u0610-\u061A\u064B-\u065F"
    r"\u0900-\u0963\u0966-\u0DF3\u0E31-\u0E4E\u200C\u200D]*'*"
)


def is_name(text: str) -> bool:
    """True where the text can stand in a program as a name, without quotes."""
    return text not in RESERVED and _NAME.fullmatch(text) is not None


def mark_constraints(words: list[Word]) -> list[Word]:
    """The words, those of CONSTRAINTS whose parentheses hold a ``for`` as words of their own kind."""
    marked = list(words)
    open_: list[int] = []
    for i, word in enumerate(words):
        if word.text in STATEMENTS:
            open_.clear()
        elif word.text in ("(", "{"):
            open_.append(i)
        elif word.text in (")", "}"):
            del open_[-1:]
        elif word.text == "for" and open_ and words[open_[-1]].text == "(":
            at = max(0, open_[-1] - 1)
            if words[at].text in CONSTRAINTS:
                marked[at] = replace(words[at], type="CONSTRAINT")
    return marked


def first_on_line(word: Word) -> bool:
    """True where only blanks stand before the word on its line."""
    text = word.source.text
    return not text[text.rfind("\n", 0, word.start) + 1 : word.start].strip("\ufeff \t\r")
