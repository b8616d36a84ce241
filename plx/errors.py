"""Errors as data: what is wrong, where, and what to change."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from plx.source import Span


@dataclass(frozen=True)
class Note:
    """A second place that matters to a diagnostic, e.g. the first of two declarations."""

    message: str
    span: Span | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"message": self.message, "span": self.span and self.span.to_dict()}


@dataclass(frozen=True)
class Diagnostic:
    """One mistake, in plain words; ``hint`` says what to change, ``code`` is that of a warning's rule."""

    message: str
    span: Span | None = None
    hint: str | None = None
    notes: tuple[Note, ...] = ()
    severity: str = "error"
    code: str | None = None

    def __str__(self) -> str:
        return render(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "span": self.span and self.span.to_dict(),
            "notes": [note.to_dict() for note in self.notes],
        }


class PlxError(Exception):
    """Raised for a mistake in a program or its data; holds every diagnostic found."""

    def __init__(self, diagnostics: Iterable[Diagnostic] | Diagnostic) -> None:
        found = [diagnostics] if isinstance(diagnostics, Diagnostic) else list(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(found)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n\n".join(render(diagnostic) for diagnostic in self.diagnostics)

    def noted(self, *notes: Note) -> PlxError:
        """The same mistakes, with notes at the end of each."""
        return type(self)([replace(one, notes=(*one.notes, *notes)) for one in self.diagnostics])


class CallError(PlxError):
    """Raised where a call is at fault: an option that makes no sense, a method that there is not."""


class NoWorldError(PlxError):
    """Raised where no world is possible: hard rules or observations contradict each other."""

    def reason_for(self, message: str, span: Span | None = None) -> PlxError:
        """The mistake that this explains, with the rules that clash as notes."""
        found = self.diagnostics[0]
        return PlxError(Diagnostic(message, span, notes=(Note(found.message, found.span), *found.notes)))


def render(diagnostic: Diagnostic) -> str:
    """The diagnostic as text: place, message, the line with a caret, notes and hint."""
    from plx.numerals import readable

    place = f"{diagnostic.span}: " if diagnostic.span else ""
    code = f" [{diagnostic.code}]" if diagnostic.code else ""
    lines = [f"{place}{diagnostic.severity}: {readable(diagnostic.message)}{code}"]
    if diagnostic.span:
        lines += excerpt(diagnostic.span)
    for note in diagnostic.notes:
        lines.append(f"  note: {readable(note.message)}" + (f" ({note.span})" if note.span else ""))
        if note.span:
            lines += excerpt(note.span)
    if diagnostic.hint:
        lines.append(f"  hint: {readable(diagnostic.hint)}")
    return "\n".join(lines)


_WIDEST = 100
"""A line longer than this many characters is cut around the caret."""


def excerpt(span: Span) -> list[str]:
    """The first line of a span with carets under it, ready to print.

    Tabs become spaces and what has no shape of its own is replaced, so that the
    carets stand where they belong in any terminal.
    """
    number, column = span.source.position(span.start)
    text = span.source.line(number)
    begin = min(column - 1, len(text))
    end = min(begin + max(1, span.end - span.start), len(text))
    left = 0 if end <= _WIDEST else max(0, begin - _WIDEST // 3)
    right = min(len(text), left + _WIDEST)
    lead = "…" if left else ""
    shown = lead + "".join(map(_shape, text[left:right])) + ("…" if right < len(text) else "")
    pad = len(lead) + width(text[left:begin])
    carets = max(1, width(text[begin : min(end, right)]))
    gutter = str(number)
    return [f"  {gutter} | {shown}", f"  {' ' * len(gutter)} | {' ' * pad}{'^' * carets}"]


_TAB = "    "
_JOINERS = "\u200c\u200d"


def _shape(mark: str) -> str:
    """A character as it is shown in an excerpt."""
    if mark == "\t":
        return _TAB
    kind = unicodedata.category(mark)
    hidden = kind in ("Cc", "Cs", "Zl", "Zp") or (kind == "Cf" and mark not in _JOINERS)
    return "�" if hidden else mark


def width(text: str) -> int:
    """How many columns of a terminal the characters take."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(_columns(mark) for mark in "".join(map(_shape, text)))


def _columns(mark: str) -> int:
    if mark in _JOINERS or unicodedata.category(mark) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(mark) in "WF" else 1


_MANY = 2000
"""With more candidates than this, only those that begin alike and are as long are compared."""


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most likely meant by a misspelt name, if any is close."""
    pool = [candidate for candidate in dict.fromkeys(candidates) if candidate != name]
    folded = name.casefold()
    for candidate in pool:
        if candidate.casefold() == folded:
            return candidate
    if len(pool) > _MANY:
        alike = (c for c in pool if abs(len(c) - len(name)) <= 1 and c[:1].casefold() == folded[:1])
        pool = list(islice(alike, _MANY))
    close = difflib.get_close_matches(name, pool, n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A hint that offers the nearest candidate, or None."""
    best = nearest(name, candidates)
    return f"did you mean `{best}`?" if best else None
