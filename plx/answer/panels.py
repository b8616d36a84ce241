"""Panels in a figure, light or dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from plx.errors import CallError, Diagnostic
from plx.extras import library
from plx.numerals import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Theme = Literal["light", "dark"]


class Colours(NamedTuple):
    """Those of Okabe & Ito, which the colour-blind tell apart, on a background."""

    back: str
    text: str
    faint: str
    main: str
    second: str


THEMES: Final = {
    "light": Colours("#ffffff", "#1b1b1b", "#c9c9c9", "#0072b2", "#d55e00"),
    "dark": Colours("#16181d", "#e8e8e8", "#4a4d55", "#56b4e9", "#e69f00"),
}

_WIDTH, _HEIGHT = 4.6, 3.1
"""Inches of a panel."""

Panel = tuple[str, Callable[["Axes"], None]]
"""A title, and what draws."""


def colours_of(theme: Theme) -> Colours:
    """The colours of a theme. Raises CallError if there is no such theme."""
    if theme not in THEMES:
        message = f"there is no theme `{shortened(str(theme))}`"
        raise CallError(Diagnostic(message, hint="light or dark"))
    return THEMES[theme]


def figure_of(panels: Sequence[Panel], headline: str, colours: Colours) -> Figure:
    """A figure of panels, three in a row at most. Raises MissingLibraryError without matplotlib."""
    make = library("matplotlib.figure", "plots").Figure
    columns = min(3, max(1, len(panels)))
    rows = -(-max(1, len(panels)) // columns)
    drawn: Figure = make(figsize=(columns * _WIDTH, rows * _HEIGHT + 0.4), layout="constrained")
    drawn.set_facecolor(colours.back)
    axes = drawn.subplots(rows, columns, squeeze=False).ravel()
    for place, (title, draw) in zip(axes, panels, strict=False):
        _styled(place, colours)
        draw(place)
        place.set_title(shortened(title), fontsize=9, color=colours.text)
    for place in axes[len(panels) :]:
        place.set_axis_off()
    drawn.suptitle(headline, fontsize=9, color=colours.text)
    return drawn


def _styled(axes: Axes, colours: Colours) -> None:
    axes.set_facecolor(colours.back)
    axes.tick_params(colors=colours.text, labelsize=8)
    axes.xaxis.label.set_color(colours.text)
    axes.yaxis.label.set_color(colours.text)
    for side, spine in axes.spines.items():
        spine.set_color(colours.faint)
        spine.set_visible(side in ("left", "bottom"))
