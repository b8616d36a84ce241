"""The commands of the command line; those with much to say of themselves stand in files of their own.

A command imports what it needs, when it needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from plx.cli import completion
from plx.cli.arguments import (
    Asked,
    Best,
    Bind,
    Evidence,
    File,
    FitFile,
    Inputs,
    MaxGround,
    MaxMemory,
    MaybeFile,
    MlnClosed,
    MlnDialect,
    MlnHidden,
    MlnPrior,
    MlnTrained,
    MlnWeights,
    MlnWorld,
    Observed,
    Programs,
    Protocol,
    SymmetryKind,
    Theme,
    Trained,
    check_method,
    check_number,
    check_report,
    drawn_form,
    load,
    mln_choices,
    name_of,
    programs,
    read,
)
from plx.cli.exits import INTERRUPTED, UNCONVERGED, passed_on
from plx.cli.findings import Findings, report
from plx.cli.fmt import fmt
from plx.cli.init import init
from plx.cli.learning import learn, score
from plx.cli.lint import explain, lint
from plx.cli.lsp import lsp
from plx.cli.output import (
    AnswerFormat,
    Format,
    GroundFormat,
    TextOrJson,
    answer_form,
    check_output,
    console_on,
    form_of,
    json_text,
    print_result,
    put,
)
from plx.cli.resuming import require_resumable
from plx.cli.sample import sample
from plx.errors import Diagnostic, PlxError
from plx.questions import Questions

if TYPE_CHECKING:
    from plx.firstorder.choice import FirstOrderWay
    from plx.graph.model import GroundModel
    from plx.infer.compare.curves import Comparison
    from plx.model import Model


class _Commands(TyperGroup):
    """The commands, which leave Ctrl-C and closed pipes to `plx.cli.exits`."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read the arguments, as the library does."""
        with passed_on():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, as the library does."""
        with passed_on():
            return super().invoke(ctx)


app = typer.Typer(
    name="plx",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def plx(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Probabilistic programs over finite worlds: ask for marginals, most probable worlds and log Z.

    Marginals:       `query smokes(anna)` in the program, then `plx run smokers.plx`

    Given evidence:  `query smokes(anna) given smokes(bob)`

    MAP:             `query map` (a most probable world), `query map 5` (the five best)

    Learning:        `learn w` in the program, then `plx learn smokers.plx -o weights.csv`

    log Z:           `query logz` (the log of the sum over worlds)

    Sampling:        `plx run smokers.plx --method gibbs --seed 1 --chains 20 --seconds 10`

    Whole worlds:    `plx sample smokers.plx -n 100 -o draws.csv`
    """
    if version:
        from importlib.metadata import version as installed

        put(f"plx {installed('plx')}\n")
        raise typer.Exit


@app.command()
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
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Have the workers of a Dask cluster move the chains."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(callback=check_number, help="Have so many processes of this machine move the chains."),
    ] = None,
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


app.command()(sample)


@app.command()
def check(
    files: Programs,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Also look for a world that keeps all hard rules and observations."),
    ] = False,
    bind: Bind = None,
    evidence: Evidence = None,
    format: Annotated[
        TextOrJson, typer.Option(help="text: mistakes on standard error; json: all on standard output.")
    ] = TextOrJson.text,
) -> None:
    """Look for mistakes in programs and their data, without running them.

    Example: `plx check examples`
    """
    found = (_checked(file, bind, evidence, deep) for file in programs(files))
    clean = "no mistakes found, and a world that keeps every hard rule" if deep else "no mistakes found"
    if report(found, format, clean):
        raise typer.Exit(1)


app.command()(init)
app.command()(fmt)
app.command()(lint)
app.command()(explain)
app.command()(lsp)


