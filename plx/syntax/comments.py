"""Comments, which the tree leaves out, found again between the words of a program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from plx.source import Source, Span
from plx.syntax import ast
from plx.syntax.words import Word

_COMMENT = re.compile(r"#[^\r\n]*")
_LINE_BREAK = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment without the blanks at its end; ``own_line`` if only blanks stand before it on its line.

    ``blank_line``: whether an empty line stands before it.
    """

    text: str
    span: Span
    own_line: bool
    blank_line: bool


@dataclass(frozen=True, slots=True)
class Gap:
    """What stands before a word, or after the last one: comments, and how many line breaks after them."""

    comments: tuple[Comment, ...]
    breaks: int

    @property
    def trailing(self) -> Comment | None:
        """The comment at the end of the line of the word before."""
        return self.comments[0] if self.comments and not self.comments[0].own_line else None

    @property
    def own_lines(self) -> tuple[Comment, ...]:
        """The comments with lines of their own."""
        return self.comments[1:] if self.trailing else self.comments


def gaps(source: Source, words: Sequence[Word]) -> list[Gap]:
    """What stands before each word, and after the last: one gap more than words."""
    starts = [0, *(word.end for word in words)]
    ends = [*(word.start for word in words), len(source.text)]
    return [_gap(source, start, end) for start, end in zip(starts, ends, strict=True)]


_IGNORE = re.compile(r"#\s*plx:\s*ignore\b[\s:]*(\w+(?:[\s,]+\w+)*)", re.IGNORECASE)
_CODE = re.compile(r"\w+")


def ignores(source: Source, words: Sequence[Word]) -> tuple[ast.Ignore, ...]:
    """What comments say is not to be warned of: on their line, or on the next line that is no comment."""
    if "ignore" not in source.text:
        return ()
    found: list[ast.Ignore] = []
    for place, gap in enumerate(gaps(source, words)):
        for comment in gap.comments:
            listed = _IGNORE.match(comment.text)
            if listed is None:
                continue
            start = comment.span.start
            line = words[place].span.line if comment.own_line and place < len(words) else comment.span.line
            for code in _CODE.finditer(comment.text, listed.start(1), listed.end(1)):
                span = Span(source, start + code.start(), start + code.end())
                found.append(ast.Ignore(code[0].upper(), line, span=span))
    return tuple(found)


def _gap(source: Source, start: int, end: int) -> Gap:
    found: list[Comment] = []
    at = start
    for match in _COMMENT.finditer(source.text, start, end):
        text = match[0].rstrip()
        breaks = _breaks(source, at, match.start())
        own_line = start == 0 or breaks > 0
        span = Span(source, match.start(), match.start() + len(text))
        found.append(Comment(text, span, own_line, breaks > 1))
        at = match.end()
    return Gap(tuple(found), _breaks(source, at, end))


def _breaks(source: Source, start: int, end: int) -> int:
    return sum(1 for _ in _LINE_BREAK.finditer(source.text, start, end))
