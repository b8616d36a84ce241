"""What a command prints: answers on standard output, mistakes and caveats on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import typer

from plx.errors import Diagnostic, render
from plx.extras import library
from plx.saving import require_writable, save

if TYPE_CHECKING:
    from rich.console import Console

    from plx.answer.result import Result


class Format(StrEnum):
    """How figures are printed."""

    table = "table"
    json = "json"
    csv = "csv"


class AnswerFormat(StrEnum):
    """How answers are printed, or kept in a file."""

    table = "table"
    json = "json"
    csv = "csv"
    parquet = "parquet"


class GroundFormat(StrEnum):
    """How a ground model is printed: a report of it, or the model itself for other tools."""

    table = "table"
    json = "json"
    csv = "csv"
    uai = "uai"
    plx = "plx"


class TextOrJson(StrEnum):
    """How a report is printed that is no table."""

    text = "text"
    json = "json"


Form = TypeVar("Form", bound=StrEnum)


def form_of(asked: Form | None, output: Path | None, usual: Form) -> Form:
    """The form of an output: what is asked for, else what the suffix of its file says, else the usual one.

    Raises BadParameter where --format and the suffix say different things, or the file cannot be written.
    """
    if output is None:
        return asked or usual
    check_output(output)
    suffix = output.suffix[1:].lower()
    meant = type(usual)(suffix) if suffix in list(type(usual)) else None
    if asked and meant and asked is not meant:
        raise typer.BadParameter(f"--format {asked} contradicts the name of the file `{output}`")
    return asked or meant or usual


def check_output(output: Path) -> None:
    """Raises BadParameter if a file cannot be written; opens nothing."""
    try:
        require_writable(output)
    except OSError as error:
        raise _unwritable(output, error) from None


def _unwritable(output: Path, error: OSError) -> typer.BadParameter:
    missing = isinstance(error, FileNotFoundError)
    why = f"there is no folder `{output.parent}`" if missing else reason(error)
    return typer.BadParameter(f"{output}: {why}")


def json_text(data: dict[str, Any]) -> str:
    """Plain data as JSON; integers of any length."""
    sys.set_int_max_str_digits(0)
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2)


def reason(error: OSError) -> str:
    """Why a file cannot be read or written, in words."""
    return {"FileNotFoundError": "there is no such file", "IsADirectoryError": "this is a folder"}.get(
        type(error).__name__, (error.strerror or "it cannot be read").lower()
    )


def answer_form(asked: AnswerFormat | None, output: Path | None) -> AnswerFormat:
    """The form of answers, as `form_of`. Raises BadParameter for Parquet without a file, PlxError without its
    library."""
    form = form_of(asked, output, AnswerFormat.table)
    if form is AnswerFormat.parquet:
        if output is None:
            raise typer.BadParameter("--format parquet needs a file: -o answers.parquet")
        library("pyarrow", "Parquet files")
    return form


def say(notes: Sequence[Diagnostic]) -> None:
    """Caveats, on standard error."""
    for note in notes:
        sys.stderr.write(f"{note.severity}: {note.message}\n")


def print_result(result: Result, format: AnswerFormat, output: Path | None) -> None:
    """Print answers to standard output or to a file."""
    if format is AnswerFormat.table:
        put(_result_table(result, colour=output is None), output)
        return
    if format is AnswerFormat.parquet:
        from plx.answer.frames import to_parquet

        put(to_parquet(result), output)
    else:
        put(result.to_csv() if format is AnswerFormat.csv else result.to_json() + "\n", output)
    _say_caveats(result)


def _result_table(result: Result, colour: bool) -> str:
    from plx.answer.table import summary, table, warnings

    console = console_on(sys.stdout if colour else StringIO())
    doubts = warnings(result)
    with console.capture() as shown:
        console.print(table(result), "", sep="\n")
        for line in summary(result):
            console.print(line, style="yellow" if line in doubts else None, markup=False, highlight=False)
    return shown.get()


def _say_caveats(result: Result) -> None:
    """What a reader of JSON or CSV would otherwise have to look for."""
    from plx.answer.table import warnings

    if result.seed is not None:
        sys.stderr.write(f"seed {result.seed}\n")
    for note in result.notes:
        sys.stderr.write(f"note: {note}\n")
    for line in warnings(result):
        sys.stderr.write(f"warning: {line}\n")


def put(content: str | bytes, output: Path | None = None) -> None:
    """Write text to standard output, or text or bytes all at once to a file.

    Raises BadParameter if the file cannot be written, OSError if standard output cannot.
    """
    if output is None:
        sys.stdout.write(str(content))
        return
    try:
        save(output, content.encode("utf-8", "replace") if isinstance(content, str) else content)
    except OSError as error:
        raise _unwritable(output, error) from None


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
