"""What a command prints: answers on standard output, mistakes and caveats on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from plx.errors import Diagnostic, render

if TYPE_CHECKING:
    from rich.console import Console

    from plx.answer.result import Result

INTERRUPTED = 130
"""The exit code of a run that Ctrl-C ended, as shells have it."""


UNCONVERGED = 3
"""The exit code of a run with ``--strict`` of which an answer is unknown or has not converged."""


class Format(StrEnum):
    """How answers are printed."""

    table = "table"
    json = "json"
    csv = "csv"


class GroundFormat(StrEnum):
    """How a ground model is printed: a report of it, or the model itself for other tools."""

    table = "table"
    json = "json"
    csv = "csv"
    uai = "uai"


class TextOrJson(StrEnum):
    """How a report is printed that is no table."""

    text = "text"
    json = "json"


def json_text(data: dict[str, Any]) -> str:
    """Plain data as JSON; integers of any length."""
    sys.set_int_max_str_digits(0)
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2)


def reason(error: OSError) -> str:
    """Why a file cannot be read or written, in words."""
    return {"FileNotFoundError": "there is no such file", "IsADirectoryError": "this is a folder"}.get(
        type(error).__name__, (error.strerror or "it cannot be read").lower()
    )


def print_result(result: Result, format: Format, output: Path | None) -> None:
    """Print answers to standard output or to a file."""
    with opened(output) as stream:
        if format is Format.table:
            _print_table(result, stream)
            return
        stream.write(result.to_csv() if format is Format.csv else result.to_json() + "\n")
    _say_caveats(result)


def _print_table(result: Result, stream: TextIO) -> None:
    from plx.answer.table import summary, table, warnings

    console = console_on(stream)
    console.print(table(result), "", sep="\n")
    doubts = warnings(result)
    for line in summary(result):
        console.print(line, style="yellow" if line in doubts else None, markup=False, highlight=False)


def _say_caveats(result: Result) -> None:
    """What a reader of JSON or CSV would otherwise have to look for."""
    from plx.answer.table import warnings

    if result.seed is not None:
        sys.stderr.write(f"seed {result.seed}\n")
    for line in warnings(result):
        sys.stderr.write(f"warning: {line}\n")


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C where there is no answer yet."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before there was an answer\n")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def opened(output: Path | None) -> Iterator[TextIO]:
    """A file to write to, standard output for None; BadParameter if it cannot be written."""
    if output is None:
        yield sys.stdout
        return
    try:
        stream = output.open("w", encoding="utf-8", newline="")
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        why = f"there is no folder `{output.parent}`" if missing else reason(error)
        raise typer.BadParameter(f"{output}: {why}") from None
    with stream:
        yield stream


def console_on(stream: TextIO) -> Console:
    """A console as wide as the terminal, or as wide as its text where there is none."""
    from rich.console import Console

    width = None if stream.isatty() or "COLUMNS" in os.environ else 1000
    return Console(file=stream, width=width)


def warn(message: Warning | str, *place: object, **more: object) -> None:
    """A `warnings.showwarning` that leaves out the place in the code."""
    sys.stderr.write(f"warning: {message}\n")


def complain(*diagnostics: Diagnostic) -> None:
    """Diagnostics on standard error, in colour on a terminal that wants it."""
    for diagnostic in diagnostics:
        text = render(diagnostic)
        if not sys.stderr.isatty():
            sys.stderr.write(text + "\n\n")
            continue
        from rich.text import Text

        shown = Text(text + "\n")
        shown.highlight_words([f"{diagnostic.severity}:"], "bold red")
        shown.highlight_words(["hint:", "note:"], "bold cyan")
        console_on(sys.stderr).print(shown, soft_wrap=True)
