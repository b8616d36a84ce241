"""What the shell offers where the tab key is pressed: files, methods, codes, and names of the program."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

if TYPE_CHECKING:
    from plx.source import Source

Complete = Callable[[str], Iterable[str]]

MODELS: Final = (
    ".plx", ".mln", ".uai", ".bif", ".fg", ".xmlbif", ".bifxml", ".xml", ".net", ".json", ".cnf", ".wcnf",
)  # fmt: skip


def files(*suffixes: str) -> Complete:
    """The files with one of these suffixes that a word may become, and folders; all files for no suffix."""

    def complete(incomplete: str) -> Iterator[str]:
        folder, _, start = incomplete.rpartition("/")
        top = Path(folder or ("/" if incomplete.startswith("/") else "."))
        prefix = incomplete[: len(incomplete) - len(start)]
        found = [entry for entry in _entries(top) if entry.name.startswith(start)]
        found = [entry for entry in found if start or not entry.name.startswith(".")]
        fitting = [
            entry
            for entry in found
            if entry.is_dir() or not suffixes or Path(entry.name).suffix.lower() in suffixes
        ]
        for entry in sorted(fitting, key=lambda entry: entry.name):
            yield f"{prefix}{entry.name}{'/' if entry.is_dir() else ''}"
        if len(fitting) == 1 and fitting[0].is_dir():  # so that the shell adds no space
            yield from complete(f"{prefix}{fitting[0].name}/")

    return complete


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except OSError:
        return []


models = files(*MODELS)
programs = files(".plx")


def methods(incomplete: str) -> list[str]:
    """The ways to answer."""
    from plx import model

    return [name for name in model.methods() if name.startswith(incomplete)]


def codes(incomplete: str) -> list[str]:
    """The codes of warnings."""
    from plx.check.catalogue import CATALOGUE

    return [code for code in CATALOGUE if code.startswith(incomplete)]


def asked(context: typer.Context, incomplete: str) -> list[str]:
    """What a program can be asked: the queries that it has, and its random functions."""
    from plx.recipe import questions_of

    source = _source(context)
    return [] if source is None else [text for text in questions_of(source) if text.startswith(incomplete)]


def bound(context: typer.Context, incomplete: str) -> list[str]:
    """``NAME=`` for what a program can be given."""
    from plx.recipe import declared_names

    source = _source(context)
    if source is None or "=" in incomplete:
        return []
    return [f"{name}=" for name in declared_names(source) if name.startswith(incomplete)]


def _source(context: typer.Context) -> Source | None:
    """The program of a call, None if there is none yet."""
    from plx.source import Source

    file = context.params.get("file") or next(iter(context.args), "")
    try:
        path = Path(str(file))
        return Source(str(path), path.read_text(encoding="utf-8")) if path.suffix == ".plx" else None
    except (OSError, ValueError):
        return None