@app.command()
def ground(
    file: File,
    dump: Annotated[bool, typer.Option("--dump", help="Print every variable and factor by name.")] = False,
    max_ground: MaxGround = None,
    memory: MaxMemory = None,
    bind: Bind = None,
    evidence: Evidence = None,
    format: Annotated[
        GroundFormat | None,
        typer.Option(
            help="How to print the report; or the model itself: uai for other tools, plx as a program of"
            " its unknowns and factors. As the suffix of -o says, else a table."
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it here.")] = None,
) -> None:
    """Report what a program grounds to, in sizes and seconds per rule, and how it would be answered.

    Of a large program that is answered without it: how large it would be.

    Example: `plx ground smokers.plx --dump`, `plx ground smokers.plx --format uai -o smokers.uai`
    """
    from plx.ground.memory import within

    form = form_of(format, output, GroundFormat.table)
    if dump and form is not GroundFormat.table:
        raise typer.BadParameter(f"--dump has a form of its own: it is not {form.value}")
    with within(memory):
        model = load(Inputs(file, bind, evidence, max_ground))
        if form is GroundFormat.plx:
            put(model.origin.ground_text(), output)
            return
        if not dump and form is GroundFormat.table and (way := model.without_grounding()) is not None:
            put(_not_needed(way, colour=output is None), output)
            return
        put(_ground_dump(model.ground) if dump else _ground_text(model, form, colour=output is None), output)


@app.command()
def convert(
    file: File,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUT",
            help="What to write: a .plx, .uai, .fg, .cnf, .wcnf, .bif, .xmlbif or .net file.",
        ),
    ],
    max_ground: MaxGround = None,
    bind: Bind = None,
    evidence: Evidence = None,
    asked: Asked = None,
    weights: MlnWeights = None,
    world: MlnWorld = None,
    closed: MlnClosed = None,
    dialect: MlnDialect = None,
    hidden: MlnHidden = None,
    trained: MlnTrained = None,
    prior: MlnPrior = None,
) -> None:
    """Write a program or a network in the language of another tool, or that of another tool as a program.

    Example: `plx convert smoking.mln smoking.plx --evidence smoking.db`
    """
    from plx.writing import require_writer, write

    check_output(output)
    require_writer(file, output)
    questions = Questions(tuple(asked or ()))
    choices = mln_choices(weights, world, closed, dialect, hidden, trained, prior)
    inputs = Inputs(file, bind, evidence, max_ground, questions=questions, choices=choices)
    _say(write(load(inputs), output))


def _of_fit(file: Path | None, fit: Path | None) -> Trained | None:
    from plx.reading import is_translated

    return Trained.all if fit is not None and file is not None and is_translated(file) else None


def _kind_for_method(option: str) -> str:
    """``--kind`` was ``--method`` once, and that still works."""
    return "kind" if option == "method" else option


@app.command(context_settings={"token_normalize_func": _kind_for_method})
def symmetries(
    file: File,
    kind: Annotated[
        SymmetryKind, typer.Option(help="Of unknowns; also of their values; also where domains differ.")
    ] = SymmetryKind.nec,
    draw: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a small coloured graph: g.svg, g.dot.")
    ] = None,
    seconds: Annotated[
        float, typer.Option(callback=check_number, help="Leave out what is not found by then.")
    ] = 60.0,
    max_ground: MaxGround = None,
    bind: Bind = None,
    evidence: Evidence = None,
    format: Annotated[TextOrJson, typer.Option(help="How to print them.")] = TextOrJson.text,
) -> None:
    """Report the symmetries of a program: interchangeable values, orbits, the order and its structure.

    Example: `plx symmetries ring.plx --kind vv`
    """
    form = None if draw is None else drawn_form(draw)
    model = load(Inputs(file, bind, evidence, max_ground))
    found = model.symmetries(kind.value, seconds)
    if form is not None:
        put(model.draw_symmetries(kind.value, form), draw)
    put((found.text() if format is TextOrJson.text else json_text(found.to_dict())) + "\n")


