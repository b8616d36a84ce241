"""Tables and queries of SQLite and DuckDB files → columns. A file is opened to be read, and never made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from plx.data.arrange import Raw
from plx.data.cells import Column
from plx.data.file_rows import RowsAsked, read_rows
from plx.data.opening import beginning
from plx.data.shape import Shape
from plx.errors import Diagnostic, PlxError, did_you_mean
from plx.source import Span
from plx.syntax.ast import DatabaseRows
from plx.syntax.printer import quoted

_SHOWN = 12
"""At most so many tables are shown."""


class DatabaseFile(Protocol):
    """A database that is open."""

    bits: bool
    """Whether 0 and 1 are its truth values."""

    def tables(self) -> list[str]:
        """The names of tables and views."""

    def table(self, name: str, columns: Sequence[str] = ()) -> str:
        """The query for a table, or some of its columns."""

    def names(self, sql: str) -> list[str]:
        """The columns of a query. Raises SqlError, as the next."""

    def columns(self, sql: str, places: Sequence[int], asked: RowsAsked) -> list[Column]:
        """Some columns of a query; PlxError is raised where their cells cannot be values."""


class SqlError(ValueError):
    """What a database says of a query, or of its own file."""


@contextmanager
def in_words(
    errors: Callable[[], tuple[type[Exception], ...]], words: Callable[[Exception], str] = str
) -> Iterator[None]:
    """Raises what a library says as an SqlError; ``errors`` gives the library's own."""
    try:
        yield
    except errors() as error:
        raise SqlError(words(error)) from None


@dataclass(frozen=True)
class _Place:
    """Where the program, or the caller, asks for the rows of a file."""

    path: Path
    rows: DatabaseRows | None
    at: Span

    def refuse(self, message: str, hint: str | None = None) -> PlxError:
        return PlxError(Diagnostic(message, self.rows.span if self.rows else self.at, hint=hint))


def read_database(path: Path, rows: DatabaseRows | None, shape: Shape, at: Span) -> Raw:
    """The columns of a table, or of the answer to a query, for one declaration; the only table where ``rows``
    is None.

    Raises PlxError for a file that is no database, a table that is not there and a query that fails,
    MissingLibraryError for a DuckDB file without duckdb.
    """
    place = _Place(path, rows, at)
    try:
        with _opened(place) as base:
            return _read(base, place, shape)
    except SqlError as error:
        if rows is not None and rows.kind == "sql":
            raise place.refuse(f"`{path.name}` does not answer this query: {error}") from None
        raise PlxError(Diagnostic(f"`{path.name}` cannot be read: {error}", at)) from None


def _read(base: DatabaseFile, place: _Place, shape: Shape) -> Raw:
    rows, name = place.rows, place.path.name
    if rows is not None and rows.kind == "sql":
        sql = rows.text.rstrip().rstrip(";")
        asked = RowsAsked(shape, rows.span, f"the answer of `{name}`", f'from "{name}" sql "…"')
        return read_rows(
            base.names(sql), lambda places: base.columns(sql, places, asked), asked, bits=base.bits
        )
    table = _table(base.tables(), place)
    source = f'from "{name}" table {quoted(table)}'
    asked = RowsAsked(shape, place.at, f"the table `{table}` of `{name}`", source)
    names = base.names(base.table(table))

    def columns(places: Sequence[int]) -> list[Column]:
        return base.columns(base.table(table, [names[at] for at in places]), range(len(places)), asked)

    return read_rows(names, columns, asked, bits=base.bits)


def quoted_name(name: str) -> str:
    """A name of a table or column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _opened(place: _Place) -> AbstractContextManager[DatabaseFile]:
    head = beginning(place.path, place.at)
    if head[8:12] == b"DUCK":
        from plx.data.duckdb_file import open_duckdb

        return open_duckdb(place.path)
    if head[:15] == b"SQLite format 3" or not head:
        from plx.data.sqlite_file import open_sqlite

        return open_sqlite(place.path)
    message = f"`{place.path.name}` is no database of SQLite or DuckDB"
    raise PlxError(Diagnostic(message, place.at))


def _table(tables: list[str], place: _Place) -> str:
    """The table that is asked for, in any case of its letters, or the only one."""
    name = place.path.name
    listed = ", ".join(tables[:_SHOWN]) + (", …" if len(tables) > _SHOWN else "")
    if not tables:
        raise place.refuse(f"`{name}` has no tables")
    if place.rows is None:
        if len(tables) == 1:
            return tables[0]
        hint = f'write `from "{name}" table {quoted(tables[0])}`; its tables: {listed}'
        raise place.refuse(f"`{name}` has {len(tables)} tables: which one is missing", hint)
    wanted = place.rows.text
    for table in tables:
        if table.casefold() == wanted.casefold():
            return table
    hint = did_you_mean(wanted, tables) or f"its tables: {listed}"
    raise place.refuse(f"`{name}` has no table `{wanted}`", hint)
