"""A result for other programs: dicts, JSON, CSV, HTML, and the records of data frames."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from plx.answer.named import Estimate, MapWorld, Moments, NamedAnswer, NamedAnswers, Value
from plx.answer.rows import HEADINGS, query_rows, rows
from plx.answer.table import summary, warnings
from plx.answer.wide import WideAnswers, as_number
from plx.markup import html_table
from plx.numerals import fraction_text
from plx.sequences import parts

COLUMNS = (
    "query", "line", "kind", "value", "p", "mcse", "mean", "sd", "sd_mcse",
    "log_weight", "log_z", "ess", "rhat", "converged",
)  # fmt: skip
"""The columns of the CSV."""

_PORTION = 1 << 16
"""So many answers that are arrays become columns at once."""

FRAME = ("query", "line", "kind", "unknown", "value", "text", *COLUMNS[4:])
"""The names of a record: the columns of the CSV, and ``unknown`` and ``text``."""


def to_dict(result: NamedAnswers, kept: Sequence[NamedAnswer] | None = None) -> dict[str, Any]:
    """The result as plain lists and dicts; a number that does not exist is None, never NaN.

    Each query has ``values``: value → ``{"p", "mcse"}``, as text; a Boolean's are ``true`` and
    ``false``. Where these texts do not tell the values, ``typed`` lists them. ``mean`` and ``sd`` are set for
    numbers, ``assignment`` and ``log_weight`` for ``map``. ``kept`` are its queries, if not all.
    """
    run = result.inference
    return {
        "program": result.program,
        "method": run.method,
        "seed": run.seed,
        "converged": result.converged,
        "log_z": _finite(run.log_z),
        "queries": [_query_dict(query) for query in (result.queries if kept is None else kept)],
        "reason": run.reason,
        "status": run.status,
        "chains": run.chains,
        "samples": run.draws,
        "seconds": run.seconds,
        "notes": [*run.notes, *warnings(result)],
        "advice": list(run.advice),
        "log_z_mcse": _finite(run.log_z_mcse) if run.log_z is not None else None,
        **({} if run.z is None else {"z": fraction_text(run.z)}),
    }


def _share(estimate: Estimate) -> dict[str, Any]:
    exact = {} if estimate.exact is None else {"exact": fraction_text(estimate.exact)}
    return {"p": estimate.p, "mcse": _finite(estimate.mcse), **exact}


def _query_dict(query: NamedAnswer) -> dict[str, Any]:
    best = query.worlds[0] if query.worlds else None
    moments = query.moments
    return {
        "name": query.name,
        "line": query.line,
        "kind": query.kind,
        "values": {e.text: _share(e) for e in query.estimates},
        "mean": _finite(moments.mean) if moments else None,
        "sd": _finite(moments.sd) if moments else None,
        "assignment": dict(best.assignment) if best else None,
        "log_weight": _finite(best.log_weight) if best else None,
        "ess": _finite(query.ess),
        "rhat": _finite(query.rhat),
        "text": query.text,
        "mean_mcse": _finite(moments.mcse) if moments else None,
        "sd_mcse": _finite(moments.sd_mcse) if moments else None,
        "log_z": _finite(query.log_z),
        "log_z_mcse": _finite(query.log_z_mcse) if query.log_z is not None else None,
        "worlds": [_world_dict(world) for world in query.worlds],
        "converged": query.converged,
        "term": query.term,
        "slots": dict(query.slots),
        **({} if query.z is None else {"z": fraction_text(query.z)}),
        **_sizes(moments),
        **_typed([e.value for e in query.estimates], [e.text for e in query.estimates]),
    }


def _sizes(moments: Moments | None) -> dict[str, float]:
    """Effective sizes of bulk and tails, where they say more than ``ess`` does."""
    if moments is None or moments.bulk_ess is None:
        return {}
    return {"bulk_ess": moments.bulk_ess} | ({"tail_ess": moments.tail_ess} if moments.tail_ess else {})


def plain_value(text: str) -> Value:
    """The value that a text is taken for where nothing else is said."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if _INTEGER.fullmatch(text) else text


_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)


def _typed(values: Sequence[Value | tuple[Value, ...]], texts: Sequence[str]) -> dict[str, Any]:
    """The values themselves where their texts do not tell them."""
    known = all(
        type(value) is type(plain := plain_value(text)) and value == plain
        for value, text in zip(values, texts, strict=True)
    )
    return {} if known else {"typed": list(values)}


