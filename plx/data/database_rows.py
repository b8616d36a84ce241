"""What a caller reads of a database."""

from __future__ import annotations

import os
from dataclasses import dataclass

from plx.errors import CallError, Diagnostic


@dataclass(frozen=True)
class Database:
    """``plx.Database("farm.db", "people")``: a table of a SQLite or DuckDB file, or with ``sql="select …"``
    the answer to a query. Without either, what the program names for the file that this one replaces, or the
    only table.

    Raises CallError where both are given.
    """

    path: str | os.PathLike[str]
    table: str | None = None
    sql: str | None = None

    def __post_init__(self) -> None:
        if self.table is not None and self.sql is not None:
            raise CallError(Diagnostic("a Database takes a `table` or a query, `sql`, and not both"))
