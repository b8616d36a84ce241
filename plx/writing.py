"""Models → files of other tools, and of plx, by the suffix of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from plx.errors import CallError, Diagnostic
from plx.model import Model
from plx.origin import ForeignNetwork
from plx.saving import save

if TYPE_CHECKING:
    from plx.formats import UaiText
    from plx.graph.model import GroundModel


@dataclass(frozen=True)
class Written:
    """The text of a file, what to know of it, and the names for the file beside it."""

    text: str
    notes: tuple[Diagnostic, ...] = ()
    names: str | None = None


def network_text(grounded: GroundModel) -> Written:
    """A ground model in UAI's form, with the scale of its tables as a note."""
    from plx.formats import write_uai

    return _scaled(write_uai(grounded))


def _scaled(found: UaiText) -> Written:
    if not found.log_scale:
        return Written(found.text)
    return Written(found.text, (Diagnostic(_scale(found.log_scale), severity="note"),))


def _scale(log_scale: float) -> str:
    sign, size = "-+"[log_scale > 0], abs(log_scale)
    return f"log Z of the program = log Z of the file {sign} {size:.10g}"


def _numbered(model: Model, suffix: str) -> Written:
    """A form that knows unknowns by numbers, with names in a file of their own."""
    from plx.formats import write_fg, write_names, write_uai

    found = write_fg(model.ground) if suffix == ".fg" else write_uai(model.ground, named=False)
    return replace(_scaled(found), names=write_names(model.ground))


def _dimacs(model: Model, suffix: str) -> Written:
    from plx.formats import write_cnf, write_wcnf

    if suffix == ".cnf":
        return _scaled(write_cnf(model.ground))
    found = write_wcnf(model.ground)
    note = f"the log weight of a world = {found.log_scale:.10g} - what its clauses that fail cost"
    return Written(found.text, (Diagnostic(note, severity="note"),))


def _bayesian(model: Model, suffix: str) -> Written:
    from plx.formats import BAYESIAN_WRITERS, declared, found

    origin = model.origin
    network = declared(origin.network) if isinstance(origin, ForeignNetwork) else None
    network = network or found(model.ground, suffix)
    notes = [f"`{fact}` is observed, and not in the file" for fact in network.observed[:_SHOWN]]
    if len(network.observed) > _SHOWN:
        notes.append(f"{len(network.observed) - _SHOWN:,} more that are observed are not in the file")
    if abs(network.log_scale) > _ROUNDED:
        notes.append(_scale(network.log_scale))
    told = tuple(Diagnostic(note, severity="note") for note in notes)
    return Written(BAYESIAN_WRITERS[suffix](network), told)


def _program(model: Model) -> Written:
    return Written(model.origin.program_text())


_BAYESIAN: Final = (".bif", ".xmlbif", ".bifxml", ".xml", ".net")
_SHOWN: Final = 8
_ROUNDED: Final = 1e-9

WRITERS: Final[dict[str, Callable[[Model], Written]]] = {
    ".plx": _program,
    ".uai": partial(_numbered, suffix=".uai"),
    ".fg": partial(_numbered, suffix=".fg"),
    ".cnf": partial(_dimacs, suffix=".cnf"),
    ".wcnf": partial(_dimacs, suffix=".wcnf"),
    **{suffix: partial(_bayesian, suffix=suffix) for suffix in _BAYESIAN},
}
"""The writer of each suffix. A new format is one function, and one entry here."""


def write(model: Model, output: Path) -> tuple[Diagnostic, ...]:
    """Write a model to a file, by its suffix, and its names beside it where the form has numbers for names;
    gives back what to know of it.

    Raises PlxError for a model that cannot be written so, OSError if a file cannot be.
    """
    from plx.formats import names_file

    found = WRITERS[output.suffix.lower()](model)
    if found.names or (found.names is not None and names_file(output).exists()):
        save(names_file(output), found.names.encode("utf-8", "replace"))
    save(output, found.text.encode("utf-8", "replace"))
    return found.notes


def require_writer(path: Path, output: Path) -> None:
    """Raises CallError for a file that is not written, by its suffix, and for one that is its own source."""
    if output.suffix.lower() not in WRITERS:
        message = f"{output}: files are written that end in {', '.join(WRITERS)}"
        raise CallError(Diagnostic(message))
    if output.exists() and path.exists() and output.samefile(path):
        raise CallError(Diagnostic(f"{output} would be written over itself: give it another name"))
