"""Rows of files that are no text: where they are told in messages, and how their columns are chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from plx.data.arrange import Raw, RawOrigin
from plx.data.cells import Column
from plx.data.named_columns import advice, chosen_columns
from plx.data.shape import Shape
from plx.source import Span


@dataclass(frozen=True)
class RowsOrigin:
    """Rows of ``file`` with named columns; ``at`` is where the program asks for it."""

    file: str
    at: Span
    names: tuple[str, ...]

    def arranged(self, order: tuple[int, ...]) -> RowsOrigin:
        """The same rows with their columns in another order."""
        return replace(self, names=tuple(self.names[at] for at in order))

    def span(self, row: int, column: int) -> Span:
        """Where the program asks for the file, which has no text to point into."""
        return self.at

    def words(self, row: int, column: int | None = None) -> str:
        """``, in row 3, column `age`, of `people.parquet```; rows are counted from 1."""
        known = column is not None and column < len(self.names)
        place = f", column `{self.names[column]}`," if column is not None and known else ""
        return f", in row {row + 1}{place} of {self.file}"


@dataclass(frozen=True)
class RowsAsked:
    """What a declaration asks of a file, and how both are called: ``file`` in messages, as `people.parquet`,
    and ``source`` in a program, as ``from "people.parquet"``."""

    shape: Shape
    at: Span
    file: str
    source: str


def read_rows(
    names: Sequence[str],
    columns: Callable[[Sequence[int]], Sequence[Column]],
    asked: RowsAsked,
    origin: RawOrigin | None = None,
    bits: bool = False,
) -> Raw:
    """The columns of a file for one declaration, of which ``columns`` reads those at some places; ``origin``
    tells of its rows with all columns.

    Raises PlxError for a column that the program names and the file lacks.
    """
    shape = asked.shape
    chosen = chosen_columns(names, asked.file, "its columns", shape)
    kept = chosen or tuple(range(len(names)))
    origin = origin or RowsOrigin(asked.file, asked.at, tuple(names))
    return Raw(
        None if chosen else tuple(names),
        tuple(columns(kept)),
        origin.arranged(kept),
        advice=advice(asked.source, names, shape),
        wide=True,
        bits=bits,
    )
