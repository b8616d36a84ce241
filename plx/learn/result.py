"""What a fit found, with names: as a table, as data, and as a program."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from plx.answer.drawing import drawn
from plx.answer.numbers import error_text, number_text
from plx.answer.table import plain
from plx.errors import did_you_mean
from plx.extras import library
from plx.learn.alchemy import trained
from plx.learn.fit import Found
from plx.learn.numbers import Learned, prior_text
from plx.learn.plot import Drawn, fit_figure
from plx.learn.tables import text_table
from plx.learn.writing import fitted
from plx.markup import html_table
from plx.numerals import counted, shortened
from plx.saving import save

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from rich.table import Table

    from plx.answer.panels import Theme

Runnable = TypeVar("Runnable")

HEADINGS = ("number", "value", "± se", "prior", "observed", "expected")


@dataclass(frozen=True)
class Number:
    """A learned number: its value and standard error, its prior, and its statistic in the data and under the
    fit. ``error`` is 0 where a Laplace prior holds it at its mean, infinite where nothing decides it;
    it and the statistics are nan where a search by draws was interrupted before the first of them.
    ``formula`` is what it weighs in a Markov logic network."""

    name: str
    value: float
    error: float
    prior: str
    observed: float
    expected: float
    formula: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Generic[Runnable]):
    """Numbers learned from data, by ``plx learn`` or ``Model.learn``."""

    program: str
    found: Found
    learned: tuple[Learned, ...]
    text: str
    make: Callable[[Mapping[str, float]], Runnable]

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """The learned numbers in the order of the program."""
        part = self.found.estimates
        rows = np.stack([part.value, part.error, part.observed, part.expected], axis=1).tolist()
        return tuple(
            Number(one.name, value, error, prior_text(one.prior), observed, expected, one.formula)
            for one, (value, error, observed, expected) in zip(self.learned, rows, strict=True)
        )

    @property
    def weights(self) -> dict[str, float]:
        """The value of every number by its name, such as ``peer(anna)``."""
        return {number.name: number.value for number in self.numbers}

    def __getitem__(self, name: str) -> Number:
        """A learned number by its name. Raises KeyError, with the nearest name, if there is none."""

        for number in self.numbers:
            if number.name == name:
                return number
        raise KeyError(did_you_mean(name, self.weights) or f"`{name}` was not learned")

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of the data, or log pseudo-likelihood, without the priors; nan if by draws."""
        return self.found.log_likelihood

    @property
    def objective(self) -> str:
        """``likelihood``, ``stochastic likelihood`` or ``pseudo-likelihood``."""
        return self.found.objective

    @property
    def converged(self) -> bool:
        """Whether the search ended at a maximum."""
        return self.found.converged

    @property
    def reason(self) -> str:
        """Why the search ended."""
        return self.found.reason

    @property
    def path(self) -> tuple[float, ...]:
        """The objective, the priors included, at every step of the search."""
        return self.found.path

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers must know."""
        return self.found.notes

    @property
    def aic(self) -> float:
        """2 · numbers − 2 · log-likelihood (Akaike 1974)."""
        return 2.0 * len(self.numbers) - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """numbers · log(observed unknowns) − 2 · log-likelihood (Schwarz 1978)."""
        return len(self.numbers) * math.log(max(self.found.n_observed, 1)) - 2.0 * self.log_likelihood

    @cached_property
    def model(self) -> Runnable:
        """The model with these numbers, which runs."""
        return self.make(self.weights)

    # ------------------------------------------------------------------ as text and data

    def source(self) -> str:
        """The program with these numbers as starts; comments stay."""
        return fitted(self.text, self.learned, self.weights)

    def network(self) -> str:
        """The Markov logic network (.mln) that was learned, with these weights; comments stay.

        Raises CallError where it cannot be written: for another program, for weights of clauses.
        """
        return trained(self.learned, self.weights)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain lists and dicts; what is infinite or does not exist is None."""
        return {
            "program": self.program,
            "objective": self.objective,
            "log_likelihood": _number(self.log_likelihood),
            "aic": _number(self.aic),
            "bic": _number(self.bic),
            "converged": self.converged,
            "reason": self.reason,
            "worlds": self.found.n_worlds,
            "observed": self.found.n_observed,
            "hidden": self.found.n_hidden,
            "seconds": self.found.seconds,
            "path": list(self.path),
            "numbers": [_finite(number) for number in self.numbers],
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """The numbers as CSV text: what ``--fit`` and ``Model.with_weights`` read."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["number", "value", "se", "prior", "observed", "expected"])
        for one in self.numbers:
            error = repr(one.error) if math.isfinite(one.error) else ""
            writer.writerow(
                [
                    one.name,
                    repr(one.value),
                    error,
                    one.prior,
                    _count(one.observed, 9),
                    _count(one.expected, 9),
                ]
            )
        return out.getvalue()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_csv` to a file, or `to_json` where its suffix is .json. Raises OSError."""
        file = Path(path)
        text = self.to_json() + "\n" if file.suffix.lower() == ".json" else self.to_csv()
        save(file, text.encode())

    def to_pandas(self) -> pd.DataFrame:
        """The numbers as a pandas frame. Raises ImportError where pandas is not installed."""
        pandas = library("pandas", "pandas frames")
        frame: pd.DataFrame = pandas.DataFrame([vars(number) for number in self.numbers])
        return frame

    def plot(self, path: str | os.PathLike[str] | None = None, theme: Theme = "light") -> Figure:
        """A matplotlib figure of search and numbers, ``light`` or ``dark``; a file too if a path is given.

        Raises CallError, an ImportError where matplotlib is not installed; PlxError where the file cannot be
        written, or matplotlib does not know its suffix.
        """
        return drawn(lambda: fit_figure(self._drawn, theme), path)

    @property
    def _drawn(self) -> Drawn:
        headline, part = f"{self.program} · {self.reason}", self.found.estimates
        return Drawn(headline, self.objective, self.path, part.names, part.value, part.error)

    def __repr__(self) -> str:
        return plain(table(self), self.summary)

    def _repr_html_(self) -> str:
        return html_table(_headings(self), map(_row, self.numbers), self.summary)

    @property
    def summary(self) -> list[str]:
        """What stands below the table: the objective, why the search ended, and every caveat."""
        found = self.found
        data = [counted(found.n_worlds, "world"), f"{found.n_observed:,} unknowns observed"]
        data += [f"{found.n_hidden:,} hidden"] if found.n_hidden else []
        value = f"log {self.objective} {self.log_likelihood:.6f}"
        scores = f"{value}, AIC {number_text(self.aic)}, BIC {number_text(self.bic)}"
        return [
            f"{self.objective}, not summed" if math.isnan(self.log_likelihood) else scores,
            ", ".join(data),
            f"{self.reason} after {counted(len(self.path) - 1, 'step')}, {found.seconds:.2f} s",
            *(f"note: {note}" for note in self.notes),
        ]


def table(fit: Fit[Any]) -> Table:
    """The numbers of a fit as a Rich table."""
    return text_table(_headings(fit), map(_row, fit.numbers), ("number", "prior", "formula"))


def _headings(fit: Fit[Any]) -> tuple[str, ...]:
    return (*HEADINGS, "formula") if any(number.formula for number in fit.numbers) else HEADINGS


def _row(number: Number) -> list[str]:
    value = number_text(number.value, number.error) if math.isfinite(number.error) else f"{number.value:.2g}"
    row = [
        number.name,
        value if float(value) else value.lstrip("-"),
        _error(number.error),
        number.prior,
        _count(number.observed, 6),
        _count(number.expected, 6),
    ]
    return [*row, shortened(number.formula)] if number.formula else row


def _error(error: float) -> str:
    return "" if math.isnan(error) else "∞" if math.isinf(error) else error_text(error)


def _count(statistic: float, digits: int) -> str:
    """A statistic; empty where a search was interrupted before it was known."""
    return "" if math.isnan(statistic) else f"{statistic:.{digits}g}"


def _finite(number: Number) -> dict[str, Any]:
    return {
        name: _number(value) if isinstance(value, float) else value for name, value in vars(number).items()
    }


def _number(value: float) -> float | None:
    """What JSON can hold."""
    return value if math.isfinite(value) else None
