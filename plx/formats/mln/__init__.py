"""Markov logic networks: .mln with .db, as Alchemy, Tuffy, rockIt and pracmln write them → programs of
plx."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plx.errors import Diagnostic, PlxError
from plx.formats.mln.choices import Choices, chosen
from plx.formats.mln.collect import collect
from plx.formats.mln.files import read_files
from plx.formats.mln.program import translate
from plx.formats.mln.text import text_of
from plx.formats.translated import Translated
from plx.source import Source
from plx.syntax import ast

__all__ = ["Choices", "chosen", "read_mln"]


def read_mln(path: Path, evidence: Sequence[str], **options: object) -> Translated:
    """The program of a Markov logic network and of the databases with its evidence.

    ``options`` are those of `Choices`. Raises PlxError with every mistake in the files and with
    everything in them that plx does not do, CallError for an option that there is not.
    """
    choices = chosen(**options)
    databases = [_database(item) for item in evidence]
    statements = read_files(path, databases)
    if not statements.program and not statements.mistakes:
        raise PlxError(Diagnostic(f"{path} is empty: it declares nothing and has no rule"))
    network = collect(statements, choices)
    found = translate(network, choices)
    module = ast.Module(found.statements, Source(str(path), ""))
    files = [path.name, *(database.name for database in databases)]
    return Translated(module, text_of(found, files), found.notes)


def _database(item: str) -> Path:
    path = Path(item)
    if not path.is_file() and "=" in item:
        message = f"evidence on a Markov logic network is a database, not `{item}`"
        raise PlxError(Diagnostic(message, hint="write `Smokes(Anna)` or `!Smokes(Anna)` into a file.db"))
    return path
