"""CSV files → columns. UTF-8; a BOM and CRLF are accepted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from plx.data.arrange import Raw
from plx.data.cells import column_of_text
from plx.data.records import Cell, plain_columns, rows
from plx.data.shape import VALUE, Shape
from plx.decoding import decode
from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span

_PARTERS = {";": "`;`", "\t": "tabs", "|": "`|`"}
"""What other programs put between cells."""


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
        start = self._starts[min(row + self.header, len(self._starts) - 1)]
        cells = next(rows(self.source, start))
        wanted = self.order[column] if column < len(self.order) else column
        cell = cells[min(wanted, len(cells) - 1)]
        return Span(self.source, cell.start, cell.end)

    def words(self, row: int) -> str:
        """Empty: the span says it all."""
        return ""

    @cached_property
    def _starts(self) -> list[int]:
        return [row[0].start for row in rows(self.source)]


def read_csv(path: Path, shape: Shape, at: Span) -> Raw:
    """The columns of a file for one declaration; the first row is a header if it names the columns.

    ``at`` is where the program asks for the file. Raises PlxError if it cannot be read, is not UTF-8,
    is empty, has other marks than commas between its cells, or rows of other lengths than the first.
    """
    source = _source(path, at)
    columns = plain_columns(source.text)
    if columns is None or len(columns) == 1:
        _require_commas(source, shape)
    columns = columns or _columns(source)
    if not columns:
        raise PlxError(Diagnostic(f"`{source.name}` is empty", at, hint=f"its columns: {shape.wanted}"))
    first = [column[0] for column in columns]
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


def _require_commas(source: Source, shape: Shape) -> None:
    """Raises PlxError where the first row makes sense only if cells are parted by another mark."""
    start = len(source.text) - len(source.text.lstrip())
    line = source.text[start:].partition("\n")[0].rstrip()
    if "," in line:
        return
    for mark, words in _PARTERS.items():
        cells = [cell.strip(' "') for cell in line.split(mark)]
        if len(cells) > 1 and (is_header(cells, shape) or (shape.fits(len(cells)) and not shape.fits(1))):
            message = f"the cells of `{source.name}` are parted by {words}, and should be by commas"
            hint = f"write `{','.join(cells)}` (and numbers with a decimal point)"
            raise PlxError(Diagnostic(message, Span(source, start, start + len(line)), hint=hint))


def _columns(source: Source) -> list[list[str]]:
    """The columns of any file, row by row."""
    found = list(rows(source))
    _require_same_length(found, source)
    return [[cell.text for cell in column] for column in zip(*found, strict=True)]


def _require_same_length(found: list[list[Cell]], source: Source) -> None:
    bad = [row for row in found if len(row) != len(found[0])]
    if bad:
        raise PlxError(_length(row, len(found[0]), source) for row in bad[:5])


def _length(row: list[Cell], width: int, source: Source) -> Diagnostic:
    message = f"this row has {_count(len(row))}, the first row has {_count(width)}"
    split = len(row) == width + 1 and any(
        _WHOLE.fullmatch(a.text) and _DIGITS.fullmatch(b.text) for a, b in pairwise(row)
    )
    hint = "if a comma is part of a number, write a decimal point: 0.1" if split else None
    return Diagnostic(message, Span(source, row[0].start, row[-1].end), hint=hint)


_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
_DIGITS = re.compile(r"\d+(?:[eE][-+]?\d+)?", re.ASCII)


def _count(n: int) -> str:
    return f"{n} cell" if n == 1 else f"{n:,} cells"