def _world_dict(world: MapWorld) -> dict[str, Any]:
    told = {name: text for name, text in world.texts.items() if text != plain_text(world.assignment[name])}
    return {
        "assignment": dict(world.assignment),
        "log_weight": _finite(world.log_weight),
        "optimal": world.optimal,
        "bound": _finite(world.bound),
        **({"texts": told} if told else {}),
    }


def plain_text(value: Value) -> str:
    """A value as text, where nothing else is said."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _finite(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None


def to_json(result: NamedAnswers, kept: Sequence[NamedAnswer] | None = None) -> str:
    """The result as JSON text, as ``to_dict`` lays it out; one line for each query."""
    fields = (f"{_json(key)}: {_json_field(value)}" for key, value in to_dict(result, kept).items())
    return "{\n  " + ",\n  ".join(fields) + "\n}"


def _json_field(value: object) -> str:
    if not isinstance(value, list) or not value:
        return _json(value)
    return "[\n    " + ",\n    ".join(_json(item) for item in value) + "\n  ]"


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def long_columns(queries: Sequence[NamedAnswer]) -> Iterator[dict[str, Any]]:
    """The records of answers by column, ``number`` among them, in order, in portions that fit in memory:
    arrays as `WideAnswers.records` has them, or lists."""
    for part in parts(queries):
        if isinstance(part, WideAnswers):
            yield from (
                part.take(slice(first, first + _PORTION)).records() for first in range(0, len(part), _PORTION)
            )
        elif len(part):
            rows = list(_records(part))
            numbers = np.array([as_number(row["value"]) for row in rows])
            yield {name: [row[name] for row in rows] for name in FRAME} | {"number": numbers}


def _records(queries: Iterable[NamedAnswer]) -> Iterator[dict[str, Any]]:
    """One flat record per value of each query: ``value`` as Python knows it, ``text`` as a program writes it.

    A number has one more for its mean and sd; a world has one for its log weight and one per ``unknown``.
    """
    for query in queries:
        common = {"query": query.name, "line": query.line, "kind": query.kind}
        doubt = {"ess": _finite(query.ess), "rhat": _finite(query.rhat), "converged": query.converged}
        for record in query_records(query):
            yield dict.fromkeys(FRAME) | common | record | doubt


def query_records(query: NamedAnswer) -> Iterator[dict[str, Any]]:
    """What the records of one answer have for themselves."""
    for estimate in query.estimates:
        yield {
            "value": estimate.value,
            "text": estimate.text,
            "p": estimate.p,
            "mcse": _finite(estimate.mcse),
        }
    if not query.answered:
        yield {}
    if query.kind == "number" and (moments := query.moments) is not None:
        errors = {"mcse": _finite(moments.mcse), "sd_mcse": _finite(moments.sd_mcse)}
        yield {"mean": _finite(moments.mean), "sd": _finite(moments.sd), **errors}
    if query.kind == "logz":
        known = query.log_z is not None
        yield {"log_z": _finite(query.log_z), "mcse": _finite(query.mcse) if known else None}
    for world in query.worlds:
        yield {"log_weight": _finite(world.log_weight)}
        for name, value in world.assignment.items():
            yield {"unknown": name, "value": value, "text": world.texts[name]}


def to_csv(result: NamedAnswers) -> str:
    """The records as CSV text with a header; what does not exist is empty.

    The ``value`` of an unknown of a world is written ``name = value``.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for columns in long_columns(result.queries):
        plain = {name: _plain(columns[name]) for name in FRAME}
        pairs = zip(plain["unknown"], plain["text"], strict=True)
        plain["value"] = [text if name is None else f"{name} = {text}" for name, text in pairs]
        plain["converged"] = [str(converged).lower() for converged in plain["converged"]]
        writer.writerows(zip(*(plain[name] for name in COLUMNS), strict=True))
    return out.getvalue()


def _plain(column: Any) -> list[Any]:
    """A column as a list, None for what does not exist."""
    if isinstance(column, list):
        return column
    if column.dtype.kind == "f":
        column = np.where(np.isnan(column), None, column.astype(object))
    found: list[Any] = column.tolist()
    return found


def to_html(result: NamedAnswers) -> str:
    """The table as HTML for a notebook."""
    return html_table(HEADINGS, rows(result), summary(result))


def query_to_html(query: NamedAnswer) -> str:
    """The rows of one answer as HTML for a notebook."""
    return html_table(HEADINGS, query_rows(query))
