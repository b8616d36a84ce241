"""A result as a data frame: one row per value of a query, or one per query."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from plx.answer.export import FRAME, long_columns, to_json
from plx.answer.named import NamedAnswer, NamedAnswers
from plx.answer.packed import packed
from plx.answer.wide import loose, wide_parts
from plx.errors import CallError, Diagnostic
from plx.extras import library
from plx.numerals import shortened

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Form = Literal["long", "wide"]

KEPT = b"plx.result"
"""The entry of a Parquet file's metadata that has the result as compressed JSON, but for answers that are
arrays: what the columns do not say of them has an entry of its own, with the position of the first."""

_MOST_CELLS = 1 << 24
"""A wide frame has at most so many cells."""

_WIDE = ("query", "term", "line", "kind")
_NUMBERS = ("p", "mcse", "mean", "mean_mcse", "sd", "sd_mcse", "log_weight", "log_z", "ess", "rhat")

_KINDS = {"line": int, "converged": bool, "number": float} | dict.fromkeys((*FRAME[6:-1], *_NUMBERS), float)
"""The kinds of columns that hold neither texts nor values."""


def to_pandas(result: NamedAnswers, form: Form = "long") -> pd.DataFrame:
    """A pandas frame: numbers as numbers, each value with its own type.

    Raises MissingLibraryError, CallError for another form, or for a wide one that would be too large.
    """
    columns, kinds = _columns(result, form)
    if form == "long":
        del columns["number"]  # it is among the values
    pandas = library("pandas", "pandas frames")
    types = {int: "Int64", float: "float64", bool: "bool"}
    frame: pd.DataFrame = pandas.DataFrame(
        {
            name: pandas.Series(cells, dtype=types.get(kinds.get(name, object), "object"))
            for name, cells in columns.items()
        }
    )
    return frame


def to_polars(result: NamedAnswers, form: Form = "long") -> pl.DataFrame:
    """A polars frame. A polars column has one type: values are as a program writes them, and ``number`` has
    those that are numbers.

    Raises as `to_pandas` does.
    """
    columns, kinds = _typed(result, form)
    polars = library("polars", "polars frames")
    types = {int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
    series = (
        polars.Series(
            n, _without_objects(cells), types.get(kinds.get(n, str), polars.String), nan_to_null=True
        )
        for n, cells in columns.items()
    )
    frame: pl.DataFrame = polars.DataFrame(series)
    return frame


def to_parquet(result: NamedAnswers) -> bytes:
    """A Parquet file with the columns of `to_polars`; its metadata keeps all that the JSON has.

    Raises MissingLibraryError.
    """
    columns, kinds = _typed(result, "long")
    arrow, parquet = library("pyarrow", "Parquet files"), library("pyarrow.parquet", "Parquet files")
    types = {int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    table = arrow.table(
        {
            n: arrow.array(c, types.get(kinds.get(n, str), arrow.string()), from_pandas=True)
            for n, c in columns.items()
        }
    )
    told = zlib.compress(to_json(result, [*loose(result.queries)]).encode())
    arrays = {KEPT + b".%d" % first: packed(wide) for first, wide in wide_parts(result.queries)}
    kept = table.replace_schema_metadata({KEPT: told, **arrays})
    out = BytesIO()
    parquet.write_table(kept, out)
    return out.getvalue()


def _columns(result: NamedAnswers, form: Form) -> tuple[dict[str, Any], dict[str, type]]:
    """The columns of a form, and the kinds of those that have one."""
    if form == "long":
        found = list(long_columns(result.queries))
        names = (*FRAME, "number")
        return {name: _one_column(name, [part[name] for part in found]) for name in names}, _KINDS
    if form == "wide":
        return _wide(result)
    raise CallError(Diagnostic(f"there is no form `{shortened(str(form))}` of a frame", hint="long or wide"))


def _without_objects(cells: Any) -> Any:
    return cells.tolist() if isinstance(cells, np.ndarray) and cells.dtype == object else cells


def _one_column(name: str, pieces: Sequence[Any]) -> Any:
    """Portions of a column as one: an array where some are, else a list."""
    if all(isinstance(piece, list) for piece in pieces):
        return [cell for piece in pieces for cell in piece]
    kind = _KINDS.get(name, object)
    return np.concatenate(
        [np.array(piece, dtype=kind if kind in (float, bool) else object) for piece in pieces]
    )


def _typed(result: NamedAnswers, form: Form) -> tuple[dict[str, Any], dict[str, type]]:
    """The columns for libraries whose columns have one type."""
    columns, kinds = _columns(result, form)
    if form == "wide":
        slots = [name for name in columns if name not in kinds and name not in _WIDE]
        return columns | {name: [_text(value) for value in columns[name]] for name in slots}, kinds
    numbers, texts = columns.pop("number"), columns.pop("text")
    placed: dict[str, Any] = {}
    for name, cells in columns.items():
        placed[name] = texts if name == "value" else cells
        if name == "value":
            placed["number"] = numbers
    return placed, kinds


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wide(result: NamedAnswers) -> tuple[dict[str, Any], dict[str, type]]:
    """One row per query: its index, its moments, and for each value of a distribution two columns."""
    slots: dict[str, str] = {}
    values: dict[str, None] = {}
    for query in result.queries:
        for slot in query.slots:
            slots[slot] = slot if slot not in (*_WIDE, *_NUMBERS, "converged") else f"{slot}_"
        if _is_spread_out(query):
            values |= dict.fromkeys(estimate.text for estimate in query.estimates)
    names = [f"{of}({text})" for text in values for of in ("p", "mcse")]
    if (cells := len(result.queries) * len(names)) > _MOST_CELLS:
        message = f"a wide frame of this result would have {cells:,} cells"
        raise CallError(Diagnostic(message, hint='take the long form: to_pandas("long")'))
    columns: dict[str, list[Any]] = {
        name: [None] * len(result.queries)
        for name in (*_WIDE, *slots.values(), *_NUMBERS, *names, "converged")
    }
    for row, query in enumerate(result.queries):
        for slot, value in query.slots.items():
            columns[slots[slot]][row] = value
        for name, cell in _cells(query).items():
            columns[name][row] = cell
    return columns, _KINDS | dict.fromkeys(names, float)


def _is_spread_out(query: NamedAnswer) -> bool:
    return query.kind in ("distribution", "joint")


def _cells(query: NamedAnswer) -> dict[str, Any]:
    """What a wide frame has of a query, but for its index; a standard error stands with every estimate."""
    cells: dict[str, Any] = {
        "query": query.name,
        "term": query.term or query.name,
        "line": query.line,
        "kind": query.kind,
        "ess": query.ess,
        "rhat": query.rhat,
        "log_z": query.log_z,
        "log_weight": query.worlds[0].log_weight if query.worlds else None,
        "converged": query.converged,
    }
    if query.moments:
        m = query.moments
        cells |= {"mean": m.mean, "mean_mcse": m.mcse, "sd": m.sd, "sd_mcse": m.sd_mcse}
    if query.log_z is not None:
        cells["mcse"] = query.log_z_mcse
    for estimate in query.estimates:
        if _is_spread_out(query):
            cells |= {f"p({estimate.text})": estimate.p, f"mcse({estimate.text})": estimate.mcse}
        elif query.kind == "probability" and estimate.value is True:
            cells |= {"p": estimate.p, "mcse": estimate.mcse}
    return {name: None if _is_infinite(cell) else cell for name, cell in cells.items()}


def _is_infinite(cell: Any) -> bool:
    return isinstance(cell, float) and not math.isfinite(cell)
