"""Answers that are arrays as bytes beside the columns of a Parquet file, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from plx.answer.named import NamedAnswer
from plx.answer.wide import WideAnswers
from plx.graph.queries import Names
from plx.graph.ragged import owners, starts
from plx.graph.rows import unique_keys
from plx.sequences import taken
from plx.values import FloatArray, IntArray

T = TypeVar("T")

_MOMENTS = ("mean", "sd", "mean_mcse", "sd_mcse")

_SIZES = ("bulk_ess", "tail_ess")


def packed(wide: WideAnswers) -> bytes:
    """What the records of the answers do not say: values, index, names, and means of what is no number."""
    arrays: dict[str, npt.NDArray[Any]] = {"size": np.diff(wide.start), "value": wide.value}
    told = {
        "kind": wide.kind,
        "line": wide.line,
        "term": wide.term,
        "values": wide.values,
        "slots": [
            (slot, _table(arrays, f"slot{k}", place, wide.coordinates))
            for k, (slot, place) in enumerate(zip(wide.slots, wide.places, strict=True))
        ],
        "names": _names(arrays, "names", wide.names),
        "texts": None if wide.texts is wide.names else _names(arrays, "texts", wide.texts),
    }
    if not np.isnan(wide.mean).all():
        names = _SIZES if wide.kind == "number" else (*_MOMENTS, *_SIZES)
        arrays |= {name: getattr(wide, name) for name in names}
    arrays["told"] = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
    out = BytesIO()
    np.savez_compressed(out, allow_pickle=False, **arrays)
    return out.getvalue()


def unpacked(
    content: bytes, columns: Mapping[str, npt.NDArray[Any]], first: int, make: Callable[..., NamedAnswer]
) -> tuple[WideAnswers, int]:
    """The answers, from what was packed and the columns of all records, of which theirs begin at ``first``;
    and where they end.

    Raises ValueError, KeyError or TypeError for what was not packed so.
    """
    with np.load(BytesIO(content), allow_pickle=False) as found:
        arrays = dict(found)
    told = json.loads(arrays.pop("told").tobytes())
    start, n = starts(arrays["size"]), len(arrays["size"])
    more = told["kind"] == "number"
    end = first + int(start[-1]) + more * n
    estimate = first + np.arange(start[-1]) + more * owners(start)
    last = first + start[1:] + np.arange(n) if more else np.empty(0, dtype=np.int64)
    one = first + start[:-1] + more * np.arange(n)

    def column(name: str, rows: IntArray, absent: float) -> FloatArray:
        values: FloatArray = columns[name][rows]
        return np.where(np.isnan(values), absent, values)

    def moment(name: str, source: str | None = None) -> FloatArray:
        if more and source is not None:
            return column(source, last, np.nan)
        return np.asarray(arrays.get(name, np.full(n, np.nan)), dtype=np.float64)

    slots = [(slot, arrays[f"slot{k}"], table) for k, (slot, table) in enumerate(told["slots"])]
    base = starts([len(table) for _, _, table in slots])
    names = _named(arrays, "names", told["names"], n)
    return WideAnswers(
        make,
        told["kind"],
        told["line"],
        told["term"],
        names,
        names if told["texts"] is None else _named(arrays, "texts", told["texts"], n),
        tuple(slot for slot, _, _ in slots),
        tuple(codes + base[k] for k, (_, codes, _) in enumerate(slots)),
        [value for _, _, table in slots for value in table],
        tuple((value, str(text)) for value, text in told["values"]),
        start,
        arrays["value"],
        column("p", estimate, np.nan),
        column("mcse", estimate, np.inf),
        moment("mean", "mean"),
        moment("sd", "sd"),
        moment("mean_mcse", "mcse"),
        moment("sd_mcse", "sd_mcse"),
        column("ess", one, np.nan),
        column("rhat", one, np.nan),
        moment("bulk_ess"),
        moment("tail_ess"),
        columns["converged"][one].astype(bool),
    ), end


def _table(arrays: dict[str, npt.NDArray[Any]], name: str, codes: IntArray, items: Sequence[T]) -> list[T]:
    """The items that are there, each once; which of them each instance has is one of the arrays."""
    first, arrays[name] = unique_keys(codes)
    return taken(items, codes[first].tolist())


def _names(arrays: dict[str, npt.NDArray[Any]], name: str, names: Names) -> Any:
    columns = zip(names.codes, names.texts, strict=True)
    return names.pieces, [
        _table(arrays, f"{name}{k}", codes, texts) for k, (codes, texts) in enumerate(columns)
    ]


def _named(arrays: Mapping[str, npt.NDArray[Any]], name: str, told: Any, n: int) -> Names:
    pieces, texts = told
    return Names(
        tuple(pieces),
        tuple(arrays[f"{name}{k}"] for k in range(len(texts))),
        tuple(tuple(map(str, table)) for table in texts),
        n,
    )
