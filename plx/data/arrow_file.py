"""Parquet and Feather (Arrow) files → columns. Only the columns that are wanted are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plx.data.arrange import Raw
from plx.data.arrow_columns import column_of_arrow
from plx.data.cells import CloseIntegers, Column
from plx.data.file_rows import RowsAsked, read_rows
from plx.data.opening import beginning
from plx.data.parquet_integers import integer_columns
from plx.data.shape import Shape
from plx.errors import Diagnostic, PlxError
from plx.extras import library
from plx.source import Span


def read_parquet(path: Path, shape: Shape, at: Span) -> Raw:
    """The columns of a Parquet file for one declaration. Raises PlxError for one that is damaged, lacks a
    column or holds other things than values, MissingLibraryError without pyarrow."""
    beginning(path, at)
    types, parquet = library("pyarrow", "Parquet files").types, library("pyarrow.parquet", "Parquet files")
    with _in_words(path, "Parquet", at):
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            texts = {field.name for field in file.schema_arrow if types.is_string(field.type)}
            coded = texts & _coded(file.metadata)

        def integers(wanted: Sequence[str]) -> list[CloseIntegers | None]:
            with parquet.ParquetFile(path) as file:
                return integer_columns(path, file, wanted)

        def table(places: Sequence[int]) -> Any:
            wanted = [names[place] for place in places]
            with parquet.ParquetFile(path, read_dictionary=[*coded.intersection(wanted)]) as file:
                return file.read(columns=wanted)

        raw = _read(path, names, table, shape, at, integers)
        _let_go()
        return raw


_CODED = 4
"""Bytes of a cell above which a column holds texts rather than their places in a dictionary: writers give a
dictionary up where it grows large, and to make one for each group of rows takes longer than one for all."""


def _coded(metadata: Any) -> set[str]:
    """The columns of a Parquet file that are stored as places in dictionaries."""
    size: dict[str, int] = {}
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(group.num_columns)):
            size[chunk.path_in_schema] = size.get(chunk.path_in_schema, 0) + chunk.total_uncompressed_size
    return {name for name, bytes_ in size.items() if bytes_ <= _CODED * metadata.num_rows}


def read_feather(path: Path, shape: Shape, at: Span) -> Raw:
    """The columns of a Feather or Arrow file, or of an Arrow stream, as `read_parquet`."""
    is_file = beginning(path, at).startswith(b"ARROW1")
    pyarrow, ipc = library("pyarrow", "Arrow files"), library("pyarrow.ipc", "Arrow files")

    def opened(source: Any, places: Sequence[int] = ()) -> Any:
        options = ipc.IpcReadOptions(included_fields=list(places))
        return (ipc.open_file if is_file else ipc.open_stream)(source, options=options)

    def table(places: Sequence[int]) -> Any:
        with pyarrow.memory_map(str(path)) as source:
            found = opened(source, sorted(places)).read_all()
            found.validate(full=True)
            return found.select([sorted(places).index(place) for place in places])

    with _in_words(path, "Feather or Arrow", at):
        with pyarrow.memory_map(str(path)) as source:
            names = opened(source).schema.names
        return _read(path, names, table, shape, at)


def _read(
    path: Path,
    names: Sequence[str],
    table: Callable[[Sequence[int]], Any],
    shape: Shape,
    at: Span,
    integers: Callable[[Sequence[str]], list[CloseIntegers | None]] | None = None,
) -> Raw:
    """The columns that a declaration asks for, as ``table`` reads those at some places, and ``integers``
    those of whole numbers by their names."""
    asked = RowsAsked(shape, at, f"`{path.name}`", f'from "{path.name}"')

    def columns(places: Sequence[int]) -> list[Column]:
        if len(set(names)) < len(names):
            return columns_of([table(places)], asked)
        found = integers([names[place] for place in places]) if integers else [None] * len(places)
        # One at a time, so that no two are there as the library holds them.
        others = iter(
            columns_of((table([p]) for p, column in zip(places, found, strict=True) if column is None), asked)
        )
        return [next(others) if column is None else column for column in found]

    return read_rows(names, columns, asked)


def columns_of(tables: Iterable[Any], asked: RowsAsked) -> list[Column]:
    """The columns of Arrow tables. Raises PlxError for those of a type that holds no values."""
    found: list[Column] = []
    problems = []
    for table in tables:
        for name, array in zip(table.column_names, table.columns, strict=True):
            column = column_of_arrow(array)
            if column is not None:
                found.append(column)
                continue
            message = f"the column `{name}` of {asked.file} holds no symbols, numbers or truth values, but "
            hint = f"`{asked.source} columns (…)` leaves columns out"
            problems.append(Diagnostic(message + str(array.type), asked.at, hint=hint))
        del table
    if problems:
        raise PlxError(problems)
    return found


def _let_go() -> None:
    """Give back the memory that Arrow keeps of what it no longer needs: as much as the file."""
    library("pyarrow", "columns of Arrow").default_memory_pool().release_unused()


@contextmanager
def _in_words(path: Path, kind: str, at: Span) -> Iterator[None]:
    """Raises PlxError for what Arrow says of a file."""
    try:
        yield
    except (library("pyarrow", f"{kind} files").ArrowException, OSError, ValueError) as error:
        message = f"`{path.name}` is damaged, or no {kind} file: {str(error).partition(chr(10))[0]}"
        raise PlxError(Diagnostic(message, at)) from None
