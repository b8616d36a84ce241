"""The commands ``plx learn`` and ``plx score``."""

from __future__ import annotations

import sys
from enum import StrEnum
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plx.cli.arguments import (
    Bind,
    File,
    FitFile,
    Given,
    MaxGround,
    WorldFolders,
    check_method,
    check_number,
    folders,
    load,
    names,
)
from plx.cli.exits import INTERRUPTED
from plx.cli.output import Format, TextOrJson, check_output, console_on, form_of, put

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table


class Objective(StrEnum):
    """What a fit maximises."""

    auto = "auto"
    likelihood = "likelihood"
    stochastic = "stochastic"
    pseudo = "pseudo"


def learn(
    file: File,
    world: WorldFolders = None,
    given: Given = "",
    objective: Annotated[
        Objective, typer.Option(help="auto is the likelihood, by draws where it is too large to be summed.")
    ] = Objective.auto,
    starts: Annotated[
        int | None,
        typer.Option(min=1, help="Searches from so many starts: more than one if values are hidden."),
    ] = None,
    seed: Annotated[
        int, typer.Option(callback=check_number, help="Of the starts after the first, and of draws.")
    ] = 0,
    max_ground: MaxGround = None,
    bind: Bind = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the program with the numbers in place.")
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="How to print the fit: as the suffix of -o says, else a table.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the fit here; --fit of `plx run` reads .csv.")
    ] = None,
) -> None:
    """Learn the numbers that a program declares by `learn` from what it observes.

    Example: `plx learn smokers.plx --world village1 --world village2 -o weights.csv`
    """
    form = form_of(format, output, Format.table)
    if write is not None:
        check_output(write)
    model = load(file, bind, None, max_ground)
    fit = model.learn(
        folders(world), given=names(given), objective=objective.value, starts=starts, seed=seed, progress=True
    )
    if write is not None:
        put(fit.source(), write)
    if form is Format.table:
        from plx.learn.result import table

        put(_shown(table(fit), fit.summary, colour=output is None), output)
    else:
        put(fit.to_csv() if form is Format.csv else fit.to_json() + "\n", output)
        for note in fit.notes:
            sys.stderr.write(f"note: {note}\n")
    if fit.reason == "interrupted":
        raise typer.Exit(INTERRUPTED)


def score(
    file: File,
    fit: FitFile = None,
    world: WorldFolders = None,
    given: Given = "",
    method: Annotated[str, typer.Option(help="How probabilities are found: as in `plx run`.")] = "auto",
    seed: Annotated[
        int | None, typer.Option(callback=check_number, help="Makes sampled probabilities repeatable.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(callback=check_number, help="Stop after this many seconds per world.")
    ] = None,
    max_ground: MaxGround = None,
    bind: Bind = None,
    format: Annotated[TextOrJson, typer.Option(help="How to print the scores.")] = TextOrJson.text,
) -> None:
    """Score how well a program predicts what is observed: log score, accuracy, AUC, calibration.

    Example: `plx score smokers.plx --fit weights.csv --world village3 --given friends`
    """
    check_method(method)
    model = load(file, bind, None, max_ground, fit=fit)
    found = model.score(
        folders(world), given=names(given), method=method, seed=seed, seconds=seconds, progress=True
    )
    if format is TextOrJson.json:
        put(found.to_json() + "\n")
        return
    from plx.learn.score import table

    put(_shown(table(found), [found.summary], colour=True))


def _shown(table: Table, lines: Iterable[str], colour: bool) -> str:
    console = console_on(sys.stdout if colour else StringIO())
    with console.capture() as shown:
        console.print(table, "", sep="\n")
        for line in lines:
            console.print(line, markup=False, highlight=False)
    return shown.get()
