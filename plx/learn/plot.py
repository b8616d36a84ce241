"""A fit as a figure: the path of its objective, and its numbers with their errors; scores by calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plx.answer.numbers import count_text
from plx.answer.panels import Colours, Panel, Theme, colours_of, figure_of
from plx.numerals import counted, shortened
from plx.values import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_ROWS = 40
"""More numbers than this are drawn without their names, in order of size."""

_MOST_PANELS = 12

Bins = tuple[tuple[float, float, int], ...]


class Drawn(NamedTuple):
    """What is drawn of a fit; an error is infinite where nothing decides a number."""

    headline: str
    objective: str
    path: Sequence[float]
    names: Sequence[str]
    value: FloatArray
    error: FloatArray


def fit_figure(fit: Drawn, theme: Theme = "light") -> Figure:
    """How the objective rose, and the learned numbers with 95 % intervals.

    Raises MissingLibraryError without matplotlib, CallError for another theme.
    """
    colours = colours_of(theme)
    steps = counted(len(fit.path) - 1, "step")
    shown: list[Panel] = [
        (f"log {fit.objective} and priors, {steps}", partial(_path, path=fit.path, colours=colours)),
        ("learned numbers, 95 % intervals", partial(_numbers, fit=fit, colours=colours)),
    ]
    return figure_of(shown, fit.headline, colours)


def calibration_figure(
    headline: str, functions: Sequence[tuple[str, Bins]], theme: Theme = "light"
) -> Figure:
    """Frequencies over probabilities, a panel for each random function. Raises as `fit_figure`."""
    colours = colours_of(theme)
    shown = list(_panels(functions[:_MOST_PANELS], colours))
    left_out = len(functions) - len(shown)
    told = f" · {count_text(left_out)} more functions are not drawn" if left_out else ""
    return figure_of(shown, headline + told, colours)


def _panels(functions: Sequence[tuple[str, Bins]], colours: Colours) -> Iterator[Panel]:
    for name, bins in functions:
        yield f"{name}: calibration", partial(_calibration, bins=bins, colours=colours)


def _path(axes: Axes, path: Sequence[float], colours: Colours) -> None:
    axes.plot(range(len(path)), path, color=colours.main, marker="o", markersize=2.5, linewidth=1.2)
    axes.set_xlabel("step")
    axes.ticklabel_format(axis="y", useOffset=False)


def _numbers(axes: Axes, fit: Drawn, colours: Colours) -> None:
    """Points with intervals; a number that nothing decides has none, and the other colour."""
    named = len(fit.value) <= _MOST_ROWS
    order = np.arange(len(fit.value)) if named else np.argsort(fit.value, kind="stable")
    value, known = fit.value[order], np.isfinite(fit.error[order])
    place = np.arange(len(value))[::-1]
    error = np.where(known, 1.96 * fit.error[order], 0.0)
    axes.errorbar(
        value, place, xerr=error, fmt="o", markersize=3, color=colours.main, ecolor=colours.faint, capsize=2
    )
    if not known.all():
        axes.plot(value[~known], place[~known], "o", markersize=3, color=colours.second, label="undecided")
        axes.legend(frameon=False, fontsize=8, labelcolor=colours.text)
    axes.axvline(0.0, color=colours.text, linewidth=0.8, linestyle="--")
    axes.set_xlabel("value")
    if named:
        size = 8 if len(value) < 20 else 5
        axes.set_yticks(place, [shortened(fit.names[k]) for k in order.tolist()], fontsize=size)
    else:
        axes.set_ylabel(f"{count_text(len(value))} numbers, by size")


def _calibration(axes: Axes, bins: Bins, colours: Colours) -> None:
    """Points on the diagonal are kept promises; bars are 95 % intervals of Wilson (1927)."""
    p, frequency, n = np.array(bins, dtype=np.float64).reshape(-1, 3).T
    low, high = _wilson(frequency, n)
    axes.plot([0, 1], [0, 1], color=colours.faint, linewidth=1, linestyle="--")
    error = [np.maximum(frequency - low, 0.0), np.maximum(high - frequency, 0.0)]
    axes.errorbar(
        p, frequency, yerr=error, fmt="o", markersize=4, color=colours.main, ecolor=colours.second, capsize=2
    )
    axes.set(xlabel="probability", ylabel="frequency", xlim=(0.0, 1.0), ylim=(0.0, 1.0))


def _wilson(frequency: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    z = 1.96
    middle = (frequency + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(frequency * (1 - frequency) / n + z * z / (4 * n * n))
    return middle - half, middle + half
