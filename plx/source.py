"""Where text came from: a named source and the spans that point into it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Source:
    """A named piece of text: a program, a CSV file, or a string given in Python."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0] + [i + 1 for i, mark in enumerate(self.text) if mark == "\n"]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both counted from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    @property
    def lines(self) -> int:
        """How many lines there are; the last may be empty."""
        return len(self._line_starts)

    def start_of(self, line: int) -> int:
        """The offset at which a line (counted from 1) starts."""
        return self._line_starts[line - 1]

    def line(self, number: int) -> str:
        """The text of a line (counted from 1), without its line break."""
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return (self.text[start:] if end < 0 else self.text[start:end]).rstrip("\r")


@dataclass(frozen=True, slots=True)
class Span:
    """The characters ``start`` (included) to ``end`` (excluded) of a source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of the other."""
        return Span(self.source, self.start, other.end)

    def to_dict(self) -> dict[str, Any]:
        """The file, and where the span starts and ends: lines and columns from 1, in characters."""
        places = zip(("start", "end"), map(self.source.position, (self.start, self.end)), strict=True)
        return {
            "file": self.source.name,
            **{end: {"line": line, "column": column} for end, (line, column) in places},
        }

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"
