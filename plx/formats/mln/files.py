"""The statements of a .mln and of its databases, with the files that they include."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plx.errors import Diagnostic, Note, PlxError
from plx.formats.mln import tree
from plx.formats.mln.parser import Start, parse
from plx.formats.reader import read_source
from plx.source import Source


@dataclass
class Statements:
    """What the files say: the program in order, the evidence in order, and what cannot be read."""

    program: list[tree.Statement] = field(default_factory=list)
    evidence: list[tree.Statement] = field(default_factory=list)
    mistakes: list[Diagnostic] = field(default_factory=list)


def read_files(path: Path, databases: Sequence[Path]) -> Statements:
    """The statements of a network and of databases; ``#include`` is followed. Raises PlxError for the
    first file that is absent or no UTF-8 text."""
    found = Statements()
    _read(path, "statement", found, ())
    for database in databases:
        _read(database, "fact", found, ())
    return found


def _read(path: Path, start: Start, found: Statements, inside: tuple[Path, ...]) -> None:
    _parsed(read_source(path), path, start, found, (*inside, path.resolve()))


def _parsed(source: Source, path: Path, start: Start, found: Statements, inside: tuple[Path, ...]) -> None:
    statements, mistakes = parse(source, start)
    found.mistakes += mistakes
    for statement in statements:
        if not isinstance(statement, tree.Include):
            (found.evidence if start == "fact" else found.program).append(statement)
            continue
        try:
            _include(statement, path, found, inside)
        except PlxError as error:
            found.mistakes += error.diagnostics


def _include(statement: tree.Include, path: Path, found: Statements, inside: tuple[Path, ...]) -> None:
    target = path.parent / statement.path.text
    span = statement.path.span
    if target.suffix.lower() not in (".mln", ".db", ".func"):
        message = f"`{statement.path.text}` is no .mln or .db file: code of another language is not run"
        raise PlxError(Diagnostic(message, span))
    if target.resolve() in inside:
        raise PlxError(Diagnostic(f"`{statement.path.text}` includes itself", span))
    if not target.is_file():
        raise PlxError(Diagnostic(f"there is no file `{target}`", span))
    try:
        _read(target, "statement" if target.suffix.lower() == ".mln" else "fact", found, inside)
    except PlxError as error:
        first = error.diagnostics[0]
        raise PlxError(
            Diagnostic(first.message, first.span or span, first.hint, (Note("included here", span),))
        ) from None
