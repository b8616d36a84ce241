"""How well a model predicts what was observed: log scores, accuracy, curves and calibration."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plx.answer.drawing import drawn
from plx.answer.numbers import error_text, number_text
from plx.answer.table import plain
from plx.graph.model import GroundModel, GroundQuery, Target
from plx.infer.inference import Inference
from plx.learn.log_z import LogZ, TooWideError
from plx.learn.others import from_others
from plx.learn.plot import calibration_figure
from plx.learn.tables import text_table
from plx.learn.worlds import World, log_likelihood
from plx.markup import html_table
from plx.values import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from plx.answer.panels import Theme

BINS = 10
"""Probabilities are put into so many bins of equal width to see whether they are kept."""

HEADINGS = ("random", "unknowns", "log score", "accuracy", "brier", "auc roc", "auc pr", "calibration")


@dataclass(frozen=True)
class FunctionScore:
    """How well one random function is predicted, each unknown by itself.

    ``log_score``: the mean log probability of what was observed. ``accuracy``: how often that was the most
    probable value. ``brier``: the mean squared distance of the distributions to what was observed, over two.
    ``auc_roc``, ``auc_pr``: the areas under the curves of a Boolean; None for others, or if it never varies.
    ``calibration``: by how much probabilities and frequencies differ, on average over bins; ``bins`` holds
    (mean probability, frequency, unknowns) of each.
    """

    name: str
    unknowns: int
    log_score: float
    accuracy: float
    brier: float
    auc_roc: float | None
    auc_pr: float | None
    calibration: float
    bins: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """The scores of random functions, and the log-likelihood of the worlds, None where it is out of reach.

    ``measure`` says what it is: ``log likelihood`` or ``log pseudo-likelihood``; ``log_likelihood_error`` is
    the Monte-Carlo standard error where log Z was estimated by draws, else 0.
    """

    program: str
    functions: tuple[FunctionScore, ...]
    log_likelihood: float | None
    method: str
    measure: str = "log likelihood"
    log_likelihood_error: float = 0.0

    def __getitem__(self, name: str) -> FunctionScore:
        """The score of a random function. Raises KeyError."""
        return next((one for one in self.functions if one.name == name), None) or _missing(name)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain lists and dicts; -inf is None."""
        rows = [{**vars(one), "log_score": _finite(one.log_score)} for one in self.functions]
        return {
            "program": self.program,
            "log_likelihood": None if self.log_likelihood is None else _finite(self.log_likelihood),
            "measure": self.measure,
            "log_likelihood_error": self.log_likelihood_error,
            "method": self.method,
            "functions": rows,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    @property
    def summary(self) -> str:
        """The line below the table."""
        far = "out of reach (the pseudo-likelihood, from all others, takes no draws)"
        if "tempered" not in self.method:
            far = f"{far[:-1]}; method tempered estimates it)"
        value = far if self.log_likelihood is None else f"{self.log_likelihood:.6f}"
        if self.log_likelihood is not None and self.log_likelihood_error:
            value = number_text(self.log_likelihood, self.log_likelihood_error)
            value += f" ± {error_text(self.log_likelihood_error)}, an estimate"
        return f"{self.measure} of the worlds {value}; probabilities by {self.method}"

    def plot(self, path: str | os.PathLike[str] | None = None, theme: Theme = "light") -> Figure:
        """A matplotlib figure of calibration, ``light`` or ``dark``; written to a file where a path is given.

        Raises CallError, an ImportError where matplotlib is not installed; PlxError where the file cannot be
        written, or matplotlib does not know its suffix.
        """
        return drawn(
            lambda: calibration_figure(self.program, [(one.name, one.bins) for one in self.functions], theme),
            path,
        )

    def __repr__(self) -> str:
        return plain(table(self), [self.summary])

    def _repr_html_(self) -> str:
        return html_table(HEADINGS, map(_row, self.functions), [self.summary])


def table(score: Score) -> Table:
    """The scores as a Rich table."""
    return text_table(HEADINGS, map(_row, score.functions), ("random",))


def _missing(name: str) -> FunctionScore:
    raise KeyError(f"`{name}` was not predicted")


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _row(one: FunctionScore) -> list[str]:
    numbers = (one.log_score, one.accuracy, one.brier, one.auc_roc, one.auc_pr, one.calibration)
    return [one.name, f"{one.unknowns:,}", *("" if value is None else f"{value:.4f}" for value in numbers)]


# ---------------------------------------------------------------------------- asking


class Predicted(NamedTuple):
    """The distribution of each unknown of a world that was observed, and how it was found.

    ``log_likelihood`` is that of the world, None where it is out of reach, with the error of an estimate.
    """

    chances: Sequence[FloatArray]
    method: str
    log_likelihood: float | None
    log_likelihood_error: float = 0.0


def inferred(world: World, answer: Callable[[GroundModel], Inference]) -> Predicted:
    """Each unknown predicted by itself, by what answers the queries of `asking`."""
    found = answer(asking(world))
    value, error = log_likelihood([world]), 0.0
    if value is None and found.log_z is not None:
        seen, spread = _log_z_seen(world, answer)
        value, error = None if seen is None else seen - found.log_z, math.hypot(found.log_z_mcse, spread)
    return Predicted([np.asarray(one.p).ravel() for one in found.answers], found.method, value, error)


def _log_z_seen(world: World, answer: Callable[[GroundModel], Inference]) -> tuple[float | None, float]:
    """log Z with what was observed, and its standard error where it is an estimate."""
    try:
        return LogZ(world.seen, ())(np.empty(0))[0], 0.0
    except TooWideError:
        found = answer(replace(world.seen, queries=(GroundQuery("logz", "logz", "logz", (), (), None),)))
        return found.log_z, found.log_z_mcse


def conditioned(world: World) -> Predicted:
    """Each unknown predicted from all others. Raises PlxError where something is hidden."""
    chances, value = from_others(world)
    return Predicted(chances, "conditionals given all others", value)


def asking(world: World) -> GroundModel:
    """The world without its observations, asked for each unknown that was observed."""
    model = world.free
    queries = tuple(
        GroundQuery("distribution", name, name, (Target(v, model.atoms.states(v)),), (), None)
        for v in np.flatnonzero(world.states >= 0).tolist()
        for name in [model.atoms.name(int(model.atoms.atom_of[v]))]
    )
    return replace(model, queries=queries)


def score(
    program: str,
    worlds: Sequence[World],
    predict: Callable[[World], Predicted],
    measure: str = "log likelihood",
) -> Score:
    """The scores over worlds, as ``predict`` predicts each of them."""
    chances: dict[str, list[FloatArray]] = {}
    seen: dict[str, list[int]] = {}
    boolean: dict[str, bool] = {}
    methods: dict[str, None] = {}
    values: list[float | None] = []
    error = 0.0
    for world in worlds:
        found = predict(world)
        methods.setdefault(found.method)
        values.append(found.log_likelihood)
        error = math.hypot(error, found.log_likelihood_error)
        atoms = world.free.atoms
        blocks = np.array([block.first for block in atoms.blocks])
        for v, p in zip(np.flatnonzero(world.states >= 0).tolist(), found.chances, strict=True):
            name = atoms.blocks[int(np.searchsorted(blocks, atoms.atom_of[v], side="right")) - 1].name
            chances.setdefault(name, []).append(p)
            seen.setdefault(name, []).append(int(world.states[v]))
            boolean[name] = boolean.get(name, True) and atoms.states(v).tolist() == [0, 1]
    functions = tuple(
        function_score(name, chances[name], np.array(seen[name]), boolean[name]) for name in chances
    )
    known = [value for value in values if value is not None]
    total = sum(known) if len(known) == len(values) else None
    return Score(program, functions, total, ", ".join(methods), measure, error)


def function_score(name: str, chances: Sequence[FloatArray], seen: IntArray, boolean: bool) -> FunctionScore:
    """The score of distributions against the states that were observed."""
    hit = np.array([p[s] for p, s in zip(chances, seen, strict=True)])
    with np.errstate(divide="ignore"):
        log_score = float(np.log(hit).mean())
    right = np.array([p.argmax() == s for p, s in zip(chances, seen, strict=True)])
    squares = np.array([p @ p for p in chances])
    brier = float(((squares - 2 * hit + 1) / 2).mean())
    top = np.array([p[1] for p in chances]) if boolean else np.array([p.max() for p in chances])
    true = seen == 1 if boolean else right
    bins = _bins(top, true)
    off = sum(n * abs(p - f) for p, f, n in bins) / len(seen)
    roc = auc_roc(top, true) if boolean else None
    precision = auc_pr(top, true) if boolean else None
    return FunctionScore(name, len(seen), log_score, float(right.mean()), brier, roc, precision, off, bins)


def _bins(p: FloatArray, true: IntArray) -> tuple[tuple[float, float, int], ...]:
    number = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    return tuple(
        (float(p[number == b].mean()), float(true[number == b].mean()), int((number == b).sum()))
        for b in np.unique(number)
    )


def pooled(bins: Sequence[tuple[tuple[float, float, int], ...]]) -> tuple[tuple[float, float, int], ...]:
    """The bins of several scores of one function as those of all unknowns together."""
    rows = np.array([row for one in bins for row in one], dtype=np.float64).reshape(-1, 3)
    number = np.minimum((rows[:, 0] * BINS).astype(np.int64), BINS - 1)
    found = []
    for b in np.unique(number):
        p, frequency, n = rows[number == b].T
        found.append((float(p @ n / n.sum()), float(frequency @ n / n.sum()), int(n.sum())))
    return tuple(found)


def auc_roc(p: FloatArray, true: IntArray) -> float | None:
    """The chance that a true unknown has a higher probability than a false one, ties counted half.

    None without both (Mann & Whitney 1947).
    """
    number = _ranks(p)
    below = np.bincount(number, ~true, len(p))
    above = np.bincount(number, true, len(p))
    if not below.sum() or not above.sum():
        return None
    smaller = np.cumsum(below) - below
    return float(above @ (smaller + below / 2) / (below.sum() * above.sum()))


def auc_pr(p: FloatArray, true: IntArray) -> float | None:
    """Average precision: the mean precision at the thresholds of the true unknowns; None without any."""
    number = _ranks(p)
    number = number.max(initial=0) - number
    hits = np.bincount(number, true)
    if not hits.sum():
        return None
    precision = np.cumsum(hits) / np.cumsum(np.bincount(number))
    return float(hits @ precision / hits.sum())


def _ranks(p: FloatArray) -> IntArray:
    """The place of each among the probabilities that differ by more than rounding, from 0."""
    order = np.argsort(p, kind="stable")
    rank = np.empty(len(p), dtype=np.int64)
    rank[order] = np.cumsum(np.diff(p[order], prepend=p[order][:1]) > _TIED * p[order])
    return rank


_TIED = 1e-9
"""Probabilities that are relatively closer than this are equal."""
