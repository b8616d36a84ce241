"""JSON Lines → columns: a line per row, an object with the names of columns, a list of cells, or a cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from plx.data.arrange import Raw
from plx.data.cells import column_of_objects
from plx.data.column_builder import ColumnBuilder
from plx.data.file_rows import RowsAsked, read_rows
from plx.data.opening import contents
from plx.data.shape import Shape
from plx.decoding import decode
from plx.errors import Diagnostic, PlxError
from plx.source import Source, Span

_PORTION = 1 << 20
"""About so many bytes are decoded at once."""


_KEYS = 1000
"""At most so many keys are columns where the program names none."""


@dataclass(frozen=True)
class LinesOrigin:
    """Rows of a file, one on each line that is not blank. ``names``: the keys of columns; none for lists."""

    name: str
    content: bytes
    at: Span
    names: tuple[str, ...] | None

    def arranged(self, order: tuple[int, ...]) -> LinesOrigin:
        """The same rows with their columns in another order."""
        return replace(self, names=self.names and tuple(self.names[at] for at in order))

    def span(self, row: int, column: int) -> Span:
        """The cell, or its line if it has none; row −1 is where the program asks for the file."""
        if row < 0:
            return self.at
        line = self._lines[row]
        name = self.names[column] if self.names and column < len(self.names) else None
        return line if name is None else _cell(line, name)

    def words(self, row: int, column: int | None = None) -> str:
        """``, in the column `age```; the span says the rest."""
        return f", in the column `{self.names[column]}`" if self.names and column is not None else ""

    @cached_property
    def _lines(self) -> list[Span]:
        return lines_of(decode(self.name, self.content))


def lines_of(source: Source) -> list[Span]:
    """The lines of a file that are not blank."""
    return [Span(source, *found.span()) for found in _LINE.finditer(source.text)]


_LINE = re.compile(r"[^ \t\r\n\v\f](?:[^\n]*[^ \t\r\n\v\f])?")


def read_json_lines(path: Path, shape: Shape, at: Span) -> Raw:
    """The columns of a file for one declaration.

    A key that an object lacks is a missing value. Raises PlxError for a line that is no JSON, rows of
    different forms, and a column that the program names and no row has.
    """
    content = contents(path, at).removeprefix(b"\xef\xbb\xbf")
    asked = RowsAsked(shape, at, f"`{path.name}`", f'from "{path.name}"')
    table = _Table(LinesOrigin(path.name, content, at, None), [column.text for column in shape.columns])
    for lines in _portions(content):
        table.add(lines)
    if not table.rows:
        width = len(shape.columns) or len(shape.labels) - (shape.value == "optional")
        return Raw(None, (column_of_objects([]),) * width, table.origin)
    if table.listed and not shape.columns:
        return Raw(None, tuple(builder.column() for builder in table.listed), table.origin, wide=True)
    names = tuple(table.names)
    return read_rows(
        names,
        lambda places: [table.named[names[place]].column() for place in places],
        asked,
        replace(table.origin, names=names),
    )


def _portions(content: bytes) -> Iterator[list[bytes]]:
    """The lines that are not blank, some at a time, without the blanks at their ends."""
    stream = BytesIO(content)
    while lines := stream.readlines(_PORTION):
        if kept := [stripped for line in lines if (stripped := line.strip())]:
            yield kept


class _Table:
    """The columns of the lines so far: by their keys, or listed where the lines are no objects."""

    def __init__(self, origin: LinesOrigin, wanted: Sequence[str]) -> None:
        self.origin, self.wanted, self.rows = origin, wanted, 0
        self.objects: bool | None = None
        self.names: dict[str, None] = {}
        self.named: dict[str, ColumnBuilder] = {}
        self.listed: list[ColumnBuilder] = []

    def add(self, lines: Sequence[bytes]) -> None:
        """More lines. Raises PlxError for one that is no row like those before."""
        rows = _objects(lines)
        if rows is None:
            rows = [self._row(line, self.rows + at) for at, line in enumerate(lines)]
        named = [type(row) is dict for row in rows]
        self.objects = named[0] if self.objects is None else self.objects
        if self.objects != all(named) or self.objects != any(named):
            at = named.index(not self.objects)
            kinds = "an object, the first is none" if named[at] else "no object, the first is one"
            self._refuse(self.rows + at, f"this line is {kinds}")
        (self._add_objects if self.objects else self._add_lists)(rows)
        self.rows += len(rows)

    def _add_objects(self, rows: Sequence[dict[str, Any]]) -> None:
        self.names.update(dict.fromkeys(chain.from_iterable(rows)))
        if len(self.names) > _KEYS and not self.wanted:
            message = f"the lines of `{self.origin.name}` have more than {_KEYS:,} keys"
            raise PlxError(Diagnostic(message, self.origin.at, hint="name the columns: `columns (…)`"))
        for name in self.wanted or self.names:
            if name not in self.named:
                self.named[name] = ColumnBuilder()
                self.named[name].add([None] * self.rows)
            self.named[name].add([row.get(name) for row in rows])

    def _add_lists(self, rows: Sequence[Any]) -> None:
        cells = [row if type(row) is list else [row] for row in rows]
        for at, listed in enumerate(cells):
            if any(type(cell) is dict for cell in listed):
                self._refuse(self.rows + at, "this line is a list of objects")
        width = len(self.listed) or len(cells[0])
        for at, listed in enumerate(cells):
            if len(listed) != width:
                message = f"this line is a list of length {len(listed)}, the first of length {width}"
                self._refuse(self.rows + at, message)
        self.listed = self.listed or [ColumnBuilder() for _ in range(width)]
        for builder, column in zip(self.listed, zip(*cells, strict=True), strict=True):
            builder.add(column)

    def _row(self, line: bytes, row: int) -> Any:
        try:
            return _load(line.decode("utf-8"))
        except UnicodeDecodeError:
            decode(self.origin.name, self.origin.content)  # raises with the place
            raise
        except json.JSONDecodeError as error:
            self._refuse(row, f"this line is no JSON: {error.msg}", error.pos)
        except _Twice as error:
            self._refuse(row, str(error))
        except (ValueError, RecursionError):
            self._refuse(
                row, "this line cannot be read: it is nested too deep, or has a number of thousands of digits"
            )

    def _refuse(self, row: int, message: str, at: int = 0) -> NoReturn:
        line = self.origin.span(row, 0)
        start = min(line.start + at, line.end - 1)
        hint = 'write one object on each line, as in `{"name": "anna", "value": 1}`'
        raise PlxError(Diagnostic(message, Span(line.source, start, line.end), hint=hint))


def _objects(lines: Sequence[bytes]) -> list[Any] | None:
    """The rows of lines that are all objects, decoded at once, which saves time; else None."""
    if not all(line[0] == _OPEN and line[-1] == _CLOSE for line in lines):
        return None
    try:
        rows = _load((b"[" + b",".join(lines) + b"]").decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return rows if len(rows) == len(lines) else None


_OPEN, _CLOSE = b"{}"


def _load(text: str) -> Any:
    """JSON whose numbers are exact. Raises ValueError where it is none, or has a key twice."""
    return json.loads(text, parse_float=Decimal, object_pairs_hook=_unique)


class _Twice(ValueError):
    """An object with a key twice, of which one value would be lost."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise _Twice(f"the key `{twice}` stands twice in one object")
    return found


def _cell(line: Span, name: str) -> Span:
    """The value of a key on a line."""
    key = re.search(re.escape(json.dumps(name, ensure_ascii=False)) + r"\s*:\s*", line.text)
    if key is None:
        return line
    try:
        _, end = json.JSONDecoder().raw_decode(line.text, key.end())
    except ValueError:
        return line
    return Span(line.source, line.start + key.end(), line.start + end)
