"""``plx run``: the answers of a program, once or whenever it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plx.cli import completion
from plx.cli.arguments import (
    Asked,
    Best,
    Bind,
    Cluster,
    Evidence,
    FitFile,
    Inputs,
    MaxGround,
    MaxMemory,
    MaybeFile,
    MlnClosed,
    MlnDialect,
    MlnWeights,
    MlnWorld,
    Observed,
    Theme,
    Trained,
    Workers,
    check_method,
    check_number,
    check_report,
    load,
    mln_choices,
)
from plx.cli.exits import INTERRUPTED, UNCONVERGED
from plx.cli.output import AnswerFormat, answer_form, check_output, print_result
from plx.cli.resuming import require_resumable
from plx.questions import Questions


def run(
    context: typer.Context,
    file: MaybeFile = None,
    method: Annotated[
        str,
        typer.Option(
            autocompletion=completion.methods,
            help="auto, exact, lifted, gibbs, … auto is exact where that is possible.",
        ),
    ] = "auto",
    seed: Annotated[
        int | None,
        typer.Option(callback=check_number, help="Makes a sampled run repeatable. Drawn if not given."),
    ] = None,
    chains: Annotated[
        int | None, typer.Option(callback=check_number, help="Independent chains, 16 at least.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(callback=check_number, help="Stop after this many samples of all chains.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(callback=check_number, help="Stop after this many seconds.")
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(
            callback=check_number, show_default="0.005", help="Go on until standard errors are below this."
        ),
    ] = None,
    max_ground: MaxGround = None,
    memory: MaxMemory = None,
    best: Best = 0,
    bind: Bind = None,
    evidence: Evidence = None,
    fit: FitFile = None,
    asked: Asked = None,
    observed: Observed = None,
    draws: Annotated[
        int | None, typer.Option(callback=check_number, help="Worlds of each chain to keep, for --plot.")
    ] = None,
    exact_rationals: Annotated[
        bool,
        typer.Option(
            "--exact-rationals", help="Fractions, and the number of worlds; weights are logs of ratios."
        ),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the answers: a.svg, a.png, a.pdf.")
    ] = None,
    theme: Annotated[Theme, typer.Option(help="Colours of the plot.")] = Theme.light,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with program, answers and plots: out.html."),
    ] = None,
    weights: MlnWeights = None,
    world: MlnWorld = None,
    closed: MlnClosed = None,
    dialect: MlnDialect = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with code 3 if an answer is not known or has not converged."),
    ] = False,
    format: Annotated[
        AnswerFormat | None,
        typer.Option(help="How to print the answers: as the suffix of -o says, else a table. parquet: -o."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the answers here.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the chains here, for --resume, while they run.")
    ] = None,
    resumed: Annotated[
        Path | None,
        typer.Option(
            "--resume", metavar="FILE", help="Go on with a run from its checkpoint, without a program."
        ),
    ] = None,
    cluster: Cluster = None,
    workers: Workers = None,
    watched: Annotated[
        bool,
        typer.Option("--watch", help="Run again whenever the program or a file that it reads changes."),
    ] = False,
) -> None:
    """Answer the queries of a program.

    Example: `plx run smokers.plx --seconds 10 --format json`,
    `plx run smokers.plx --query "smokes(bob)" --observe "smokes(anna)"`
    """
    from plx.answer.result import Interrupted
    from plx.api import resume

    form = answer_form(format, output)
    if plot is not None:
        from plx.answer.drawing import require_plot

        check_output(plot)
        require_plot(plot)
    if report is not None:
        check_report(report)
    questions = Questions(tuple(asked or ()), (), tuple(observed or ()))
    # The numbers of a fit are those of all formulas.
    choices = mln_choices(weights, world, closed, dialect, trained=_of_fit(file, fit))
    inputs = Inputs(file, bind, evidence, max_ground, best, questions, choices, fit) if file else None
    if (inputs is None) == (resumed is None):
        raise typer.BadParameter("give a program, or with --resume the checkpoint of a run")
    if resumed is not None:
        require_resumable(context)
    check_method(method)

    def once() -> None:
        model = None if inputs is None else load(inputs)
        try:
            if model is None:
                assert resumed is not None
                result = resume(
                    resumed,
                    seconds=seconds,
                    samples=samples,
                    accuracy=accuracy,
                    cluster=cluster,
                    workers=workers,
                    progress=True,
                )
            else:
                result = model.run(
                    method=method,
                    seed=seed,
                    chains=chains,
                    samples=samples,
                    seconds=seconds,
                    accuracy=0.005 if accuracy is None else accuracy,
                    draws=draws,
                    exact_rationals=exact_rationals,
                    checkpoint=checkpoint,
                    memory=memory,
                    cluster=cluster,
                    workers=workers,
                    progress=True,
                )
        except Interrupted as interrupt:
            if interrupt.result is None:
                raise
            if report is not None:
                interrupt.result.report(report)
            print_result(interrupt.result, form, output)
            raise typer.Exit(INTERRUPTED) from None
        if plot is not None:
            result.plot(plot, theme.value)
        if report is not None:
            result.report(report, None if model is None else model.cheap_symmetries())
        print_result(result, form, output)
        if strict and not result.converged:
            raise typer.Exit(UNCONVERGED)

    if not watched:
        once()
        return
    if file is None or str(file) == "-":
        raise typer.BadParameter("--watch looks at files, and standard input is none")
    from plx.cli.watch import read_files, watch

    watch(once, lambda: read_files(file, evidence or (), bind or (), [fit]))


def _of_fit(file: Path | None, fit: Path | None) -> Trained | None:
    from plx.reading import is_translated

    return Trained.all if fit is not None and file is not None and is_translated(file) else None
