"""A result as a figure: what each query is about has a panel, with its standard errors."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from plx.answer.drawing import NO_METADATA, SVG
from plx.answer.grid import Grid, grids
from plx.answer.named import NamedAnswer, NamedAnswers
from plx.answer.numbers import count_text, error_text, number_text
from plx.answer.panels import THEMES, Colours, Panel, Theme, colours_of, figure_of
from plx.extras import library
from plx.numerals import shortened
from plx.values import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_BARS = 40
"""More estimates than this are a curve, in order of size, with a band for the errors."""

_MOST_PANELS = 12
_MOST_TRACES = 3
_MOST_ROWS = 12
_MOST_TICKS = 16
_LINE = 40
"""Characters that fit below a heat map."""


def figure(result: NamedAnswers, theme: Theme = "light") -> Figure:
    """A panel for each query with its instances, one for R-hat and effective sizes, running means of draws.

    Raises MissingLibraryError without matplotlib, CallError for another theme.
    """
    colours = colours_of(theme)
    panels = list(_panels(result, colours))
    headline = _headline(result, len(panels) - _MOST_PANELS)
    return figure_of(panels[:_MOST_PANELS], headline, colours)


def svg(result: NamedAnswers) -> str:
    """The figure as an SVG element for inside of a page, which gives its colours as CSS variables.

    They are ``--plot-back``, ``-text``, ``-faint``, ``-main`` and ``-second``. Raises MissingLibraryError
    without matplotlib.
    """
    drawn = io.StringIO()
    with library("matplotlib", "plots").rc_context(SVG):
        figure(result).savefig(drawn, format="svg", metadata=NO_METADATA)
    text = drawn.getvalue()
    return _TAG.sub(_themed, text[text.index("<svg") :])


_TAG = re.compile(r"<[^>]+>")


def _themed(tag: re.Match[str]) -> str:
    found = tag[0]
    for name, colour in THEMES["light"]._asdict().items():
        found = found.replace(colour, f"var(--plot-{name})")
    return found


def variables(theme: Theme) -> str:
    """The variables of `svg` as CSS declarations."""
    return " ".join(f"--plot-{name}: {colour};" for name, colour in THEMES[theme]._asdict().items())


def _headline(result: NamedAnswers, left_out: int) -> str:
    parts = [result.program, result.inference.method]
    if not result.converged:
        parts.append("not converged")
    if left_out > 0:
        parts.append(f"{count_text(left_out)} more panels are not drawn")
    return " · ".join(parts)


def _panels(result: NamedAnswers, colours: Colours) -> Iterator[Panel]:
    counts = {q.name: q for q in result.queries if q.kind == "number" and not q.slots and q.estimates}
    for found in grids(result):
        if found.term in counts:
            yield found.term, partial(_distribution, query=counts[found.term], colours=colours)
        elif not np.isnan(found.arrays["estimate"]).all():
            yield found.term, partial(_draw_grid, found=found, colours=colours)
    numbers = [query for query in result.queries if query.drawn and _track(query) is not None]
    for query in numbers[:_MOST_TRACES]:
        yield f"{query.name}: running mean of each chain", partial(_trace, query=query, colours=colours)
    sampled = [query for query in result.queries if query.ess is not None]
    if sampled:
        yield "the smallest effective sizes", partial(_table, queries=sampled, colours=colours)
    if not result.queries:
        yield "no queries", lambda axes: axes.set_axis_off()


# ------------------------------------------------------------------------------ estimates


def _draw_grid(axes: Axes, found: Grid, colours: Colours) -> None:
    estimate, mcse = found.arrays["estimate"], found.arrays["mcse"]
    names = [[_label(value) for value in values] for values in found.coordinates.values()]
    sizes = [n for n in estimate.shape if n > 1]
    if len(sizes) == 2 and max(sizes) <= 200:
        flat = [axis for axis, n in zip(names, estimate.shape, strict=True) if n > 1]
        titles = [title for title, n in zip(found.coordinates, estimate.shape, strict=True) if n > 1]
        least = None if found.kind == "number" else 0.0
        return _heat(axes, flat, titles, estimate.reshape(sizes), mcse.reshape(sizes), least, colours)
    known = ~np.isnan(estimate.ravel())
    told = [k for k, n in enumerate(estimate.shape) if n > 1]  # what all have in common is left out
    labels = [", ".join(names[k][at[k]] for k in told) for at in np.ndindex(estimate.shape)]
    shown = [label or found.term for label, here in zip(labels, known, strict=True) if here]
    bounded = found.kind != "number"
    return _bars(axes, shown, estimate.ravel()[known], mcse.ravel()[known], colours, bounded)


def _distribution(axes: Axes, query: NamedAnswer, colours: Colours) -> None:
    """The distribution of a number, with its mean and the standard error of that."""
    assert query.moments is not None
    value = np.array([float(estimate.value) for estimate in query.estimates])  # type: ignore[arg-type]
    p = np.array([estimate.p for estimate in query.estimates])
    error = np.nan_to_num([estimate.mcse for estimate in query.estimates], posinf=0.0)
    order = np.argsort(value, kind="stable")
    order = order[slice(*_likely(p[order]))]  # what is left out would not be seen
    value, p, error = value[order], p[order], error[order]
    if len(value) <= _MOST_BARS:
        width = 0.8 * float(np.diff(value).min()) if len(value) > 1 else 0.8
        errors = error if error.any() else None
        axes.bar(value, p, width=width, color=colours.main, yerr=errors, ecolor=colours.second)
    else:
        axes.fill_between(value, p, step="mid", color=colours.main, linewidth=0)
        if error.any():
            low = np.maximum(p - error, 0.0)
            axes.fill_between(value, low, p + error, step="mid", color=colours.second, alpha=0.4, linewidth=0)
    mean, mcse = query.moments.mean, query.moments.mcse
    told = f"mean {number_text(mean, mcse)}" + (f" ± {error_text(mcse)}" if mcse else "")
    axes.axvline(mean, color=colours.text, linewidth=1, linestyle="--", label=told)
    axes.legend(frameon=False, fontsize=8, labelcolor=colours.text)
    axes.set(ylabel="probability", ylim=(0.0, None))


def _likely(p: FloatArray) -> tuple[int, int]:
    """The first and one past the last value of a thousandth or more of the largest probability."""
    seen = np.flatnonzero(p >= p.max() / 1000)
    return int(seen[0]), int(seen[-1]) + 1


def _bars(
    axes: Axes, labels: Sequence[str], value: FloatArray, error: FloatArray, colours: Colours, bounded: bool
) -> None:
    """Bars with the standard error either way; very many are a curve in order of size."""
    error = np.nan_to_num(error, posinf=0.0)
    axes.set_xlabel("probability" if bounded else "mean")
    if len(value) > _MOST_BARS:
        order = np.argsort(value, kind="stable")
        rank = np.arange(len(value))
        axes.plot(value[order], rank, color=colours.main, linewidth=1.2)
        axes.fill_betweenx(
            rank, (value - error)[order], (value + error)[order], color=colours.main, alpha=0.3, linewidth=0
        )
        axes.set_ylabel(f"{count_text(len(value))} answers, by size")
    else:
        place = np.arange(len(value))[::-1]
        sampled = error.any()
        axes.barh(
            place,
            value,
            xerr=error if sampled else None,
            color=colours.main,
            ecolor=colours.second,
            capsize=2,
        )
        axes.set_yticks(place, [shortened(label) for label in labels], fontsize=8 if len(labels) < 20 else 5)
        axes.set_ylim(-0.5 - max(0, 4 - len(value)) / 2, len(value) - 0.5 + max(0, 4 - len(value)) / 2)
    if bounded:
        axes.set_xlim(0.0, 1.0)


def _heat(
    axes: Axes,
    labels: Sequence[Sequence[str]],
    titles: Sequence[str],
    value: FloatArray,
    error: FloatArray,
    least: float | None,
    colours: Colours,
) -> None:
    """A map of two indexes, whose colours begin at ``least`` if there is one; what was not asked stays empty,
    and the largest standard error is told."""
    shown = np.ma.masked_invalid(value)
    image = axes.imshow(shown, cmap="cividis", vmin=least, aspect="auto", interpolation="nearest")
    if labels:
        for axis, names in ((axes.yaxis, labels[0]), (axes.xaxis, labels[1])):
            step = -(-len(names) // _MOST_TICKS)
            at = range(0, len(names), step)
            axis.set_ticks([*at], [shortened(names[i]) for i in at], fontsize=8)
        ticks = axes.get_xticklabels()
        crowded = sum(len(label.get_text()) + 1 for label in ticks) > _LINE
        axes.tick_params(axis="x", labelrotation=90 if crowded else 0)
    worst = float(np.nanmax(np.where(np.isfinite(error), error, np.nan), initial=0.0))
    axes.set_ylabel(titles[0])
    axes.set_xlabel(titles[1] + (f" (± {worst:.2g} at most)" if worst else ""))
    bar = axes.figure.colorbar(image, ax=axes)
    bar.ax.tick_params(colors=colours.text, labelsize=8)
    bar.outline.set_edgecolor(colours.faint)


def _label(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_label, value))})"
    return str(value).lower() if isinstance(value, bool) else str(value)


# ------------------------------------------------------------------------- how it was sampled


def _track(query: NamedAnswer) -> FloatArray | None:
    """What was drawn of a query as numbers, shape (chains, draws); None for symbols and joint queries."""
    if len(query.drawn) != 1 or query.drawn[0].kind is str:
        return None
    return query.drawn[0].array().astype(np.float64)


def _trace(axes: Axes, query: NamedAnswer, colours: Colours) -> None:
    drawn = _track(query)
    assert drawn is not None
    draws = np.arange(1, drawn.shape[1] + 1)
    running = np.cumsum(drawn, axis=1) / draws
    axes.plot(draws, running.T, color=colours.main, alpha=0.35, linewidth=0.7)
    axes.plot(draws, running.mean(axis=0), color=colours.second, linewidth=1.5, label="all chains")
    axes.set_xlabel("draws of a chain")
    axes.legend(frameon=False, fontsize=8, labelcolor=colours.text)


def _table(axes: Axes, queries: Sequence[NamedAnswer], colours: Colours) -> None:
    worst = sorted(queries, key=lambda query: query.ess or 0.0)[:_MOST_ROWS]
    cells = [
        [
            shortened(query.name),
            count_text(query.ess or 0.0),
            "inf" if query.rhat is None else f"{query.rhat:.3f}",
        ]
        for query in worst
    ]
    axes.set_axis_off()
    table = axes.table(
        cells, colLabels=["query", "ESS", "R-hat"], loc="upper center", colWidths=[0.6, 0.2, 0.2]
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    for (row, _), cell in table.get_celld().items():
        doubtful = row > 0 and not worst[row - 1].converged
        cell.set(facecolor=colours.back, edgecolor=colours.faint)
        cell.set_text_props(color=colours.second if doubtful else colours.text)
