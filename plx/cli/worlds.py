"""The program and the worlds that ``plx learn`` and ``plx score`` are called with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from plx.cli.arguments import Inputs, load
from plx.cli.output import complain
from plx.errors import Diagnostic

if TYPE_CHECKING:
    from plx.model import Model


def load_worlds(
    file: Path,
    data: Sequence[Path],
    choices: Mapping[str, object],
    bind: list[str] | None,
    max_ground: int | None,
    fit: Path | None = None,
) -> tuple[Model, list[Path] | None]:
    """A program with its worlds, None for those of the program itself.

    A Markov logic network has the databases as worlds. Raises BadParameter for a world that is no folder, or
    no database; else as `load`.
    """
    from plx.reading import is_translated

    if not is_translated(file):
        _require(data, file, "folder", Path.is_dir)
        told = {name: value for name, value in choices.items() if value}
        first = data[0] if data else None  # the program itself may name files that worlds alone have
        inputs = Inputs(file, bind, None, max_ground, choices=told, fit=fit, world=first)
        return load(inputs), [*data] or None
    if not data:
        raise typer.BadParameter(f"name the databases to learn from: {file} first.db second.db")
    _require(data, file, "file", Path.is_file)
    if not choices.get("hidden"):
        message = "atoms that a database does not list are taken to be false, as Alchemy does when it learns"
        complain(
            Diagnostic(message, hint="`--hidden P,Q` makes those of `P` and `Q` unknown", severity="note")
        )
    choices = {**choices, "world": "closed", "trained": choices.get("trained") or "all"}
    return load(Inputs(file, bind, [str(data[0])], max_ground, choices=choices, fit=fit)), [*data]


def _require(data: Sequence[Path], file: Path, what: str, is_one: Callable[[Path], bool]) -> None:
    for world in data:
        if not is_one(world):
            raise typer.BadParameter(f"the world {world} of {file}: there is no such {what}")
