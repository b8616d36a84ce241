"""CSV files → columns. UTF-8, commas, quotes as in RFC 4180; a BOM and CRLF are accepted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from plx.data.arrange import Raw
from plx.data.cells import column_of_text
from plx.data.shape import VALUE, Shape
from plx.decoding import decode
from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span

_RECORD = re.compile(r'(?:[^"\r\n]+|"[^"]*")*(?:\r\n|\n|\r)?')
_CELL = re.compile(r' *((?:"[^"]*"|[^",\r\n])*)')


@dataclass(frozen=True)
class CsvOrigin:
    """Rows of a file; ``order[slot]`` is the column of the file that holds a slot (or the value)."""

    source: Source
    header: bool
    order: tuple[int, ...] = ()

    def arranged(self, order: tuple[int, ...]) -> CsvOrigin:
        """The same rows with their columns in another order."""
        return CsvOrigin(self.source, self.header, order)

    def span(self, row: int, column: int) -> Span:
        """The text of a cell, or of the last one if there are fewer; row −1 is the header."""
        at = self._records[min(row + self.header, len(self._records) - 1)]
        cells = list(_cells(self.source, at))
        wanted = self.order[column] if column < len(self.order) else column
        return cells[min(wanted, len(cells) - 1)]

    def line(self, row: int) -> Span:
        """The text of a whole row."""
        cells = list(_cells(self.source, self._records[row + self.header]))
        return cells[0].to(cells[-1])

    def words(self, row: int) -> str:
        """Empty: the span says it all."""
        return ""

    @cached_property
    def _records(self) -> list[int]:
        """Where each row that is not blank starts."""
        text, start, found = self.source.text, 0, []
        while start < len(text):
            match = _RECORD.match(text, start)
            assert match is not None
            if match.end() == start:
                break
            if match[0].strip("\r\n"):
                found.append(start)
            start = match.end()
        return found


def _cells(source: Source, start: int) -> list[Span]:
    found = []
    while True:
        match = _CELL.match(source.text, start)
        assert match is not None
        found.append(Span(source, match.start(1), match.end(1)))
        if match.end() >= len(source.text) or source.text[match.end()] != ",":
            return found
        start = match.end() + 1


def read_csv(path: Path, shape: Shape, at: Span) -> Raw:
    """The columns of a file for one declaration; the first row is a header if it names the columns.

    ``at`` is where the program asks for the file. Raises PlxError if it cannot be read, is not UTF-8,
    is empty or has rows of other lengths than the first.
    """
    source = _source(path, at)
    columns = _plain_columns(source.text) or _columns(source)
    if not columns:
        raise PlxError(Diagnostic(f"`{source.name}` is empty", at, hint=f"its columns: {shape.wanted}"))
    first = [column[0].strip() for column in columns]
    header = is_header(first, shape)
    cells = [column_of_text(column[1:] if header else column) for column in columns]
    names = tuple(first) if header and shape.labels != (VALUE,) else None
    return Raw(names, tuple(cells), CsvOrigin(source, header), header)


def is_header(row: Sequence[str], shape: Shape) -> bool:
    """Whether a first row names columns: some cell does, or all do but for case.

    The only column of a type may also be called by the type's name.
    """
    labels = shape.labels if shape.slots else (VALUE, shape.name)
    clear = {label for label in labels if labels.count(label) == 1}
    folded = {label.casefold() for label in labels}
    return any(cell in clear for cell in row) or all(cell.casefold() in folded for cell in row)


def _source(path: Path, at: Span) -> Source:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise PlxError(Diagnostic(f"there is no file `{path}`", at, hint=_hint(path))) from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise PlxError(Diagnostic(f"`{path}` cannot be read: {reason}", at)) from None
    return decode(path.name, content)


def _hint(path: Path) -> str:
    return f"a path in a program is relative to it, one in a call is not; looked in `{path.parent.resolve()}`"


def _plain_columns(text: str) -> list[list[str]] | None:
    """The columns of a file without quotes, blanks after commas or blank lines; None for any other.

    One split of the whole text: about five times as fast as reading row by row.
    """
    text = text.replace("\r\n", "\n").removesuffix("\n")
    if not text or any(mark in text for mark in ('"', ", ", "\n ", "\n\n", "\r")) or text[0] in " \n":
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


def _columns(source: Source) -> list[list[str]]:
    """The columns of any file, row by row."""
    rows = _rows(source)
    if not rows:
        return []
    _same_length(rows, CsvOrigin(source, header=False))
    return [list(column) for column in zip(*rows, strict=True)]


def _rows(source: Source) -> list[list[str]]:
    reader = csv.reader(io.StringIO(source.text, newline=""), strict=True, skipinitialspace=True)
    try:
        return [row for row in reader if row]
    except csv.Error as error:
        line = min(max(1, reader.line_num), source.text.count("\n") + 1)
        start = _start(source, line)
        where = Span(source, start, start + len(source.line(line)))
        raise PlxError(Diagnostic(f"a row that cannot be read: {error}", where)) from None


def _start(source: Source, line: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = source.text.find("\n", start) + 1
    return start


def _same_length(rows: list[list[str]], origin: CsvOrigin) -> None:
    width = len(rows[0])
    if len(set(map(len, rows))) == 1:
        return
    bad = [r for r, row in enumerate(rows) if len(row) != width]
    raise PlxError(
        Diagnostic(
            f"this row has {_count(len(rows[r]))}, the first row has {_count(width)}",
            origin.line(r),
        )
        for r in bad[:5]
    )


def _count(n: int) -> str:
    return f"{n} cell" if n == 1 else f"{n} cells"
