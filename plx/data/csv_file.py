"""CSV files → columns. UTF-8; a BOM and CRLF are accepted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from plx.data.arrange import Raw
from plx.data.cells import column_of_text
from plx.data.named_columns import advice, chosen_columns
from plx.data.opening import contents
from plx.data.records import MARKS, Cell, plain_columns, rows
from plx.data.shape import VALUE, Shape
from plx.decoding import decode
from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span

_SUFFIX = {"\t": ".tsv", ",": ".csv"}
"""What parts the cells of a file, and its suffix."""


@dataclass(frozen=True)
class CsvOrigin:
    """Rows of a file whose cells ``mark`` parts; ``order[slot]`` is the column of the file that holds a slot
    (or the value)."""

    source: Source
    header: bool
    mark: str = ","
    order: tuple[int, ...] = ()

    def arranged(self, order: tuple[int, ...]) -> CsvOrigin:
        """The same rows with their columns in another order."""
        return replace(self, order=tuple(self.order[at] for at in order) if self.order else order)

    def span(self, row: int, column: int) -> Span:
        """The text of a cell, or of the last one if there are fewer; row −1 is the header."""
        start = self._starts[min(row + self.header, len(self._starts) - 1)]
        cells = next(rows(self.source, start, self.mark))
        wanted = self.order[column] if column < len(self.order) else column
        cell = cells[min(wanted, len(cells) - 1)]
        return Span(self.source, cell.start, cell.end)

    def words(self, row: int, column: int | None = None) -> str:
        """Empty: the span says it all."""
        return ""

    @cached_property
    def _starts(self) -> list[int]:
        return [row[0].start for row in rows(self.source, mark=self.mark)]


def read_csv(path: Path, shape: Shape, at: Span) -> Raw:
    """The columns of a file for one declaration; the first row is a header if it names the columns.

    ``at`` is where the program asks for the file. Raises PlxError if it cannot be read, is not UTF-8, is
    empty, lacks a column that the program names, has cells parted in a way that cannot be told, or rows of
    other lengths than the first.
    """
    source = decode(path.name, contents(path, at))
    mark = _mark(source, "\t" if path.suffix.lower() == ".tsv" else ",", shape)
    columns = plain_columns(source.text, mark) or _columns(source, mark)
    if not columns:
        raise PlxError(Diagnostic(f"`{source.name}` is empty", at, hint=f"its columns: {shape.wanted}"))
    first = [column[0] for column in columns]
    chosen = chosen_columns(first, f"`{source.name}`", "its first row", shape)
    header = bool(chosen) or is_header(first, shape)
    kept = [columns[place] for place in chosen] or columns
    cells = [column_of_text(column[1:] if header else column) for column in kept]
    names = tuple(first) if header and not chosen and shape.labels != (VALUE,) else None
    origin = CsvOrigin(source, header, mark, chosen)
    return Raw(names, tuple(cells), origin, header, advice(f'from "{source.name}"', first, shape), wide=True)


def is_header(row: Sequence[str], shape: Shape) -> bool:
    """Whether a first row names columns: some cell does, or all do but for case.

    The only column of a type may also be called by the type's name.
    """
    if shape.columns:
        return any(column.text in row for column in shape.columns)
    labels = shape.labels if shape.slots else (VALUE, shape.name)
    clear = {label for label in labels if labels.count(label) == 1}
    folded = {label.casefold() for label in labels}
    return any(cell in clear for cell in row) or all(cell.casefold() in folded for cell in row)


def _mark(source: Source, usual: str, shape: Shape) -> str:
    """What parts the cells: ``usual``, unless the first row lacks it and names the columns with another mark.

    Raises PlxError where the first row makes sense with another mark only, and names no columns.
    """
    first = _FIRST_LINE.search(source.text)
    line = first[0].rstrip() if first else ""
    if first is None or usual in line:
        return usual
    found = {mark: row for mark in MARKS if len(row := _cells(line, mark)) > 1}
    named = [mark for mark, row in found.items() if is_header(row, shape)]
    if len(named) == 1:
        return named[0]
    fitting = [mark for mark, row in found.items() if shape.fits(len(row)) and not shape.fits(1)]
    if not fitting or shape.columns:
        return usual
    mark = fitting[0]
    message = f"the cells of `{source.name}` are parted by {MARKS[mark]}, and should be by {MARKS[usual]}"
    hint = _remedy(source.name, mark, found[mark], shape)
    span = Span(source, first.start(), first.start() + len(line))
    raise PlxError(Diagnostic(message, span, hint=hint))


_FIRST_LINE = re.compile(r"\S[^\r\n]*")


def _remedy(name: str, mark: str, cells: Sequence[str], shape: Shape) -> str:
    if mark in _SUFFIX:
        return f"call it `{Path(name).stem}{_SUFFIX[mark]}`, whose cells {MARKS[mark]} part"
    header = mark.join(shape.labels)
    return f"write `{','.join(cells)}` (and numbers with a decimal point), or above it the row `{header}`"


def _cells(line: str, mark: str) -> list[str]:
    """The cells of a line; none where a quote is not closed."""
    try:
        return [cell.text for cell in next(rows(Source("", line), mark=mark), [])]
    except PlxError:
        return []


def _columns(source: Source, mark: str) -> list[list[str]]:
    """The columns of any file, row by row."""
    found = list(rows(source, mark=mark))
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
