"""DuckDB files, read as columns of Arrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from plx.data.arrow_file import columns_of
from plx.data.cells import Column
from plx.data.database import SqlError, in_words, quoted_name
from plx.data.file_rows import RowsAsked
from plx.extras import library

T = TypeVar("T")

_LOOK = 0.05
"""Seconds after which a wait looks up: where another library has taken over the signal, none wakes it."""


def _errors() -> tuple[type[Exception], ...]:
    return (library("duckdb", "DuckDB files").Error,)


def _first_lines(error: Exception) -> str:
    """What DuckDB says, without the kind of error before it and the excerpt of the query after it."""
    return re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", str(error).split("\n\n")[0].replace("\n", "; "))


_in_words = in_words(_errors, _first_lines)


class DuckdbFile:
    """An open file."""

    bits = False

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    @_in_words
    def tables(self) -> list[str]:
        """The names of tables and views; those of other schemas than ``main`` after a dot."""
        return list(self._tables())

    @_in_words
    def table(self, name: str, columns: Sequence[str] = ()) -> str:
        """The query for a table, or some of its columns."""
        place = ".".join(map(quoted_name, self._tables()[name]))
        return f"select {', '.join(map(quoted_name, columns)) or '*'} from {place}"

    @_in_words
    def names(self, sql: str) -> list[str]:
        """The columns of a query."""
        return self._waited(lambda: list(self._answer(sql).columns))

    @_in_words
    def columns(self, sql: str, places: Sequence[int], asked: RowsAsked) -> list[Column]:
        """Some columns of a query."""
        table = self._waited(lambda: self._answer(sql).to_arrow_table())
        return columns_of([table.select(list(places))], asked)

    def _tables(self) -> dict[str, tuple[str, str]]:
        """Name → schema and table."""
        listed = (
            "select table_schema, table_name from information_schema.tables order by table_schema, table_name"
        )
        found = self.connection.execute(listed).fetchall()
        return {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found}

    def _answer(self, sql: str) -> Any:
        """The answer of what is one query."""
        kinds = [statement.type.name for statement in self.connection.extract_statements(sql)]
        if kinds != ["SELECT"]:
            raise SqlError("it is not one query, such as `select name from people`")
        return self.connection.sql(sql)

    def _waited(self, ask: Callable[[], T]) -> T:
        """What a query gives. Ctrl-C ends it whenever it comes: an interruption between planning and
        running is lost on the library, so it is made until the query has ended."""
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(ask)
            try:
                while not answer.done():
                    wait([answer], _LOOK)
            except KeyboardInterrupt:
                while not answer.done():
                    self.connection.interrupt()
                    wait([answer], _LOOK)
                raise
            return answer.result()


@contextmanager
def open_duckdb(path: Path) -> Iterator[DuckdbFile]:
    """A file, opened to be read; its queries see no other file. Raises SqlError."""
    library("pyarrow", "DuckDB files")
    with closing(_connected(path)) as connection:
        yield DuckdbFile(connection)


@_in_words
def _connected(path: Path) -> Any:
    duckdb = library("duckdb", "DuckDB files")
    return duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
