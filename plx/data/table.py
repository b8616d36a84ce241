"""Data from outside as columns of value ids, each row still knowing where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from plx.errors import Diagnostic
from plx.source import Span
from plx.syntax import ast
from plx.values import IntArray


class RowOrigin(Protocol):
    """Where the rows of a table came from, for messages."""

    def span(self, row: int, column: int) -> Span | None:
        """The text of a cell; ``column`` counts the slots, and the value stands after them."""

    def words(self, row: int, column: int | None = None) -> str:
        """Where a row, or a cell of it, stands, in words, when no span can show it."""


@dataclass(frozen=True)
class Table:
    """Rows of one declared name.

    ``index``: value ids, shape (rows, slots). ``value``: value ids, shape (rows,), or None where a
    row alone says that it is true; the members, for a type. ``grid``: value ids with an axis per slot,
    where the caller gave an array that the sizes of the slots must explain. ``otherwise``: the id of the
    value that the caller gave for what is not listed. ``named``: how the program names the columns, where the
    first row was read as data and may be their names.
    """

    name: str
    index: IntArray
    value: IntArray | None
    origin: RowOrigin
    grid: IntArray | None = None
    otherwise: int | None = None
    named: str | None = None


@dataclass(frozen=True)
class Data:
    """``tables``: types, params and relations given by a file or by the caller. ``evidence``: per
    random function what was seen: the tables of ``observe f from`` (each with its file) or, with
    None for a file, what the caller gave. ``problems``: every mistake found in the data; the checker
    raises them together with those of the program, and ``broken`` names what they leave undefined.
    """

    tables: Mapping[str, Table]
    evidence: Mapping[str, Mapping[ast.File | None, Table]]
    problems: tuple[Diagnostic, ...] = ()
    broken: frozenset[str] = frozenset()
