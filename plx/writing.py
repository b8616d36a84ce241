"""Models → files of other tools, and of plx, by the suffix of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from plx.errors import CallError, Diagnostic
from plx.model import Model

if TYPE_CHECKING:
    from plx.formats import UaiText
    from plx.graph.model import GroundModel


@dataclass(frozen=True)
class Written:
    """The text of a file, and what to know of it."""

    text: str
    notes: tuple[Diagnostic, ...] = ()


def network_text(grounded: GroundModel) -> Written:
    """A ground model in UAI's form, with the scale of its tables as a note."""
    from plx.formats import write_uai

    return _scaled(write_uai(grounded))


def _scaled(found: UaiText) -> Written:
    if not found.log_scale:
        return Written(found.text)
    sign, size = "-+"[found.log_scale > 0], abs(found.log_scale)
    note = f"log Z of the program = log Z of the file {sign} {size:.10g}"
    return Written(found.text, (Diagnostic(note, severity="note"),))


def _network(model: Model) -> Written:
    return network_text(model.ground)


def _factor_graph(model: Model) -> Written:
    from plx.formats import write_fg

    return _scaled(write_fg(model.ground))


def _program(model: Model) -> Written:
    return Written(model.origin.program_text())


WRITERS: Final[dict[str, Callable[[Model], Written]]] = {
    ".plx": _program,
    ".uai": _network,
    ".fg": _factor_graph,
}
"""The writer of each suffix. A new format is one function, and one entry here."""


def written(model: Model, suffix: str) -> Written:
    """A model as a file with this suffix. Raises PlxError for a model that cannot be written so."""
    return WRITERS[suffix.lower()](model)


def require_writer(path: Path, output: Path) -> None:
    """Raises CallError for a file that is not written, by its suffix, and for one that is its own source."""
    if output.suffix.lower() not in WRITERS:
        message = f"{output}: files are written that end in {', '.join(WRITERS)}"
        raise CallError(Diagnostic(message))
    if output.exists() and path.exists() and output.samefile(path):
        raise CallError(Diagnostic(f"{output} would be written over itself: give it another name"))
