"""A result from the file that keeps it: JSON, or the metadata of a Parquet file."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, cast, get_args
from zipfile import BadZipFile

import numpy as np

from plx.answer.export import plain_text, plain_value, query_records
from plx.answer.frames import KEPT
from plx.answer.named import Estimate, Kind, MapWorld, Moments, NamedAnswer, NamedAnswers, Value
from plx.answer.packed import unpacked
from plx.answer.table import warnings
from plx.answer.wide import WideAnswers
from plx.errors import Diagnostic, PlxError
from plx.extras import library
from plx.infer.inference import Inference
from plx.sequences import in_order

_PARQUET = b"PAR1"

A = TypeVar("A", bound=NamedAnswer)


def read(path: Path, make: Callable[..., A]) -> tuple[str, Sequence[A], Inference]:
    """The program, every answer, which ``make`` makes of its fields, and what is known of the run.

    Raises PlxError where the file holds no result, OSError where it cannot be read.
    """
    content = path.read_bytes()
    try:
        if content.startswith(_PARQUET):
            return _from_parquet(content, make)
        return _result(json.loads(content.decode("utf-8-sig")), [], make)
    except PlxError:
        raise
    except _DAMAGED:
        hint = "write one with result.to_json() or result.to_parquet(path), or `plx run … -o result.json`"
        raise PlxError(Diagnostic(f"{path} holds no result of plx", hint=hint)) from None


_DAMAGED = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, zlib.error,
    BadZipFile,
)  # fmt: skip


def _from_parquet(content: bytes, make: Callable[..., A]) -> tuple[str, Sequence[A], Inference]:
    arrow, parquet = library("pyarrow", "Parquet files"), library("pyarrow.parquet", "Parquet files")
    try:
        metadata = parquet.read_schema(arrow.BufferReader(content)).metadata or {}
        packs = sorted((int(key[len(KEPT) + 1 :]), key) for key in metadata if key.startswith(KEPT + b"."))
        names = [*_NUMBERS, "converged"] if packs else []
        table = parquet.read_table(arrow.BufferReader(content), columns=names)
    except (arrow.ArrowException, OSError):
        raise ValueError from None
    data = json.loads(zlib.decompress(metadata[KEPT]).decode("utf-8-sig"))
    columns = {name: table[name].to_numpy(zero_copy_only=False) for name in names}
    counts = [_records_of(query) for query in data["queries"]]
    wide, row, told, place = [], 0, 0, 0
    for first, key in packs:
        while place < first:
            row, told, place = row + counts[told], told + 1, place + 1
        found, row = unpacked(metadata[key], columns, row, make)
        place += len(found)
        wide.append((first, found))
    return _result(data, wide, make)


_NUMBERS = ("p", "mcse", "mean", "sd", "sd_mcse", "ess", "rhat")


def _records_of(query: Mapping[str, Any]) -> int:
    """How many records an answer has."""
    return sum(1 for _ in query_records(NamedAnswer(**_query(query))))


def _result(
    data: Mapping[str, Any], wide: list[tuple[int, WideAnswers]], make: Callable[..., A]
) -> tuple[str, Sequence[A], Inference]:
    pieces: list[tuple[int, Sequence[Any]]] = [*wide]
    told = [make(**_query(query)) for query in data["queries"]]
    free = np.ones(len(told) + sum(len(answers) for _, answers in wide), dtype=bool)
    for first, answers in wide:
        free[first : first + len(answers)] = False
    pieces += [(at, (answer,)) for at, answer in zip(np.flatnonzero(free).tolist(), told, strict=True)]
    queries: Sequence[A] = in_order(pieces)
    notes = tuple(map(_str, data["notes"]))
    run = Inference(
        method=_str(data["method"]),
        reason=_str(data["reason"]),
        answers=(),
        log_z=_float(data["log_z"]),
        log_z_mcse=_log_z_error(data),
        seed=None if data["seed"] is None else int(data["seed"]),
        chains=None if data["chains"] is None else int(data["chains"]),
        draws=None if data["samples"] is None else int(data["samples"]),
        seconds=float(data["seconds"]),
        status=_one_of(data["status"], ("done", "limit", "interrupted")),
        advice=tuple(map(_str, data["advice"])),
        z=_fraction(data.get("z")),
    )
    program = _str(data["program"])
    warned = warnings(NamedAnswers(program, queries, run))
    return program, queries, replace(run, notes=notes[: len(notes) - len(warned)])


def _query(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an answer."""
    moments = None
    if data["mean"] is not None:
        errors = (_error(data["mean_mcse"]), _error(data["sd_mcse"]))
        sizes = _float(data.get("bulk_ess")), _float(data.get("tail_ess"))
        moments = Moments(float(data["mean"]), _float(data["sd"]), *errors, *sizes)
    return {
        "name": _str(data["name"]),
        "text": _str(data["text"]),
        "kind": _one_of(data["kind"], get_args(Kind)),
        "line": None if data["line"] is None else int(data["line"]),
        "estimates": tuple(_estimates(data["values"], data.get("typed"))),
        "moments": moments,
        "ess": _float(data["ess"]),
        "rhat": _float(data["rhat"]),
        "worlds": tuple(map(_world, data["worlds"])),
        "log_z": _float(data["log_z"]),
        "log_z_mcse": _log_z_error(data),
        "z": _fraction(data.get("z")),
        "converged": _bool(data["converged"]),
        "term": _str(data["term"]),
        "slots": {_str(name): _value(value) for name, value in data["slots"].items()},
    }


def _log_z_error(data: Mapping[str, Any]) -> float:
    """The standard error of log Z; results of earlier releases have only exact ones."""
    return 0.0 if data["log_z"] is None or "log_z_mcse" not in data else _error(data["log_z_mcse"])


def _estimates(values: Mapping[str, Any], typed: Sequence[Any] | None) -> Iterable[Estimate]:
    found = map(plain_value, values) if typed is None else map(_value, typed)
    for (text, estimate), value in zip(values.items(), found, strict=True):
        exact = _fraction(estimate.get("exact"))
        yield Estimate(value, _str(text), float(estimate["p"]), _error(estimate["mcse"]), exact)


def _world(data: Mapping[str, Any]) -> MapWorld:
    assignment = {_str(name): _value(value) for name, value in data["assignment"].items()}
    texts = {name: plain_text(value) for name, value in assignment.items()}
    told = {_str(name): _str(text) for name, text in data.get("texts", {}).items()}
    return MapWorld(
        assignment, texts | told, float(data["log_weight"]), _bool(data["optimal"]), _float(data["bound"])
    )


def _value(data: Any) -> Any:
    """A value, or a tuple of values."""
    if isinstance(data, list):
        return tuple(map(_value, data))
    if not isinstance(data, Value):
        raise TypeError
    return data


def _fraction(data: Any) -> Fraction | None:
    """An exact number; those of many thousand digits are read as well."""
    if data is None:
        return None
    top, _, bottom = _str(data).partition("/")
    return Fraction(int(Decimal(top)), int(Decimal(bottom or "1")))


def _float(data: Any) -> float | None:
    return None if data is None else float(data)


def _error(data: Any) -> float:
    """A standard error; JSON has none that is infinite."""
    return math.inf if data is None else float(data)


def _str(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError
    return data


def _bool(data: Any) -> bool:
    if not isinstance(data, bool):
        raise TypeError
    return data


def _one_of(data: Any, choices: Sequence[str]) -> Any:
    if data not in choices:
        raise ValueError
    return cast(Any, data)
