"""Worlds drawn exactly, as Python code reads them: arrays by name, frames, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plx.answer import labelled
from plx.answer.export import plain_text
from plx.answer.lookup import canonical
from plx.answer.named import Draws, NamedAnswer, NamedAnswers
from plx.errors import nearest
from plx.extras import library

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import xarray as xr


@dataclass(frozen=True, eq=False, repr=False)
class Sample(NamedAnswers):
    """Independent worlds, drawn exactly: of each the values of what was asked for.

    ``sample["smokes(anna)"]`` are the values in all worlds, an array; a joint query has one of shape (worlds,
    coordinates). It is read like a dict: `keys` are the names, in the order of the queries.
    """

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The values of a query, by its text or its ``as`` name, or of an unknown, shape (worlds,).

        Raises KeyError, with the nearest name, if there is none, or if several share it.
        """
        found = self._by_name.get(canonical(name), [])
        if not found:
            best = nearest(name, list(self.keys()))
            hint = f": did you mean `{best}`?" if best else ""
            raise KeyError(f"`{name}` was not drawn{hint}")
        if len(found) > 1:
            raise KeyError(f"`{name}` names {len(found)} answers: ask for one by its text, `{found[0].text}`")
        parts = [part.array()[0] for part in found[0].drawn]
        return parts[0] if len(parts) == 1 else np.stack([part.astype(object) for part in parts], axis=-1)

    def keys(self) -> tuple[str, ...]:
        """The names of what was drawn; by their texts where several share one."""
        return tuple(q.name if len(self._by_name[canonical(q.name)]) == 1 else q.text for q in self.queries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and canonical(name) in self._by_name

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def n(self) -> int:
        """How many worlds there are."""
        return self.inference.draws or 0

    @property
    def seed(self) -> int | None:
        """The seed that draws the same worlds again."""
        return self.inference.seed

    @property
    def reason(self) -> str:
        """How they were drawn."""
        return self.inference.reason

    @property
    def notes(self) -> tuple[str, ...]:
        """What else was tried."""
        return self.inference.notes

    @property
    def log_weights(self) -> npt.NDArray[np.float64] | None:
        """The log weight of each world, shape (worlds,); None where worlds were not grounded, and what was
        not asked for was not drawn."""
        weights = self.inference.log_weights
        return None if weights is None else weights[0]

    @cached_property
    def _by_name(self) -> dict[str, list[NamedAnswer]]:
        found: dict[str, list[NamedAnswer]] = {}
        for query in self.queries:
            for name in {canonical(query.name), canonical(query.text)}:
                found.setdefault(name, []).append(query)
        return found

    def _columns(self) -> Iterator[tuple[str, Draws]]:
        """What was drawn, coordinate by coordinate."""
        for name, query in zip(self.keys(), self.queries, strict=True):
            for k, draws in enumerate(query.drawn, start=1):
                yield name if len(query.drawn) == 1 else f"{name}[{k}]", draws

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and dicts, as ``--format json`` prints them; of a joint query a list per coordinate."""
        run = self.inference
        return {
            "program": self.program,
            "seed": run.seed,
            "reason": run.reason,
            "seconds": run.seconds,
            "notes": [*run.notes],
            "log_weights": None if self.log_weights is None else self.log_weights.tolist(),
            "worlds": {name: draws.array()[0].tolist() for name, draws in self._columns()},
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """CSV text: one row per world, a column for each coordinate, values as a program writes them."""
        names, texts = [], []
        for name, draws in self._columns():
            names.append(name)
            texts.append(np.array([*map(plain_text, draws.values)], dtype=object)[draws.codes[0]].tolist())
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(zip(*texts, strict=True))
        return out.getvalue()

    def to_pandas(self) -> pd.DataFrame:
        """A pandas frame: one row per world, a column for each coordinate, with its own type.

        Raises ImportError, which says how to install it, where pandas is not.
        """
        pandas = library("pandas", "pandas frames")
        frame: pd.DataFrame = pandas.DataFrame({name: draws.array()[0] for name, draws in self._columns()})
        return frame

    def to_polars(self) -> pl.DataFrame:
        """As `to_pandas`, as a polars frame; a column of values of several types has their texts."""
        polars = library("polars", "polars frames")
        series = []
        for name, draws in self._columns():
            values = draws.array()[0]
            if draws.kind is str:
                texts = np.array([*map(plain_text, draws.values)], dtype=object)
                values = texts[draws.codes[0]]
            series.append(polars.Series(name, values.tolist()))
        frame: pl.DataFrame = polars.DataFrame(series)
        return frame

    def to_arviz(self) -> xr.DataTree:
        """The worlds as draws of one chain, in a DataTree as that of ``Result.to_arviz``.

        Raises ImportError where xarray is not installed.
        """
        return labelled.to_arviz(self)

    def __repr__(self) -> str:
        return f"<Sample of {self.program}: {self.n:,} worlds of {len(self):,} columns>"
