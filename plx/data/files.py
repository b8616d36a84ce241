"""Files of data → columns, by their suffix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from plx.data.arrange import Raw
from plx.data.csv_file import read_csv
from plx.data.shape import Shape
from plx.errors import Diagnostic, PlxError
from plx.extras import MissingLibraryError
from plx.source import Span
from plx.syntax.ast import DatabaseRows

ARROW = (".parquet", ".feather", ".arrow")
JSON_LINES = (".jsonl", ".ndjson")
DATABASES = (".db", ".sqlite", ".sqlite3", ".duckdb")
SUFFIXES = (".csv", ".tsv", ".txt", *ARROW, *JSON_LINES, *DATABASES)
"""What the names of files of data end in."""


def read_file(path: Path, rows: DatabaseRows | None, shape: Shape, at: Span) -> Raw:
    """The columns of a file for one declaration; what is none of the other kinds is CSV.

    ``rows``: those of a database. ``at`` is where the program asks for the file. Raises PlxError for what
    is wrong with it, and where a library is not installed that it needs.
    """
    try:
        return _read(path, rows, shape, at)
    except MissingLibraryError as error:
        raise PlxError(replace(missing, span=at) for missing in error.diagnostics) from None


def _read(path: Path, rows: DatabaseRows | None, shape: Shape, at: Span) -> Raw:
    suffix = path.suffix.lower()
    if suffix in DATABASES or (rows and suffix not in SUFFIXES):
        from plx.data.database import read_database

        return read_database(path, rows, shape, at)
    if rows is not None:
        message = f"`{path.name}` is no database: only one has `{rows.kind}`"
        raise PlxError(Diagnostic(message, rows.span, hint=f"databases end in {', '.join(DATABASES)}"))
    if suffix in ARROW:
        from plx.data.arrow_file import read_feather, read_parquet

        return (read_parquet if suffix == ".parquet" else read_feather)(path, shape, at)
    if suffix in JSON_LINES:
        from plx.data.json_lines import read_json_lines

        return read_json_lines(path, shape, at)
    return read_csv(path, shape, at)
