"""The commands of the command line; those with much to say of themselves stand in files of their own.

A command imports what it needs, when it needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from plx.cli import completion
from plx.cli.arguments import (
    Asked,
    Bind,
    Evidence,
    File,
    Inputs,
    MaxGround,
    MlnClosed,
    MlnDialect,
    MlnHidden,
    MlnPrior,
    MlnTrained,
    MlnWeights,
    MlnWorld,
    Observed,
    Programs,
    SymmetryKind,
    check_number,
    drawn_form,
    load,
    mln_choices,
    name_of,
    programs,
    read,
)
from plx.cli.compare import compare
from plx.cli.exits import passed_on
from plx.cli.findings import Findings, report
from plx.cli.fmt import fmt
from plx.cli.ground import ground
from plx.cli.init import init
from plx.cli.learning import learn, score
from plx.cli.lint import explain, lint
from plx.cli.lsp import lsp
from plx.cli.output import (
    TextOrJson,
    check_output,
    json_text,
    put,
    say,
)
from plx.cli.run import run
from plx.cli.sample import sample
from plx.errors import Diagnostic, PlxError
from plx.questions import Questions

if TYPE_CHECKING:
    pass


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


app.command()(run)
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
app.command()(ground)


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
    say(write(load(inputs), output))


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


app.command()(compare)
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
