"""The page of the command line, written from the commands: ``python -m tests.docs.commands`` does it anew."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from plx.cli.commands import app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"

_HEAD = """# Command line

`plx COMMAND --help` prints what this page lists, and `plx --version` the version. `-` in the place of a file
reads standard input.

| exit code | |
| --- | --- |
| 0 | done |
| 1 | the program is at fault, or something was found |
| 2 | the call is at fault |
| 3 | an answer is not known or has not converged, with `--strict` only |
| 130 | interrupted with Ctrl-C; the answers so far have been printed |
| 141 | nobody reads the output any more |

Mistakes and notes go to standard error, answers to standard output. Colours go off with `NO_COLOR`. This
page is written by `python -m tests.docs.commands`.
"""

_VALUES = {int: "N", float: "X", str: "TEXT", Path: "FILE"}


def page() -> str:
    """The whole page."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return _HEAD + "".join(
        _section(name, command) for name, command in commands.items() if not command.hidden
    )


def _section(name: str, command: Any) -> str:
    kinds = typing.get_type_hints(command.callback)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [
        p for p in command.params if p.param_type_name == "option" and not p.hidden and p.name != "help"
    ]
    call = " ".join(["plx", name, *(_placeholder(p) for p in arguments), *(["[OPTIONS]"] if options else [])])
    parts = [f"\n## plx {name}\n", f"```sh\n{call}\n```\n", f"{command.help}\n"]
    rows = [(f"`{_placeholder(p)}`", p.help) for p in arguments if p.help]
    rows += [(_names(p, kinds[p.name]), f"{p.help or ''}{_default(p)}") for p in options]
    if rows:
        table = "".join(f"| {given} | {_cell(meaning)} |\n" for given, meaning in rows)
        parts.append(f"| | |\n| --- | --- |\n{table}")
    return "\n".join(parts)


def _placeholder(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _names(option: Any, kind: object) -> str:
    """Its names, and what it takes."""
    value = option.metavar or next(filter(None, map(_value, _plain(kind))), "")
    names = [*option.opts, *option.secondary_opts]
    return _cell(", ".join(f"`{name} {value}`" if value else f"`{name}`" for name in names))


def _plain(kind: object) -> Iterator[object]:
    """The types in an annotation, those of lists and of what may be left out too."""
    if typing.get_origin(kind) in (list, typing.Union, types.UnionType):
        for part in typing.get_args(kind):
            yield from _plain(part)
    else:
        yield kind


def _value(kind: object) -> str:
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "|".join(str(member.value) for member in kind)
    return _VALUES.get(kind, "")  # type: ignore[call-overload]


def _default(option: Any) -> str:
    default = option.default
    if default is None or default is False or default in ((), [], ""):
        return ""
    return f" Default: {default.value if isinstance(default, enum.Enum) else default}."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
