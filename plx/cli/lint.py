"""``plx lint`` and ``plx explain``: what programs say but probably do not mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plx.cli import completion
from plx.cli.arguments import Bind, Inputs, MaxGround, Programs, name_of, programs, read
from plx.cli.findings import Findings, report
from plx.cli.output import TextOrJson, put
from plx.errors import Diagnostic, PlxError, did_you_mean


def lint(
    files: Programs,
    bind: Bind = None,
    max_ground: MaxGround = None,
    format: Annotated[
        TextOrJson, typer.Option(help="text: findings on standard error; json: all on standard output.")
    ] = TextOrJson.text,
) -> None:
    """Look for what programs say but probably do not mean; exit with 1 if there is something.

    Each finding has a code. `plx explain CODE` tells more, the comment `# plx: ignore CODE` hides it.

    Example: `plx lint examples/*.plx`
    """
    found = (_linted(file, bind, max_ground) for file in programs(files))
    if report(found, format, "nothing odd found"):
        raise typer.Exit(1)


def explain(
    code: Annotated[
        str | None,
        typer.Argument(metavar="CODE", autocompletion=completion.codes, help="As in PLX104. Without: all."),
    ] = None,
) -> None:
    """Say what a warning means, with a bad and a good example.

    Example: `plx explain PLX104`
    """
    from plx.check.catalogue import CATALOGUE

    if code is None:
        put("".join(f"{rule.code}  {rule.title}\n" for rule in CATALOGUE.values()))
        return
    rule = CATALOGUE.get(code.upper())
    if rule is None:
        hint = did_you_mean(code.upper(), CATALOGUE) or "`plx explain` lists all"
        raise typer.BadParameter(f"there is no code {code}: {hint}")
    put(f"{rule.code}: {rule.title}\n\n{rule.why}\n\n")
    put("".join(f"{name}:\n{_indented(text)}\n" for name, text in rule.files.items()))
    put(f"Bad:\n{_indented(rule.bad)}\nGood:\n{_indented(rule.good)}")


def _linted(file: Path, bind: list[str] | None, max_ground: int | None) -> Findings:
    warnings: tuple[Diagnostic, ...] = ()
    try:
        model = read(Inputs(file, bind, max_ground=max_ground))
        warnings = model.warnings
        found = model.lint()
    except PlxError as error:
        return Findings(name_of(file), [*warnings, *error.diagnostics], failed=True)
    return Findings(name_of(file), found, failed=bool(found))


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())
