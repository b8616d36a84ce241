"""The command line: ``plx run``, ``plx check``, ``plx ground``. Only this file prints and exits.

Exit codes: 0 answered, 1 the program is at fault, 2 the call is, 130 interrupted (after the answers so
far, if there are any). Modules that a command does not need are imported by the others only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TextIO

import typer

from plx.errors import Diagnostic, PlxError, did_you_mean, render

if TYPE_CHECKING:
    from rich.console import Console

    from plx.answer.result import Result
    from plx.model import Model

INTERRUPTED = 130
"""The exit code of a run that Ctrl-C ended, as shells have it."""

app = typer.Typer(
    name="plx",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    """How answers are printed."""

    table = "table"
    json = "json"
    csv = "csv"


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A program (- reads standard input), or a .uai, .bif or .fg network."
    ),
]
Bind = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Give a type, param, relation or observation: w=0.7, Person=anna,bob, p=p.csv. Repeatable.",
    ),
]
Evidence = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="Observations for a network: a file, or NAME=STATE. Repeatable."),
]
MaxGround = Annotated[
    int | None, typer.Option(min=1, help="Refuse a program with more ground instances than this.")
]


@app.callback(invoke_without_command=True)
def plx(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Probabilistic programs over finite worlds: ask for marginals, most probable worlds and log Z.

    Marginals:       `query smokes(anna)` in the program, then `plx run smokers.plx`

    Given evidence:  `query smokes(anna) given smokes(bob)`

    MAP:             `query map` (a most probable world), `query map 5` (the five best)

    log Z:           `query logz` (the log of the sum over worlds)

    Sampling:        `plx run smokers.plx --method gibbs --seed 1 --chains 20 --seconds 10`
    """
    if version:
        from importlib.metadata import version as installed

        sys.stdout.write(f"plx {installed('plx')}\n")
        raise typer.Exit


@app.command()
def run(
    file: File,
    method: Annotated[
        str, typer.Option(help="auto, exact or gibbs. auto is exact where the program is small enough.")
    ] = "auto",
    seed: Annotated[
        int | None, typer.Option(min=0, help="Makes a sampled run repeatable. Drawn if not given.")
    ] = None,
    chains: Annotated[int | None, typer.Option(min=2, help="Independent chains.")] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many samples of all chains.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0.0, help="Stop after this many seconds.")] = None,
    accuracy: Annotated[
        float, typer.Option(min=1e-9, help="Go on until standard errors are below this.")
    ] = 0.005,
    max_ground: MaxGround = None,
    bind: Bind = None,
    evidence: Evidence = None,
    format: Annotated[Format, typer.Option(help="How to print the answers.")] = Format.table,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the answers here.")] = None,
) -> None:
    """Answer the queries of a program.

    Example: `plx run smokers.plx --seconds 10 --format json`
    """
    with _interruptible():
        model = _load(file, bind, evidence, max_ground)
        _check_method(method)
        result = model.run(
            method=method,
            seed=seed,
            chains=chains,
            samples=samples,
            seconds=seconds,
            accuracy=accuracy,
            progress=True,
        )
    _print_result(result, format, output)
    if result.status == "interrupted":
        raise typer.Exit(INTERRUPTED)


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Programs; - reads standard input.")],
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Also look for a world that keeps all hard rules and observations."),
    ] = False,
    bind: Bind = None,
) -> None:
    """Look for mistakes in programs and their data, without running them.

    Example: `plx check examples/*.plx`
    """
    wrong = [file for file in files if not _check_one(file, bind, deep)]
    if wrong:
        raise typer.Exit(1)


@app.command()
def ground(
    file: File,
    dump: Annotated[bool, typer.Option("--dump", help="Print every variable and factor by name.")] = False,
    max_ground: MaxGround = None,
    bind: Bind = None,
    evidence: Evidence = None,
    format: Annotated[Format, typer.Option(help="How to print the report.")] = Format.table,
) -> None:
    """Report what a program grounds to: variables, factors, sizes, and seconds per rule.

    Example: `plx ground smokers.plx --dump`
    """
    from plx.answer import ground_report

    grounded = _load(file, bind, evidence, max_ground).ground
    if dump:
        for line in ground_report.dump(grounded):
            sys.stdout.write(line + "\n")
    elif format is Format.table:
        console = _console(sys.stdout)
        console.print(ground_report.table(grounded), "", sep="\n")
        console.print(ground_report.summary(grounded), highlight=False)
    else:
        write = ground_report.to_json if format is Format.json else ground_report.to_csv
        sys.stdout.write(write(grounded))