@app.command()
def diagnose(
    file: File,
    method: Annotated[
        str, typer.Option(autocompletion=completion.methods, help="The sampler; auto: the one of `plx run`.")
    ] = "auto",
    seed: Annotated[
        int | None, typer.Option(callback=check_number, help="Makes the runs repeatable.")
    ] = None,
    chains: Annotated[
        int | None, typer.Option(callback=check_number, help="Independent chains, 16 at least.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(callback=check_number, help="Stop each run after this many samples.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(callback=check_number, help="For all runs together. 10 if not given.")
    ] = None,
    max_ground: MaxGround = None,
    bind: Bind = None,
    evidence: Evidence = None,
    observed: Observed = None,
    format: Annotated[TextOrJson, typer.Option(help="How to print it.")] = TextOrJson.text,
) -> None:
    """Say which unknowns and rules mix badly under a sampler, and what would help, from short runs.

    Example: `plx diagnose smokers.plx --method gibbs --seconds 5`
    """
    questions = Questions((), (), tuple(observed or ()))
    model = load(Inputs(file, bind, evidence, max_ground, questions=questions))
    found = model.diagnose(
        method=method, seed=seed, chains=chains, samples=samples, seconds=seconds, progress=True
    )
    put((found.text() if format is TextOrJson.text else json_text(found.to_dict())) + "\n")


@app.command()
def compare(
    file: File,
    methods: Annotated[
        str, typer.Option(help="Samplers, separated by commas.")
    ] = "gibbs,orbital,vv,nec,lifted",
    seconds: Annotated[float, typer.Option(callback=check_number, help="Seconds per chain.")] = 10.0,
    chains: Annotated[int, typer.Option(callback=check_number, help="Independent chains per method.")] = 4,
    lanes: Annotated[
        int, typer.Option(callback=check_number, help="States that one chain moves at once.")
    ] = 64,
    truth: Annotated[
        str, typer.Option(metavar="exact|long|FILE.json", help="Where the true marginals are from.")
    ] = "exact",
    protocol: Annotated[
        Protocol, typer.Option(help="Count after whole sweeps, or after every update as in the paper.")
    ] = Protocol.sweeps,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the curves: kl.svg, kl.png, kl.pdf.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(callback=check_number, help="Makes the chains repeatable.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Have the workers of a Dask cluster move the chains."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(callback=check_number, help="Have so many processes of this machine move the chains."),
    ] = None,
    max_ground: MaxGround = None,
    bind: Bind = None,
    evidence: Evidence = None,
    format: Annotated[Format, typer.Option(help="How to print the curves.")] = Format.table,
) -> None:
    """Measure how fast samplers approach the true marginals: KL divergence over time.

    It takes methods × chains × seconds in all. Example: `plx compare ring.plx --seconds 5 --plot kl.svg`
    """
    from plx.answer import comparison
    from plx.answer.drawing import require_plot
    from plx.api import compare as measure

    if plot is not None:
        check_output(plot)
        require_plot(plot)
    found = measure(
        load(Inputs(file, bind, evidence, max_ground)),
        [method.strip() for method in methods.split(",")],
        seconds=seconds,
        chains=chains,
        lanes=lanes,
        truth=truth if truth in ("exact", "long") else comparison.read_truth(Path(truth)),
        protocol=protocol.value,
        seed=seed,
        cluster=cluster,
        workers=workers,
        progress=True,
    )
    if plot is not None:
        comparison.plot(found, plot)
    put(_comparison_text(found, format))


app.command()(learn)
app.command()(score)


def _checked(file: Path, bind: list[str] | None, evidence: list[str] | None, deep: bool) -> Findings:
    warnings: Sequence[Diagnostic] = ()
    try:
        model = read(Inputs(file, bind, evidence))
        warnings = model.warnings
        if deep:
            model.require_world()
    except PlxError as error:
        return Findings(name_of(file), [*warnings, *error.diagnostics], failed=True)
    return Findings(name_of(file), warnings, failed=False)


def _say(notes: Sequence[Diagnostic]) -> None:
    for note in notes:
        sys.stderr.write(f"{note.severity}: {note.message}\n")


def _ground_dump(grounded: GroundModel) -> str:
    from plx.answer import ground_report

    return "".join(line + "\n" for line in ground_report.dump(grounded))


def _ground_text(model: Model, form: GroundFormat, colour: bool) -> str:
    from plx.answer import ground_report
    from plx.answering import outlooks

    grounded = model.ground
    if form is GroundFormat.uai:
        from plx.writing import network_text

        found = network_text(grounded)
        _say(found.notes)
        return found.text
    if form is GroundFormat.csv:
        return ground_report.to_csv(grounded)
    ahead = [(group.positions, found) for group, found in outlooks(model.origin, grounded)]
    if form is GroundFormat.json:
        return ground_report.to_json(grounded, ahead)
    console = console_on(sys.stdout if colour else StringIO())
    with console.capture() as shown:
        console.print(ground_report.table(grounded), "", sep="\n")
        console.print(ground_report.summary(grounded), highlight=False)
        for line in dict.fromkeys(found.words for _, found in ahead):
            console.print(line, highlight=False, soft_wrap=True)
    return shown.get()


def _not_needed(way: FirstOrderWay, colour: bool) -> str:
    from plx.answer import ground_report

    console = console_on(sys.stdout if colour else StringIO())
    with console.capture() as shown:
        console.print(ground_report.not_needed(way.words, way.sizes))
    return shown.get()


def _comparison_text(found: Comparison, format: Format) -> str:
    from plx.answer import comparison

    if format is not Format.table:
        return comparison.to_csv(found) if format is Format.csv else comparison.to_json(found) + "\n"
    console = console_on(sys.stdout)
    with console.capture() as shown:
        console.print(comparison.table(found), "", *found.summary, sep="\n", highlight=False)
    return shown.get()
