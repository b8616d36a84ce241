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
    MlnClosed,
    MlnDialect,
    MlnHidden,
    MlnPrior,
    MlnTrained,
    MlnWeights,
    Others,
    Theme,
    WorldData,
    WorldFolders,
    check_method,
    check_number,
    mln_choices,
    names,
)
from plx.cli.exits import INTERRUPTED
from plx.cli.output import Format, TextOrJson, check_output, console_on, form_of, put
from plx.cli.worlds import load_worlds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from plx.learn.cross import CrossValidation


class Objective(StrEnum):
    """What a fit maximises."""

    auto = "auto"
    likelihood = "likelihood"
    stochastic = "stochastic"
    pseudo = "pseudo"


def learn(
    file: File,
    data: WorldData = None,
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
    seconds: Annotated[
        float | None,
        typer.Option(callback=check_number, help="End a search after this many seconds: the best so far."),
    ] = None,
    max_ground: MaxGround = None,
    bind: Bind = None,
    weights: MlnWeights = None,
    closed: MlnClosed = None,
    hidden: MlnHidden = None,
    trained: MlnTrained = None,
    prior: MlnPrior = None,
    dialect: MlnDialect = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Have the workers of a Dask cluster look at worlds.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(callback=check_number, help="Have so many processes of this machine look at worlds."),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=2, help="Deal the worlds out into so many parts, and score each as the others predict it."
        ),
    ] = None,
    others: Others = False,
    method: Annotated[
        str, typer.Option(help="With --folds: how probabilities are found, as in `plx run`.")
    ] = "auto",
    write: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the program with the numbers in place; a .mln as a .mln."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the fit, with --folds the calibration: a.svg, a.png, a.pdf."),
    ] = None,
    theme: Annotated[Theme, typer.Option(help="Colours of the plot.")] = Theme.light,
    format: Annotated[
        Format | None, typer.Option(help="How to print the fit: as the suffix of -o says, else a table.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the fit here; --fit of `plx run` reads .csv.")
    ] = None,
) -> None:
    """Learn the numbers that a program declares by `learn` from what it observes.

    Example: `plx learn smokers.plx village1 village2 -o weights.csv`, `plx learn smoking.mln train.db`
    """
    form = form_of(format, output, Format.table)
    if write is not None:
        check_output(write)
        if _is_network(write) and not _is_network(file):
            raise typer.BadParameter(f"{file} is no Markov logic network: --write a .plx")
    _require_plot(plot)
    choices = mln_choices(weights, None, closed, dialect, hidden, trained, prior)
    check_method(method)
    if folds is None and (others or method != "auto"):
        raise typer.BadParameter("--others and --method say how --folds are scored")
    if folds is not None and write is not None:
        raise typer.BadParameter("--write needs one fit, and --folds make several: leave one of them out")
    if folds is not None and (cluster is not None or workers is not None):
        raise typer.BadParameter("--folds are learned in one process: leave out --cluster and --workers")
    model, worlds = load_worlds(file, [*(data or ()), *(world or ())], choices, bind, max_ground)
    if folds is not None:
        validated = model.cross_validate(
            worlds or (),
            folds,
            given=names(given),
            objective=objective.value,
            starts=starts,
            seed=seed,
            method=method,
            seconds=seconds,
            others=others,
            progress=True,
        )
        if plot is not None:
            validated.plot(plot, theme.value)
        put(_validated(validated, form, colour=output is None), output)
        return
    fit = model.learn(
        worlds,
        given=names(given),
        objective=objective.value,
        starts=starts,
        seed=seed,
        seconds=seconds,
        cluster=cluster,
        workers=workers,
        progress=True,
    )
    if plot is not None:
        fit.plot(plot, theme.value)
    if form is Format.table:
        from plx.learn.result import table

        put(_shown(table(fit), fit.summary, colour=output is None), output)
    else:
        put(fit.to_csv() if form is Format.csv else fit.to_json() + "\n", output)
        for note in fit.notes:
            sys.stderr.write(f"note: {note}\n")
    if write is not None:
        put(fit.network() if _is_network(write) else fit.source(), write)
    if fit.reason == "interrupted":
        raise typer.Exit(INTERRUPTED)


def score(
    file: File,
    data: WorldData = None,
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
    others: Others = False,
    max_ground: MaxGround = None,
    bind: Bind = None,
    weights: MlnWeights = None,
    closed: MlnClosed = None,
    hidden: MlnHidden = None,
    dialect: MlnDialect = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the calibration: a.svg, a.png, a.pdf.")
    ] = None,
    theme: Annotated[Theme, typer.Option(help="Colours of the plot.")] = Theme.light,
    format: Annotated[TextOrJson, typer.Option(help="How to print the scores.")] = TextOrJson.text,
) -> None:
    """Score how well a program predicts what is observed: log score, accuracy, AUC, calibration.

    Example: `plx score smokers.plx village3 --fit weights.csv --given friends`
    """
    _require_plot(plot)
    check_method(method)
    choices = mln_choices(weights, None, closed, dialect, hidden)
    model, worlds = load_worlds(file, [*(data or ()), *(world or ())], choices, bind, max_ground, fit)
    found = model.score(
        worlds, given=names(given), method=method, seed=seed, seconds=seconds, others=others, progress=True
    )
    if plot is not None:
        found.plot(plot, theme.value)
    if format is TextOrJson.json:
        put(found.to_json() + "\n")
        return
    from plx.learn.score import table

    put(_shown(table(found), [found.summary], colour=True))


def _is_network(file: Path) -> bool:
    return file.suffix.lower() == ".mln"


def _require_plot(plot: Path | None) -> None:
    """Raises where a plot cannot be drawn, before time is spent on what it shows."""
    if plot is not None:
        from plx.answer.drawing import require_plot

        check_output(plot)
        require_plot(plot)


def _validated(found: CrossValidation, form: Format, colour: bool) -> str:
    from plx.learn.cross import table

    if form is Format.table:
        return _shown(table(found), found.summary, colour)
    return found.to_csv() if form is Format.csv else found.to_json() + "\n"


def _shown(table: Table, lines: Iterable[str], colour: bool) -> str:
    console = console_on(sys.stdout if colour else StringIO())
    with console.capture() as shown:
        console.print(table, "", sep="\n")
        for line in lines:
            console.print(line, markup=False, highlight=False)
    return shown.get()
