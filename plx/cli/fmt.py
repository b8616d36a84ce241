"""``plx fmt``: programs in canonical layout."""

from __future__ import annotations

import sys
from difflib import unified_diff
from pathlib import Path
from typing import Annotated

import typer

from plx.cli.arguments import Programs, content, name_of, programs
from plx.cli.output import check_output, complain, put
from plx.errors import PlxError


def fmt(
    files: Programs,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a program would change.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; show what would change.")] = False,
) -> None:
    """Lay programs out in the canonical way, keeping every word and comment. From - to standard output.

    Example: `plx fmt examples/*.plx`, `plx fmt --check .`
    """
    for file in files:
        if not (check or diff or str(file) == "-" or file.is_dir()):
            check_output(file)
    outcomes = [_format(file, check, diff) for file in programs(files)]
    if "wrong" in outcomes or (check and "changed" in outcomes):
        raise typer.Exit(1)


def _format(file: Path, check: bool, diff: bool) -> str:
    """Format a file, or say what would change: ``same``, ``changed`` or ``wrong``."""
    from plx.decoding import decode
    from plx.formatting import formatted
    from plx.syntax.foreign_files import refuse_content

    name, before = name_of(file), content(file)
    try:
        refuse_content(name, before)
        source = decode(name, before)
        after = formatted(source)
    except PlxError as error:
        complain(*error.diagnostics)
        return "wrong"
    changed = after.encode() != before
    if diff:
        _show(source.text, after, name)
    elif check:
        sys.stderr.write(f"{name}: would be laid out anew\n" if changed else "")
    elif str(file) == "-":
        put(after)
    elif changed:
        put(after, file)
        put(f"{name}: laid out anew\n")
    return "changed" if changed else "same"


def _show(before: str, after: str, name: str) -> None:
    lines = unified_diff(before.splitlines(), after.splitlines(), name, f"{name} (formatted)", lineterm="")
    put("".join(line + "\n" for line in lines))
