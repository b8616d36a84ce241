"""What goes with ``plx run --resume``, and what the checkpoint says already."""

from __future__ import annotations

from typing import Final

import typer

_OWN: Final = frozenset(
    {"seconds", "samples", "accuracy", "cluster", "workers", "resumed", "watched"}
    | {"plot", "theme", "report", "strict", "format", "output"}
)
"""The options that a run may be given anew, and those that say what becomes of its answers."""


def require_resumable(context: typer.Context) -> None:
    """Raises BadParameter where the command line says what the checkpoint of a run has decided."""
    given = [name for name in _options(context) if name not in _OWN]
    if given:
        message = f"{_listed(context, given)}: the checkpoint has that already"
        raise typer.BadParameter(f"{message}; --seconds, --samples and --accuracy can be given anew")


def _options(context: typer.Context) -> list[str]:
    """The parameters that the command line gives."""
    sources = ((name, context.get_parameter_source(name)) for name in context.params)
    return [name for name, source in sources if source and source.name == "COMMANDLINE"]


def _listed(context: typer.Context, names: list[str]) -> str:
    options = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    return ", ".join(options[name] for name in names)