@app.command()
def compare(
    file: File,
    methods: Annotated[
        str, typer.Option(help="Samplers, separated by commas.")
    ] = "gibbs,orbital,vv,nec,lifted",
    seconds: Annotated[float, typer.Option(min=0.01, help="Seconds per chain.")] = 10.0,
    chains: Annotated[int, typer.Option(min=1, help="Independent chains per method.")] = 4,
    lanes: Annotated[int, typer.Option(min=1, help="States that one chain moves at once.")] = 64,
    truth: Annotated[
        str, typer.Option(metavar="exact|long|FILE.json", help="Where the true marginals are from.")
    ] = "exact",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the curves: kl.svg, kl.png, kl.pdf.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes the chains repeatable.")] = None,
    max_ground: MaxGround = None,
    bind: Bind = None,
    evidence: Evidence = None,
    format: Annotated[Format, typer.Option(help="How to print the curves.")] = Format.table,
) -> None:
    """Measure how fast samplers approach the true marginals: KL divergence over time.

    It takes methods × chains × seconds in all. Example: `plx compare ring.plx --seconds 5 --plot kl.svg`
    """
    from plx.answer import comparison
    from plx.model import compare as measure

    with _interruptible():
        found = measure(
            _load(file, bind, evidence, max_ground),
            methods.split(","),
            seconds=seconds,
            chains=chains,
            lanes=lanes,
            truth=truth if truth in ("exact", "long") else comparison.read_truth(Path(truth)),
            seed=seed,
            progress=True,
        )
    if plot is not None:
        comparison.plot(found, plot)
    if format is Format.table:
        console = _console(sys.stdout)
        console.print(comparison.table(found), "", *comparison.summary(found), sep="\n", highlight=False)
    else:
        sys.stdout.write(
            comparison.to_csv(found) if format is Format.csv else comparison.to_json(found) + "\n"
        )


# ------------------------------------------------------------------ input


def _load(
    file: Path, bind: list[str] | None, evidence: list[str] | None = None, max_ground: int | None = None
) -> Model:
    """The model in a file; says on standard error what looks odd in it."""
    from plx.model import is_network, read_network, read_program

    if is_network(file):
        _bytes(file)
        model = read_network(file, [*_evidence(evidence), *(bind or ())])
    elif evidence:
        raise typer.BadParameter("--evidence is for networks: a program has `observe`, and --bind")
    else:
        model = read_program(_name(file), _bytes(file), _bindings(bind), _folder(file), max_ground)
    for warning in model.warnings:
        _complain(warning)
    return model


def _evidence(items: list[str] | None) -> list[str]:
    for item in items or ():
        if "=" not in item and not Path(item).is_file():
            raise typer.BadParameter(f"--evidence {item}: there is no such file")
    return items or []


def _check_method(method: str) -> None:
    if method in ("auto", "exact"):
        return
    from plx.model import methods

    if method not in methods():
        hint = did_you_mean(method, methods()) or f"there are {', '.join(methods())}"
        raise typer.BadParameter(f"there is no method `{method}`: {hint}", param_hint="--method")


def _name(file: Path) -> str:
    return "standard input" if str(file) == "-" else str(file)


def _folder(file: Path) -> Path:
    return Path() if str(file) == "-" else file.parent


def _bytes(file: Path) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{file}: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return {"FileNotFoundError": "there is no such file", "IsADirectoryError": "this is a folder"}.get(
        type(error).__name__, (error.strerror or "it cannot be read").lower()
    )


def _bindings(texts: list[str] | None) -> dict[str, object]:
    from plx.data import parse_binding

    found: dict[str, object] = {}
    for text in texts or ():
        try:
            name, value = parse_binding(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        if isinstance(value, Path) and not value.is_file():
            raise typer.BadParameter(f"--bind {text}: there is no file `{value}`")
        if name in found:
            raise typer.BadParameter(f"--bind {text}: `{name}` is given twice")
        found[name] = value
    return found


# ----------------------------------------------------------------- output


def _check_one(file: Path, bind: list[str] | None, deep: bool) -> bool:
    try:
        model = _load(file, bind)
        if deep:
            model.require_world()
    except PlxError as error:
        _complain(*error.diagnostics)
        return False
    found = "no mistakes found, and a world that keeps every hard rule" if deep else "no mistakes found"
    sys.stdout.write(f"{_name(file)}: {found}\n")
    return True


def _print_result(result: Result, format: Format, output: Path | None) -> None:
    with _sink(output) as stream:
        if format is Format.table:
            _print_table(result, stream)
            return
        stream.write(result.to_csv() if format is Format.csv else result.to_json() + "\n")
    _say_caveats(result)


def _print_table(result: Result, stream: TextIO) -> None:
    from plx.answer.table import summary, table, warnings

    console = _console(stream)
    console.print(table(result), "", sep="\n")
    doubts = warnings(result)
    for line in summary(result):
        console.print(line, style="yellow" if line in doubts else None, markup=False, highlight=False)


def _say_caveats(result: Result) -> None:
    """What a reader of JSON or CSV would otherwise have to look for."""
    from plx.answer.table import warnings

    if result.seed is not None:
        sys.stderr.write(f"seed {result.seed}\n")
    for line in warnings(result):
        sys.stderr.write(f"warning: {line}\n")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C where there is no answer yet."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before there was an answer\n")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _sink(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    try:
        stream = output.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise typer.BadParameter(f"--output {output}: {_reason(error)}") from None
    with stream:
        yield stream


def _console(stream: TextIO) -> Console:
    """A console as wide as the terminal, or as wide as its text where there is none."""
    from rich.console import Console

    width = None if stream.isatty() or "COLUMNS" in os.environ else 1000
    return Console(file=stream, width=width)


def _complain(*diagnostics: Diagnostic) -> None:
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
        _console(sys.stderr).print(shown, soft_wrap=True)


def main() -> NoReturn:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except PlxError as error:
        _complain(*error.diagnostics)
        sys.exit(1)
    except MemoryError:
        sys.stderr.write("error: the program needs more memory than there is: try --max-ground\n")
        sys.exit(1)
    sys.exit(0)
