"""A result for other programs: dicts, JSON, CSV, pandas, HTML."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from plx.answer.result import MapWorld, QueryResult, Result
from plx.answer.rows import Row, rows
from plx.answer.table import summary, warnings

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "query", "line", "kind", "value", "p", "mcse", "mean", "sd",
    "log_weight", "log_z", "ess", "rhat", "converged",
)  # fmt: skip
"""The columns of the CSV and of the pandas frame."""


def to_dict(result: Result) -> dict[str, Any]:
    """The result as plain lists and dicts; a number that does not exist is None, never NaN.

    Each query has ``values``: value → ``{"p", "mcse"}``, as text; a Boolean's are ``true`` and
    ``false``. ``mean`` and ``sd`` are set for numbers, ``assignment`` and ``log_weight`` for ``map``.
    """
    return {
        "program": result.program,
        "method": result.method,
        "seed": result.seed,
        "converged": result.converged,
        "log_z": _finite(result.log_z),
        "queries": [_query_dict(query) for query in result],
        "reason": result.reason,
        "status": result.status,
        "chains": result.inference.chains,
        "samples": result.inference.draws,
        "seconds": result.inference.seconds,
        "notes": [*result.notes, *warnings(result)],
    }


def _query_dict(query: QueryResult) -> dict[str, Any]:
    best = query.worlds[0] if query.worlds else None
    return {
        "name": query.name,
        "line": query.line,
        "kind": query.kind,
        "values": {e.text: {"p": e.p, "mcse": _finite(e.mcse)} for e in query.estimates},
        "mean": _finite(query.mean),
        "sd": _finite(query.sd),
        "assignment": dict(best.assignment) if best else None,
        "log_weight": _finite(best.log_weight) if best else None,
        "ess": _finite(query.ess),
        "rhat": _finite(query.rhat),
        "text": query.text,
        "mean_mcse": _finite(query.mean_mcse),
        "log_z": _finite(query.log_z),
        "worlds": [_world_dict(world) for world in query.worlds],
        "converged": query.converged,
    }


def _world_dict(world: MapWorld) -> dict[str, Any]:
    return {
        "assignment": dict(world.assignment),
        "log_weight": _finite(world.log_weight),
        "optimal": world.optimal,
        "bound": _finite(world.bound),
    }


def _finite(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None


def to_json(result: Result) -> str:
    """The result as JSON text, as ``to_dict`` lays it out; one line for each query."""
    fields = (f"{_json(key)}: {_json_field(value)}" for key, value in to_dict(result).items())
    return "{\n  " + ",\n  ".join(fields) + "\n}"


def _json_field(value: object) -> str:
    if not isinstance(value, list) or not value:
        return _json(value)
    return "[\n    " + ",\n    ".join(_json(item) for item in value) + "\n  ]"


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def records(result: Result) -> Iterator[dict[str, Any]]:
    """One flat record per value of each query, with the keys of ``COLUMNS``.

    A number has one more for its mean and sd; a world has one for its log weight and one per
    unknown, whose ``value`` is written ``name = value``.
    """
    for query in result:
        common = {"query": query.name, "line": query.line, "kind": query.kind}
        doubt = {"ess": _finite(query.ess), "rhat": _finite(query.rhat), "converged": query.converged}
        for record in _query_records(query):
            yield dict.fromkeys(COLUMNS) | common | record | doubt


def _query_records(query: QueryResult) -> Iterator[dict[str, Any]]:
    for estimate in query.estimates:
        yield {"value": estimate.text, "p": estimate.p, "mcse": _finite(estimate.mcse)}
    if query.mean is not None:
        yield {"mean": query.mean, "sd": query.sd, "mcse": _finite(query.mean_mcse)}
    if query.kind == "logz":
        yield {"log_z": _finite(query.log_z)}
    for world in query.worlds:
        yield {"log_weight": _finite(world.log_weight)}
        for name, value in world.assignment.items():
            text = str(value).lower() if isinstance(value, bool) else value
            yield {"value": f"{name} = {text}"}


def to_csv(result: Result) -> str:
    """The records as CSV text with a header; what does not exist is empty."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=COLUMNS, lineterminator="\n")
    writer.writeheader()
    for record in records(result):
        record["converged"] = str(record["converged"]).lower()
        writer.writerow(record)
    return out.getvalue()


def to_pandas(result: Result) -> pd.DataFrame:
    """The records as a pandas frame. Raises ImportError if pandas is not installed."""
    import pandas as pd

    return pd.DataFrame(list(records(result)), columns=list(COLUMNS))


def to_html(result: Result) -> str:
    """The table as HTML for a notebook."""
    lines = list(rows(result))
    head = "".join(f"<th>{name}</th>" for name in ("query", "value", "answer", "± error", "ESS", "R-hat", ""))
    body = "".join(_html_row(line) for line in lines)
    foot = "<br>".join(html.escape(line) for line in summary(result))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{foot}</p>"


def _html_row(line: Row) -> str:
    cells = (line.query, line.value, line.answer, line.error, line.ess, line.rhat, line.mark)
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
