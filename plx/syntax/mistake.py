"""A word in the wrong place, with what surrounds it: what every rule about mistakes looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from plx.errors import Diagnostic, Note
from plx.source import Span
from plx.syntax.words import STATEMENTS, Word, first_on_line

OPENERS = {"LPAR": "RPAR", "LBRACE": "RBRACE"}
"""Kinds of opening bracket and the closing one of each."""

CLOSERS = {"RPAR": ")", "RBRACE": "}"}
AGGREGATES = ("EXISTS", "FORALL", "COUNT", "SUM")
_STARTERS = frozenset(word.upper() for word in STATEMENTS)


@dataclass(frozen=True)
class Mistake:
    """Word ``at`` cannot follow the words from ``start`` on; ``expected`` are the kinds that can."""

    words: Sequence[Word]
    start: int
    at: int
    expected: frozenset[str]

    @cached_property
    def word(self) -> Word | None:
        """The word at fault; None at the end of the program."""
        return self.words[self.at] if self.at < len(self.words) else None

    @cached_property
    def kind(self) -> str:
        """The kind of the word at fault; ``$END`` at the end of the program."""
        return self.word.type if self.word else "$END"

    @cached_property
    def text(self) -> str:
        """The word at fault as written."""
        return self.word.text if self.word else ""

    @property
    def before(self) -> Word | None:
        """The word before it in the same statement."""
        return self.words[self.at - 1] if self.at > self.start else None

    @property
    def after(self) -> Word | None:
        """The word after it."""
        return self.words[self.at + 1] if self.at + 1 < len(self.words) else None

    @property
    def line(self) -> Sequence[Word]:
        """The word at fault and what follows it on its line."""
        end = self.at + 1
        while end < len(self.words) and not first_on_line(self.words[end]):
            end += 1
        return self.words[self.at : end]

    @property
    def statement(self) -> str:
        """The kind of the statement's first word."""
        return self.words[self.start].type

    @cached_property
    def open(self) -> list[int]:
        """Where brackets stand that are still open, the innermost last."""
        found: list[int] = []
        for position in range(self.start, self.at):
            kind = self.words[position].type
            if kind in OPENERS:
                found.append(position)
            elif kind in CLOSERS and found:
                found.pop()
        return found

    @property
    def starts_line(self) -> bool:
        """True where the word at fault is the first of its line."""
        return self.word is None or first_on_line(self.word)

    @cached_property
    def ended(self) -> bool:
        """True where the statement is over: the text ends, or the next one begins."""
        if self.word is None or (self.kind in _STARTERS and (self.starts_line or not self.wants("NAME"))):
            return True
        return self.starts_line and self.text.lower() in STATEMENTS

    @property
    def wants_operand(self) -> bool:
        """True where a formula or a value should come."""
        return "NUMBER" in self.expected and "LPAR" in self.expected

    def wants(self, *kinds: str) -> bool:
        """True where any of these kinds could come."""
        return not self.expected.isdisjoint(kinds)

    def has(self, *kinds: str) -> bool:
        """True where a word of these kinds stands in the statement before the one at fault."""
        return any(word.type in kinds for word in self.words[self.start : self.at])

    @property
    def gap(self) -> Span:
        """Just after the word before, for what is missing there."""
        word = self.before or self.words[self.start]
        return Span(word.source, word.end, word.end)

    @property
    def place(self) -> Span:
        """The word at fault, or the gap before it where the statement is over."""
        return self.gap if self.ended or self.word is None or self.starts_line else self.word.span

    @property
    def found(self) -> str:
        """What stands in the wrong place, in words."""
        if self.word is None:
            return "the end of the program"
        return f"the next statement, `{self.text}`" if self.ended else f"`{self.text}`"

    def touching(self, back: int, ahead: int) -> Sequence[Word]:
        """The word at fault with so many words before and after it, if no blank parts them."""
        words = self.words[max(self.start, self.at - back) : self.at + ahead + 1]
        whole = len(words) == back + ahead + 1 and self.word is not None
        return words if whole and all(left.end == right.start for left, right in pairwise(words)) else ()

    @property
    def closes_later(self) -> bool:
        """True where the innermost open bracket is closed further on in the statement."""
        depth = 0
        for word in self.words[self.at :]:
            if word.type in _STARTERS:
                return False
            depth += (word.type in OPENERS) - (word.type in CLOSERS)
            if depth < 0:
                return True
        return False

    def says(
        self, message: str, hint: str | None = None, span: Span | None = None, notes: tuple[Note, ...] = ()
    ) -> Diagnostic:
        """A diagnostic at the word at fault (or another place)."""
        return Diagnostic(message, span or self.place, hint, notes)
