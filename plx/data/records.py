"""The text of a CSV file → rows of cells, each with its place. Commas or another mark part the cells, quotes
are those of RFC 4180.

Blanks at both ends of a cell count for nothing, unless they stand between quotes. A quote that does not
begin a cell is a mark like any other. Lines that hold nothing but blanks are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span

MARKS = {",": "commas", "\t": "tabs", ";": "`;`", "|": "`|`"}
"""What may part the cells of a row, in words."""


def _blanks(mark: str) -> str:
    """What counts for nothing at the ends of a cell."""
    return " " if mark == "\t" else " \t"


@cache
def _pattern(mark: str) -> re.Pattern[str]:
    """One cell and what ends it."""
    blank, mark = f"[{_blanks(mark)}]", re.escape(mark)
    quoted, plain = '"(?:[^"]++|"")*+"', rf'(?:[^"{mark}\r\n][^{mark}\r\n]*+)?'
    ends = rf"{mark}|\r\n|\n|\r|\Z"
    return re.compile(f"{blank}*+(?:(?P<quoted>{quoted}){blank}*+|(?P<plain>{plain}))(?P<end>{ends})")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, and where it stands with its quotes."""

    text: str
    start: int
    end: int


def rows(source: Source, at: int = 0, mark: str = ",") -> Iterator[list[Cell]]:
    """The rows of a file that are not blank, from one that starts ``at`` a place; ``mark`` parts the cells.

    Raises PlxError for a quote that opens a cell and does not end it.
    """
    row: list[Cell] = []
    text, pattern, blanks = source.text, _pattern(mark), _blanks(mark)
    while at < len(text):
        match = pattern.match(text, at)
        if match is None:
            raise PlxError(_unclosed(source, at, mark))
        row.append(_cell(match, blanks))
        at = match.end()
        if match["end"] != mark or at == len(text):
            if match["end"] == mark:
                row.append(Cell("", at, at))
            if len(row) > 1 or row[0].start < row[0].end:
                yield row
            row = []


def _cell(match: re.Match[str], blanks: str) -> Cell:
    if match["quoted"] is not None:
        return Cell(match["quoted"][1:-1].replace('""', '"'), *match.span("quoted"))
    text = match["plain"].rstrip(blanks)
    return Cell(text, match.start("plain"), match.start("plain") + len(text))


def _unclosed(source: Source, at: int, mark: str) -> Diagnostic:
    start = source.text.index('"', at)
    quoted = re.compile(r'"(?:[^"]++|"")*+(")?').match(source.text, start)
    assert quoted is not None
    if quoted[1] is None:
        message, end = "this quote is not closed", start + 1
        hint = 'a quote inside a cell is written "", and the cell in quotes: "5"" pipe"'
    else:
        wanted = {",": "a comma", "\t": "a tab"}.get(mark, f"`{mark}`")
        message, end = f"{wanted} is missing after the quotes", quoted.end() + 1
        hint = None
    return Diagnostic(message, Span(source, start, min(end, len(source.text))), hint=hint)


def plain_columns(text: str, mark: str = ",") -> list[list[str]] | None:
    """The columns of a file without quotes, other tabs than ``mark``, blanks at the ends of cells or blank
    lines; None for any other, where rows differ in length too.

    One split of the whole text: about five times as fast as reading row by row.
    """
    text = text.replace("\r\n", "\n").removesuffix("\n")
    special = ['"', f"{mark} ", f" {mark}", "\n ", " \n", "\n\n", "\r", *({"\t"} - {mark})]
    if not text or any(found in text for found in special) or {text[0], text[-1]} & {" ", "\n"}:
        return None
    width = text.partition("\n")[0].count(mark) + 1
    if not _rectangular(text, width, mark):
        return None
    cells = text.replace("\n", mark).split(mark)
    return [cells[at::width] for at in range(width)]


def _rectangular(text: str, width: int, mark: str) -> bool:
    """Whether every line has ``width`` cells."""
    octets = np.frombuffer(text.encode(), dtype=np.uint8)
    ends = np.flatnonzero(octets == ord("\n"))
    if width == 1:
        return not (octets == ord(mark)).any()
    marks = np.flatnonzero(octets == ord(mark))
    if len(marks) != (len(ends) + 1) * (width - 1):
        return False
    rows = marks.reshape(-1, width - 1)
    return bool((rows[1:, 0] > ends).all() and (rows[:-1, -1] < ends).all())
