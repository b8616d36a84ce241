"""The answers of a run as Python code reads them: found by name, with attributes, printed and exported."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Never, SupportsIndex, overload

import numpy as np

from plx.answer import export, frames, labelled, plot
from plx.answer.credible import CredibleSet, Quantile, credible_set, quantile
from plx.answer.drawing import drawn, save_drawn
from plx.answer.grid import Grid, grid
from plx.answer.kept import read
from plx.answer.keys import keyed
from plx.answer.lookup import canonical
from plx.answer.named import Kind, MapWorld, Moments, NamedAnswer, NamedAnswers, Value
from plx.answer.report import page
from plx.answer.table import one_line, plain_table
from plx.answer.wide import WideAnswers
from plx.errors import nearest
from plx.saving import save
from plx.sequences import parts

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import xarray as xr
    from matplotlib.figure import Figure

    from plx.answer.panels import Theme
    from plx.lift.describe import Symmetries


@dataclass(frozen=True, repr=False)
class QueryResult(NamedAnswer):
    """The answer to one query.

    ``name`` is the query's text as printed, or its ``as`` name; ``line`` is where it stands. ``term`` is what
    it shares with the other instances of its query (a random function, the ``as`` name, a formula), ``slots``
    has its index by the names of slots. ``estimates`` lists the values with their probabilities. ``moments``
    are those of a number, and of an unknown all of whose values are numbers, ``worlds`` those of ``map``,
    ``log_z`` that of ``logz``. ``ess`` and ``rhat`` are the effective sample size and the split R-hat, None
    for an exact answer. ``z`` is the sum over worlds of ``logz`` as a fraction, where exact rationals were
    asked for. What a query of another kind asks for, as the ``mean`` of a formula, raises
    AttributeError, which says what there is; so does everything where the time was over before the query was
    reached, and ``answered`` is False.
    """

    @property
    def mcse(self) -> float:
        """As for a query of any kind; AttributeError where there was no time for it."""
        if not self.answered:
            raise self._lacks("mcse", "")
        return super().mcse

    @property
    def probability(self) -> float:
        """The probability that a formula or a Boolean unknown is true; AttributeError for another kind."""
        if self.kind != "probability" or not self.answered:
            raise self._lacks("probability", "is no formula and has no one probability")
        return next(estimate.p for estimate in self.estimates if estimate.value is True)

    @property
    def mean(self) -> float:
        """The mean of a number; AttributeError for another kind."""
        return self._moments("mean").mean

    @property
    def sd(self) -> float | None:
        """The standard deviation of a number, None where it is not known; AttributeError for another kind."""
        return self._moments("sd").sd

    @property
    def mean_mcse(self) -> float:
        """The Monte-Carlo standard error of the mean of a number; AttributeError for another kind."""
        return self._moments("mean_mcse").mcse

    @property
    def sd_mcse(self) -> float:
        """The Monte-Carlo standard error of the standard deviation of a number; AttributeError for another
        kind."""
        return self._moments("sd_mcse").sd_mcse

    def quantile(self, q: float) -> Quantile:
        """The least value whose cumulative probability is at least ``q``, and how far it may be off.

        Raises AttributeError for what is no number, ValueError for a ``q`` that is not between 0 and 1.
        """
        self._moments("quantile")
        return quantile(self.estimates, q, self.ess)

    def credible_set(self, mass: float = 0.9) -> CredibleSet:
        """The fewest values that have at least the probability ``mass`` together, with that probability.

        Raises AttributeError for what has no values, ValueError for a mass that is not above 0 and at most 1.
        """
        if not self.estimates:
            raise self._lacks("credible_set", "has no values")
        return credible_set(self.estimates, mass, self.ess)

    @property
    def distribution(self) -> dict[Value | tuple[Value, ...], float]:
        """Value → probability; a joint query has tuples of values.

        An unknown has every value of its domain, those of probability 0 too. Truth values are True and
        False; where numbers may stand beside them, they are keys of their own: ``[True]`` and ``[1]`` differ.
        """
        if not self.answered:
            raise self._lacks("distribution", "")
        return keyed([e.value for e in self.estimates], [e.p for e in self.estimates])

    @property
    def draws(self) -> npt.NDArray[Any]:
        """The values drawn, shape (chains, draws), of a joint query (chains, draws, coordinates).

        Raises AttributeError where no draws were kept.
        """
        if not self.drawn:
            raise self._lacks("draws", "has no draws: `run(draws=1000)` keeps some")
        parts = [part.array() for part in self.drawn]
        if len(parts) == 1:
            return parts[0]
        return np.stack([part.astype(object) for part in parts], axis=-1)

    @property
    def assignment(self) -> Mapping[str, Value]:
        """The most probable world of ``query map``: the value of every unknown by name.

        Raises AttributeError for a query of another kind.
        """
        return self._best("assignment").assignment

    @property
    def log_weight(self) -> float:
        """The log weight of the most probable world of ``query map``.

        Raises AttributeError for a query of another kind.
        """
        return self._best("log_weight").log_weight

    def _moments(self, name: str) -> Moments:
        if self.moments is None:
            raise self._lacks(name, f"is no number and has no `{name}`")
        return self.moments

    def _best(self, name: str) -> MapWorld:
        if not self.worlds:
            raise self._lacks(name, "does not ask for a world: write `query map`")
        return self.worlds[0]

    def _lacks(self, name: str, why: str) -> AttributeError:
        if not self.answered:
            why = f"has no answer: the time was over before, so there is no `{name}`"
            return AttributeError(f"`{self.name}` {why}", name=name, obj=self)
        offer = _OFFERS.get(self.kind)
        hint = f": use .{offer}" if offer and offer != name else ""
        return AttributeError(f"`{self.name}` {why}{hint}", name=name, obj=self)

    def __repr__(self) -> str:
        return f"<{self.name}: {one_line(self)}>"

    def _repr_html_(self) -> str:
        return export.query_to_html(self)


_OFFERS: dict[Kind, str] = {
    "probability": "probability",
    "distribution": "distribution",
    "joint": "distribution",
    "number": "distribution",
    "map": "assignment",
    "logz": "log_z",
}
"""What holds the answer of each kind of query."""

_FIELDS = {field.name for field in fields(QueryResult)}


@dataclass(frozen=True, repr=False)
class Result(NamedAnswers):
    """Every answer of a run, in the order of the program.

    ``result["smokes(anna)"]`` finds one by its text or its ``as`` name, ``result[0]`` by its position;
    iteration goes over all.
    ``inference`` holds the same answers by node and state, as the methods give them. Two results are equal
    if they give the same answers to the same queries of one program.
    """

    queries: Sequence[QueryResult]

    @property
    def method(self) -> str:
        """What ran, e.g. ``exact``."""
        return self.inference.method

    @property
    def reason(self) -> str:
        """Why this method."""
        return self.inference.reason

    @property
    def seed(self) -> int | None:
        """The seed of the random numbers, also where it was drawn; None for an exact method."""
        return self.inference.seed

    @property
    def log_z(self) -> float | None:
        """The log of the sum over worlds, where the method gives it."""
        return self.inference.log_z

    @property
    def z(self) -> Fraction | None:
        """The sum over worlds itself, where exact rationals were asked for: without weights, how many worlds
        there are."""
        return self.inference.z

    @property
    def status(self) -> Literal["done", "limit", "interrupted"]:
        """Whether the run was done, hit a limit or was interrupted."""
        return self.inference.status

    @property
    def notes(self) -> tuple[str, ...]:
        """What the method has to say about its run."""
        return self.inference.notes

    def __len__(self) -> int:
        return len(self.queries)

    def __iter__(self) -> Iterator[QueryResult]:
        return iter(self.queries)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self._found(name))

    @overload
    def __getitem__(self, name: str | SupportsIndex) -> QueryResult: ...

    @overload
    def __getitem__(self, name: slice) -> tuple[QueryResult, ...]: ...

    def __getitem__(self, name: str | SupportsIndex | slice) -> QueryResult | tuple[QueryResult, ...]:
        """The answer to a query, by its text as printed, by its ``as`` name or by its position.

        Raises KeyError, with the nearest name, if there is none, or if several share the name; IndexError
        for a position past the last, TypeError for what is neither name nor position.
        """
        if not isinstance(name, str):
            return self._at(name)
        found = self._found(name)
        if not found:
            raise KeyError(self._not_found(name))
        if len(found) > 1:
            texts = ", ".join(f"`{query.text}`" for query in found[:3])
            raise KeyError(f"`{name}` names {len(found)} answers: ask for one by its text, as {texts}")
        return found[0]

    def _at(self, position: SupportsIndex | slice) -> QueryResult | tuple[QueryResult, ...]:
        try:
            if isinstance(position, slice):
                return tuple(self.queries[position])
            return self.queries[index(position)]
        except IndexError:
            count = f"{len(self)} answer{'s' * (len(self) != 1)}"
            raise IndexError(f"there is no answer {position!r}: this result has {count}") from None
        except TypeError:
            kind = type(position).__name__
            raise TypeError(
                f"answers are found by name or position, not by {kind}: {self._example}"
            ) from None

    def __getattr__(self, name: str) -> Never:
        """Raises AttributeError, which says where what each answer has for itself is found."""
        own = (not name.startswith("_") and hasattr(QueryResult, name)) or name in _FIELDS
        hint = f": each answer has its own, as {self._example}.{name}" if own else ""
        raise AttributeError(f"a result has no `{name}`{hint}")

    @property
    def _example(self) -> str:
        name = self.queries[0].name if self.queries else "a"
        return f"result[{json.dumps(name, ensure_ascii=False)}]"

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        return _grouped(self.queries, lambda name: name)

    @cached_property
    def _by_meaning(self) -> dict[str, list[int]]:
        return _grouped(self.queries, canonical)

    def _found(self, name: str) -> list[QueryResult]:
        found = self._by_name.get(name) or self._by_meaning.get(canonical(name), [])
        return [self.queries[position] for position in found]

    def _not_found(self, name: str) -> str:
        names = [name for both in _names(self.queries) for name in both]
        longer = (other for other in names if other.startswith(f"{name}("))
        best = next(longer, None) or nearest(name, names)
        hint = f": did you mean `{best}`?" if best else ""
        return f"no query `{name}` among the {len(self.queries)} of this program{hint}"

    def grid(self, term: str) -> Grid:
        """The answers to all instances of a query as arrays with an axis for each slot.

        ``term`` is a random function, the name after ``as``, or the formula. Raises KeyError, in words, where
        no query is about it, or where the answers do not fit one array.
        """
        return grid(self, term)

    def array(self, term: str, what: str = "estimate") -> npt.NDArray[Any]:
        """One array of ``grid(term)``: its ``estimate``, or ``mcse`` for the standard errors, or another.

        Raises KeyError as `grid` does, and where there is no such array.
        """
        return grid(self, term).array(what)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain lists and dicts, as ``--format json`` prints it."""
        return export.to_dict(self)

    def to_json(self) -> str:
        """The result as JSON text."""
        return export.to_json(self)

    def to_csv(self) -> str:
        """The result as CSV text, one row per value of a query."""
        return export.to_csv(self)

    def to_pandas(self, form: frames.Form = "long") -> pd.DataFrame:
        """The result as a pandas frame: one row per value of a query, or in the ``wide`` form one per query.

        Raises ImportError, which says how to install it, where pandas is not.
        """
        return frames.to_pandas(self, form)

    def to_polars(self, form: frames.Form = "long") -> pl.DataFrame:
        """As `to_pandas`, as a polars frame; values are texts, and ``number`` has those that are numbers."""
        return frames.to_polars(self, form)

    def to_xarray(self) -> xr.Dataset:
        """The result as an xarray Dataset: answers ``f`` and their errors ``f_mcse`` over the slots of f.

        Raises ImportError where xarray is not installed.
        """
        return labelled.to_xarray(self)

    def to_arviz(self) -> xr.DataTree:
        """The draws as a DataTree of the groups posterior, sample_stats and observed_data, for ArviZ.

        Raises CallError where no draws were kept, ImportError where xarray is not installed.
        """
        return labelled.to_arviz(self)

    def plot(self, path: str | os.PathLike[str] | None = None, theme: Theme = "light") -> Figure:
        """A matplotlib figure of the answers, ``light`` or ``dark``; written to a file where a path is given.

        Raises CallError, an ImportError where matplotlib is not installed; PlxError where the file cannot be
        written, or matplotlib does not know its suffix.
        """
        return drawn(lambda: plot.figure(self, theme), path)

    def report(self, path: str | os.PathLike[str], symmetries: Symmetries | None = None) -> None:
        """Write one HTML page that needs nothing else: the program with each answer beside its query, how
        they were found and how good they are, plots where matplotlib is installed, sizes, symmetries.

        Raises PlxError where the file cannot be written.
        """
        text = page(self, None if symmetries is None else symmetries.text())
        save_drawn(text.encode("utf-8", "replace"), Path(path), "report")

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file: the rows of `to_polars`, and in its metadata all that `load` reads back.

        Raises ImportError where pyarrow is not installed, OSError where the file cannot be written.
        """
        save(Path(path), frames.to_parquet(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """The result that a file keeps: JSON of `to_json`, or Parquet of `to_parquet`.

        It has all that is printed of a result; answers by node and draws are not kept. Raises PlxError where
        the file holds no result, OSError where it cannot be read.
        """
        return cls(*read(Path(path), QueryResult))

    def __repr__(self) -> str:
        return plain_table(self)

    def _repr_html_(self) -> str:
        return export.to_html(self)


class Interrupted(KeyboardInterrupt):
    """Raised where Ctrl-C ends a run. ``result`` has the answers so far, None where there are none yet."""

    def __init__(self, result: Result | None = None) -> None:
        super().__init__(result)
        self.result = result

    def __str__(self) -> str:
        if self.result is None:
            return "interrupted before there was an answer"
        return "interrupted: `.result` of this exception has the answers so far"


def _grouped(queries: Sequence[QueryResult], key: Callable[[str], str]) -> dict[str, list[int]]:
    """The positions of queries by the keys of their name and of their text."""
    found: dict[str, list[int]] = {}
    for position, (name, text) in enumerate(_names(queries)):
        for one in {key(name), key(text)}:
            found.setdefault(one, []).append(position)
    return found


def _names(queries: Sequence[QueryResult]) -> Iterator[tuple[str, str]]:
    """The name and the text of every answer."""
    for part in parts(queries):
        if isinstance(part, WideAnswers):
            names = part.names.filled()
            yield from zip(names, names if part.texts is part.names else part.texts.filled(), strict=True)
        else:
            yield from ((query.name, query.text) for query in part)
