"""Cross-validation: worlds are predicted by numbers that were learned from the other ones."""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plx.answer.drawing import drawn
from plx.answer.numbers import error_text, number_text
from plx.answer.table import plain
from plx.errors import CallError, Diagnostic
from plx.learn.plot import calibration_figure
from plx.learn.score import FunctionScore, Score, pooled
from plx.learn.tables import text_table
from plx.markup import html_table
from plx.numerals import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from plx.answer.panels import Theme

MEASURES = ("log_score", "accuracy", "brier", "auc_roc", "auc_pr", "calibration")
SHOWN = tuple(name for name in MEASURES if name != "brier")
"""What fits into a line."""

HEADINGS = ("random", "unknowns", *(name.replace("_", " ") for name in SHOWN))


class Mean(NamedTuple):
    """A mean over folds and its standard error, None where one fold alone has the measure."""

    value: float
    error: float | None


@dataclass(frozen=True)
class Fold:
    """One part of the worlds: their positions, how well the rest of them predicts them, and seconds."""

    worlds: tuple[int, ...]
    weights: dict[str, float]
    converged: bool
    score: Score
    fit_seconds: float
    score_seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """The scores of each fold, and their means with standard errors over folds."""

    program: str
    folds: tuple[Fold, ...]

    @property
    def functions(self) -> tuple[str, ...]:
        """The random functions that were predicted."""
        return tuple(dict.fromkeys(one.name for fold in self.folds for one in fold.score.functions))

    def scores(self, name: str) -> list[FunctionScore]:
        """The scores of a random function in each fold that has it."""
        return [one for fold in self.folds for one in fold.score.functions if one.name == name]

    def mean(self, name: str, measure: str) -> Mean | None:
        """A measure of a random function over folds, such as ``auc_pr``; None where no fold has it."""
        found = [getattr(one, measure) for one in self.scores(name)]
        return _mean([value for value in found if value is not None])

    @property
    def log_likelihood(self) -> Mean | None:
        """The log-likelihood of a fold's worlds, or their log pseudo-likelihood; None where out of reach."""
        found = [fold.score.log_likelihood for fold in self.folds]
        return None if None in found else _mean([value for value in found if value is not None])

    def bins(self, name: str) -> tuple[tuple[float, float, int], ...]:
        """The calibration of a random function over all folds: as `FunctionScore.bins`."""
        return pooled([one.bins for one in self.scores(name)])

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain lists and dicts; what does not exist is None."""
        means = {
            name: {measure: _dict(self.mean(name, measure)) for measure in MEASURES}
            for name in self.functions
        }
        folds = [
            {**vars(fold), "worlds": list(fold.worlds), "score": fold.score.to_dict()} for fold in self.folds
        ]
        total = _dict(self.log_likelihood)
        return {"program": self.program, "log_likelihood": total, "functions": means, "folds": folds}

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """A row for each fold and random function."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["fold", "random", "unknowns", *MEASURES])
        for number, fold in enumerate(self.folds, start=1):
            for one in fold.score.functions:
                cells = (getattr(one, measure) for measure in MEASURES)
                shown = ("" if cell is None else f"{cell:.9g}" for cell in cells)
                writer.writerow([number, one.name, one.unknowns, *shown])
        return out.getvalue()

    @property
    def summary(self) -> list[str]:
        """What stands below the table."""
        total, first = self.log_likelihood, self.folds[0].score
        value = "out of reach" if total is None else _text(total)
        seconds = sum(fold.fit_seconds for fold in self.folds), sum(fold.score_seconds for fold in self.folds)
        lines = [
            f"{counted(len(self.folds), 'fold')}, means ± standard errors over folds",
            f"{first.measure} of a fold {value}; probabilities by {first.method}",
            f"learned in {seconds[0]:.2f} s, predicted in {seconds[1]:.2f} s",
        ]
        lost = [str(i) for i, fold in enumerate(self.folds, start=1) if not fold.converged]
        return [*lines, f"note: no maximum was found in fold {', '.join(lost)}"] if lost else lines

    def plot(self, path: str | os.PathLike[str] | None = None, theme: Theme = "light") -> Figure:
        """A matplotlib figure of calibration, ``light`` or ``dark``; written to a file where a path is given.

        Raises CallError, an ImportError where matplotlib is not installed; PlxError where the file cannot be
        written, or matplotlib does not know its suffix.
        """
        return drawn(
            lambda: calibration_figure(
                self.program, [(name, self.bins(name)) for name in self.functions], theme
            ),
            path,
        )

    def __repr__(self) -> str:
        return plain(table(self), self.summary)

    def _repr_html_(self) -> str:
        return html_table(HEADINGS, _rows(self), self.summary)


def table(found: CrossValidation) -> Table:
    """The means as a Rich table."""
    return text_table(HEADINGS, _rows(found), ("random",))


def _rows(found: CrossValidation) -> list[list[str]]:
    rows = []
    for name in found.functions:
        unknowns = sum(one.unknowns for one in found.scores(name))
        means = (found.mean(name, measure) for measure in SHOWN)
        rows.append([name, f"{unknowns:,}", *("" if mean is None else _text(mean) for mean in means)])
    return rows


def _text(mean: Mean) -> str:
    if not mean.error:
        return number_text(mean.value)
    return f"{number_text(mean.value, mean.error)} ± {error_text(mean.error)}"


def _mean(values: Sequence[float]) -> Mean | None:
    if not values:
        return None
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return Mean(float(np.mean(values)), error)


def _dict(mean: Mean | None) -> dict[str, float | None] | None:
    return None if mean is None else mean._asdict()


# --------------------------------------------------------------------------- folds


def parts(count: int, folds: int | None, seed: int) -> list[tuple[int, ...]]:
    """The worlds of each fold: one of each if there are as many folds, else dealt out in a random order.

    Raises CallError for fewer than 2 folds or more than worlds.
    """
    folds = count if folds is None else folds
    if not 2 <= folds <= count:
        message = f"{counted(count, 'world')} cannot be put into {counted(folds, 'fold')}"
        raise CallError(
            Diagnostic(message, hint="cross-validation needs 2 folds at least, of one world or more")
        )
    order = np.arange(count) if folds == count else np.random.default_rng(seed).permutation(count)
    return [tuple(sorted(order[k::folds].tolist())) for k in range(folds)]


class Fitted(NamedTuple):
    """What is kept of the fit of a fold."""

    weights: dict[str, float]
    converged: bool


def cross_validate(
    program: str,
    split: Sequence[tuple[int, ...]],
    learn: Callable[[Sequence[int]], Fitted],
    score: Callable[[Sequence[int], dict[str, float]], Score],
) -> CrossValidation:
    """Learn from the worlds outside of each part, and score those in it."""
    folds = []
    for mine in split:
        rest = [i for part in split if part != mine for i in part]
        begin = time.perf_counter()
        fit = learn(sorted(rest))
        middle = time.perf_counter()
        found = score(mine, fit.weights)
        seconds = middle - begin, time.perf_counter() - middle
        folds.append(Fold(mine, fit.weights, fit.converged, found, *seconds))
    return CrossValidation(program, tuple(folds))
