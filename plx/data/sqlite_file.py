"""SQLite files, read by the standard library."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from plx.data.cells import Column, truths
from plx.data.column_builder import ColumnBuilder
from plx.data.database import SqlError, in_words, quoted_name
from plx.data.file_rows import RowsAsked

_PORTION = 1 << 14
"""So many rows are fetched at once."""

_ERRORS = (sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError)
_in_words = in_words(lambda: _ERRORS)

_STEPS = 1 << 18
"""After so many steps of a query Python looks for signals."""


class SqliteFile:
    """An open file."""

    bits = True

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    @_in_words
    def tables(self) -> list[str]:
        """The names of tables and views, in the order of their making."""
        listed = self.connection.execute("select name from sqlite_master where type in ('table', 'view')")
        return [name for (name,) in listed if not name.startswith("sqlite_")]

    def table(self, name: str, columns: Sequence[str] = ()) -> str:
        """The query for a table, or some of its columns."""
        return f"select {', '.join(map(quoted_name, columns)) or '*'} from {quoted_name(name)}"

    @_in_words
    def names(self, sql: str) -> list[str]:
        """The columns of a query, which a view shows to be one."""
        return [name for name, _ in self._described(sql)]

    @_in_words
    def columns(self, sql: str, places: Sequence[int], asked: RowsAsked) -> list[Column]:
        """Some columns of a query. Those that are declared as Boolean hold truth values."""
        kinds = [kind for _, kind in self._described(sql)]
        builders = [ColumnBuilder() for _ in places]
        with closing(self.connection.execute(sql)) as cursor:
            while rows := cursor.fetchmany(_PORTION):
                for builder, place in zip(builders, places, strict=True):
                    builder.add([row[place] for row in rows])
        found = [builder.column() for builder in builders]
        return [
            truths(column) if kinds[place].upper().startswith("BOOL") else column
            for column, place in zip(found, places, strict=True)
        ]

    def _described(self, sql: str) -> list[tuple[str, str]]:
        """Names and declared types of the columns of a query. As a view has them, it is made one: so nothing
        but a query is ever run."""
        execute = self.connection.execute
        execute("drop view if exists temp.plx_rows")
        execute(f"create temp view plx_rows as {sql}")
        return [(name, kind) for _, name, kind, *_ in execute("pragma temp.table_info(plx_rows)")]


@contextmanager
def open_sqlite(path: Path) -> Iterator[SqliteFile]:
    """A file, opened to be read. Raises SqlError."""
    with closing(_connected(path)) as connection, _interruptible():
        yield SqliteFile(connection)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raises KeyboardInterrupt where the library says that it was interrupted: nothing else does that."""
    try:
        yield
    except SqlError as error:
        if str(error) == "interrupted":
            raise KeyboardInterrupt from None
        raise


@_in_words
def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?{_mode(path)}", uri=True)
    connection.execute("pragma temp_store = memory")
    connection.set_progress_handler(_go_on, _STEPS)
    return connection


def _go_on() -> int:
    """A call of Python, in which Ctrl-C is noticed; the library then ends the query as interrupted."""
    return 0


def _mode(path: Path) -> str:
    """Read-only. A file with a write-ahead log would have one made beside it, so where there is none the file
    is taken to stay as it is."""
    with path.open("rb") as stream:
        header = stream.read(20)
    log = path.with_name(path.name + "-wal")
    return "immutable=1" if header[18:20] == b"\x02\x02" and not log.exists() else "mode=ro"
