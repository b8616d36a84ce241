"""The text of a CSV file → rows of cells, each with its place. Commas, quotes as in RFC 4180.

Blanks at both ends of a cell count for nothing, unless they stand between quotes. A quote that does not
begin a cell is a mark like any other. Lines that hold nothing but blanks are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span

_BLANKS = " \t"
_CELL = re.compile(
    r"""[ \t]*+
    (?: (?P<quoted> "(?: [^"]++ | "" )*+" ) [ \t]*+ | (?P<plain> (?: [^",\r\n] [^,\r\n]*+ )? ) )
    (?P<end> , | \r\n | \n | \r | \Z )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, and where it stands with its quotes."""

    text: str
    start: int
    end: int


def rows(source: Source, at: int = 0) -> Iterator[list[Cell]]:
    """The rows of a file that are not blank, from one that starts ``at`` a place.

    Raises PlxError for a quote that opens a cell and does not end it.
    """
    row: list[Cell] = []
    text = source.text
    while at < len(text):
        match = _CELL.match(text, at)
        if match is None:
            raise PlxError(_unclosed(source, at))
        row.append(_cell(match))
        at = match.end()
        if match["end"] != "," or at == len(text):
            if match["end"] == ",":
                row.append(Cell("", at, at))
            if len(row) > 1 or row[0].start < row[0].end:
                yield row
            row = []


def _cell(match: re.Match[str]) -> Cell:
    if match["quoted"] is not None:
        return Cell(match["quoted"][1:-1].replace('""', '"'), *match.span("quoted"))
    text = match["plain"].rstrip(_BLANKS)
    return Cell(text, match.start("plain"), match.start("plain") + len(text))


def _unclosed(source: Source, at: int) -> Diagnostic:
    start = source.text.index('"', at)
    quoted = re.compile(r'"(?:[^"]++|"")*+(")?').match(source.text, start)
    assert quoted is not None
    if quoted[1] is None:
        message, end = "this quote is not closed", start + 1
        hint = 'a quote inside a cell is written "", and the cell in quotes: "5"" pipe"'
    else:
        message, end = "a comma is missing after the quotes", quoted.end() + 1
        hint = None
    return Diagnostic(message, Span(source, start, min(end, len(source.text))), hint=hint)


def plain_columns(text: str) -> list[list[str]] | None:
    """The columns of a file without quotes, tabs, blanks at the ends of cells or blank lines; None for any
    other, where rows differ in length too.

    One split of the whole text: about five times as fast as reading row by row.
    """
    text = text.replace("\r\n", "\n").removesuffix("\n")
    marks = ('"', "\t", ", ", " ,", "\n ", " \n", "\n\n", "\r")
    if not text or any(mark in text for mark in marks) or {text[0], text[-1]} & {" ", "\n"}:
        return None
    width = text.partition("\n")[0].count(",") + 1
    if not _rectangular(text, width):
        return None
    cells = text.replace("\n", ",").split(",")
    return [cells[at::width] for at in range(width)]


def _rectangular(text: str, width: int) -> bool:
    """Whether every line has ``width`` cells."""
    marks = np.frombuffer(text.encode(), dtype=np.uint8)
    ends = np.flatnonzero(marks == ord("\n"))
    if width == 1:
        return not (marks == ord(",")).any()
    commas = np.flatnonzero(marks == ord(","))
    if len(commas) != (len(ends) + 1) * (width - 1):
        return False
    rows = commas.reshape(-1, width - 1)
    return bool((rows[1:, 0] > ends).all() and (rows[:-1, -1] < ends).all())
