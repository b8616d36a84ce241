"""White-space separated words of a file, read from left to right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NoReturn

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.formats.numbers import LogNumbers
from plx.source import Source, Span
from plx.values import IntArray

_WHITE = np.isin(np.arange(256), [9, 10, 11, 12, 13, 28, 29, 30, 31, 32])


LARGEST_DOMAIN = 65_535
"""The most states of a variable."""


class Words:
    """A cursor over the words of a source.

    Places are worked out only when they are asked for, so a long file costs one ``split``.
    Comments are blanked, not cut, which keeps the place of every word.
    """

    def __init__(self, source: Source, comment: re.Pattern[str]) -> None:
        self.source = source
        self._blanked = comment.sub(lambda match: " " * len(match[0]), source.text)
        self._words = self._blanked.split()
        self.at = 0

    @property
    def left(self) -> int:
        """How many words have not been read."""
        return len(self._words) - self.at

    def take(self, count: int, what: str) -> Sequence[str]:
        """The next ``count`` words; ``what`` names them should the file end before."""
        if count > self.left:
            self._ends_early(count, what)
        self.at += count
        return self._words[self.at - count : self.at]

    def integer(self, what: str, least: int = 0) -> int:
        """The next word as a whole number ≥ ``least``."""
        word = self.take(1, what)[0]
        return self._whole(word, self.at - 1, what, least)

    def integers(self, count: int, what: str, least: int = 0) -> IntArray:
        """The next words as whole numbers ≥ ``least``, shape (count,)."""
        words = self.take(count, what)
        return self.whole(words, self.at - count, 1, what, least)

    def sizes(self, count: int, what: str) -> IntArray:
        """The next words as numbers of states, shape (count,)."""
        found = self.integers(count, what, least=1)
        for i in np.flatnonzero(found > LARGEST_DOMAIN):
            self.fail(f"a variable has at most {LARGEST_DOMAIN:,} states", self.at - count + int(i))
        return found

    def whole(self, words: Sequence[str], first: int, step: int, what: str, least: int = 0) -> IntArray:
        """Words ``first``, ``first + step``, … that have been read, as whole numbers, shape (n,)."""
        parsed = [self._whole(word, first + step * i, what, least) for i, word in enumerate(words)]
        return np.array(parsed, dtype=np.int64)

    def _whole(self, word: str, index: int, what: str, least: int) -> int:
        if not (word.isascii() and word.isdigit() and len(word) < 19 and int(word) >= least):
            self.fail(f"{what} must be a whole number from {least} up", index)
        return int(word)

    def log_weights(self, count: int, what: str, numbers: LogNumbers) -> IntArray:
        """The next words as the entries of a table: ids of their exact logs, shape (count,)."""
        first = self.at
        return numbers.ids(self.take(count, what), lambda message, index: self.fail(message, first + index))

    def span(self, index: int, end: int | None = None) -> Span:
        """The place of word ``index``, or of words ``index … end - 1``."""
        last = (index + 1 if end is None else end) - 1
        return Span(self.source, int(self._starts[index]), int(self._starts[last]) + len(self._words[last]))

    def fail(self, message: str, index: int | None = None, hint: str | None = None) -> NoReturn:
        """Raises PlxError at a word (the last one read, unless told)."""
        at = self.at - 1 if index is None else index
        read = self.span(at) if 0 <= at < len(self._words) else self._end
        shown = f", and this is `{read.text}`" if message.endswith(" up") else ""
        raise PlxError(Diagnostic(message + shown, read, hint))

    def _ends_early(self, count: int, what: str) -> NoReturn:
        missing = f"{count} expected, {self.left} found" if count > 1 else "none found"
        raise PlxError(Diagnostic(f"the file ends before {what} ({missing})", self._end))

    @property
    def _end(self) -> Span:
        end = len(self.source.text.rstrip())
        return Span(self.source, max(0, end - 1), end)

    @cached_property
    def _starts(self) -> IntArray:
        if not self._blanked.isascii():
            return np.array([match.start() for match in re.finditer(r"\S+", self._blanked)], dtype=np.int64)
        white = _WHITE[np.frombuffer(self._blanked.encode(), dtype=np.uint8)]
        return np.flatnonzero(~white & np.concatenate([[True], white[:-1]]))
