"""Pictures as files: what can be drawn, and how it is written."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from plx.errors import Diagnostic, PlxError
from plx.extras import library
from plx.saving import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def require_plot(path: Path) -> None:
    """Look whether a plot can be drawn, before time is spent on what it shows.

    Raises PlxError if matplotlib is not installed or does not know the format, or there is no such folder.
    """
    known = library("matplotlib.backend_bases", "plots").FigureCanvasBase.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        message = f"there is no plot format `{path.suffix}`"
        raise PlxError(Diagnostic(message, hint=f"formats: {', '.join(sorted(known))}"))
    if not path.parent.is_dir():
        raise PlxError(Diagnostic(f"there is no folder `{path.parent}` for the plot"))


SVG = {"svg.fonttype": "none", "svg.hashsalt": "plx"}
"""Text stays text, which is small and can be searched, and the same figure is the same file."""

NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def drawn(draw: Callable[[], Figure], path: str | os.PathLike[str] | None) -> Figure:
    """A figure, written to a file where a path is given. Raises as `require_plot` and `save_plot`."""
    if path is not None:
        require_plot(Path(path))
    figure = draw()
    if path is not None:
        save_plot(figure, Path(path))
    return figure


def save_plot(figure: Figure, path: Path) -> None:
    """Write a figure; the suffix of the path is the format. Raises PlxError where it cannot be written."""
    drawn, suffix = io.BytesIO(), path.suffix[1:].lower()
    metadata = NO_METADATA if suffix in ("svg", "svgz") else None
    with library("matplotlib", "plots").rc_context(SVG):
        figure.savefig(drawn, format=suffix, facecolor=figure.get_facecolor(), metadata=metadata)
    save_drawn(drawn.getvalue(), path, "plot")


def save_drawn(content: bytes, path: Path, what: str) -> None:
    """Write a file at once. Raises PlxError, which says ``what`` it is, where it cannot be written."""
    try:
        save(path, content)
    except OSError as error:
        raise PlxError(Diagnostic(f"the {what} `{path}` cannot be written: {error.strerror}")) from None
