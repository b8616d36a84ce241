"""What a call names: its options, and the model that it means."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plx.cli import completion
from plx.cli.output import check_output, complain, reason
from plx.errors import CallError
from plx.questions import Questions

if TYPE_CHECKING:
    from plx.model import Model


class Protocol(StrEnum):
    """What a sample is when samplers are compared."""

    sweeps = "sweeps"
    paper = "paper"


class Theme(StrEnum):
    """The colours of a plot."""

    light = "light"
    dark = "dark"


class Weights(StrEnum):
    """What the weight of a formula in a .mln is for."""

    whole = "whole"
    cnf = "cnf"


class World(StrEnum):
    """What atoms are that the evidence on a .mln does not list."""

    open = "open"
    evidence = "evidence"
    closed = "closed"


class Dialect(StrEnum):
    """Whose reading of a formula counts where tools differ."""

    alchemy = "alchemy"
    pracmln = "pracmln"


class Trained(StrEnum):
    """Which weights of a .mln are to be learned."""

    absent = "absent"
    all = "all"


class SymmetryKind(StrEnum):
    """What a symmetry may exchange."""

    variable = "variable"
    vv = "vv"
    nec = "nec"


_FILE = typer.Argument(
    metavar="FILE",
    autocompletion=completion.models,
    help="A program (- reads standard input), or a .uai, .bif, .fg, .cnf or .mln network.",
)


def check_number(parameter: typer.CallbackParam, value: object) -> object:
    """A numeric option of a run, by the rule that Python calls are held to. Raises BadParameter."""
    from plx.infer.options import checked

    name = parameter.name or ""
    if value is None:
        return None
    with _said_of(f"--{name}" if len(name) > 1 else f"-{name}"):
        return checked(**{name: value})[name]


@contextmanager
def _said_of(option: str) -> Iterator[None]:
    """What is wrong with a call, told of an option of the command line."""
    try:
        yield
    except CallError as error:
        found = error.diagnostics[0]
        hint = f": {found.hint}" if found.hint else ""
        raise typer.BadParameter(found.message + hint, param_hint=option) from None


File = Annotated[Path, _FILE]
MaybeFile = Annotated[Path | None, _FILE]
Bind = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        autocompletion=completion.bound,
        help="Give a type, param, relation or observation: w=0.7, Person=anna,bob, p=p.csv, "
        "'p=p.csv else 0', 'p=farm.db table sales'. Repeatable.",
    ),
]
Programs = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        autocompletion=completion.programs,
        help="Programs, or folders of them; - reads standard input.",
    ),
]
Evidence = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        autocompletion=completion.files(),
        help="Observations for a network: a file, or NAME=STATE. Repeatable.",
    ),
]
MlnWeights = Annotated[
    Weights | None,
    typer.Option(
        "--weights", help="For .mln: a weight counts whole, or is shared by the clauses of a formula."
    ),
]
MlnWorld = Annotated[
    World | None,
    typer.Option(
        "--world",
        help="For .mln: unlisted atoms are unknown, or false for predicates with evidence, as in Alchemy, or "
        "all observed to be false.",
    ),
]
MlnClosed = Annotated[
    list[str] | None,
    typer.Option("--closed", metavar="P,Q", help="For .mln: predicates whose unlisted atoms are false."),
]
MlnDialect = Annotated[
    Dialect | None,
    typer.Option("--dialect", help="For .mln: who is followed where tools read it differently."),
]
MlnHidden = Annotated[
    list[str] | None,
    typer.Option(
        "--hidden",
        metavar="P,Q",
        help="For .mln: predicates whose unlisted atoms are unknown, where those of all others are false.",
    ),
]
MlnTrained = Annotated[
    Trained | None,
    typer.Option("--trained", help="For .mln: weights to learn are those that are absent, or all."),
]
MlnPrior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="PRIOR",
        help='For .mln: of learned weights, "normal(0, 2)", "laplace(0, 1)", flat.',
    ),
]
Best = Annotated[
    int,
    typer.Option(
        "--map", min=0, metavar="N", help="For networks: the N most probable worlds too, as `query map N`."
    ),
]
Asked = Annotated[
    list[str] | None,
    typer.Option(
        "--query",
        metavar="QUERY",
        autocompletion=completion.asked,
        help='Ask this in place of the program\'s own queries: "smokes(x) for x in Person"; of a .mln, '
        "predicates, formulas or a .db that lists them. Repeatable.",
    ),
]
Observed = Annotated[
    list[str] | None,
    typer.Option(
        "--observe",
        metavar="FACT",
        autocompletion=completion.asked,
        help='Observe this as well: "friends(anna, bob)", "!smokes(bob)". Repeatable.',
    ),
]
FitFile = Annotated[
    Path | None,
    typer.Option(
        "--fit",
        metavar="FILE",
        autocompletion=completion.files(".csv", ".json"),
        help="Learned numbers: what `plx learn -o weights.csv` wrote.",
    ),
]
WorldData = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="WORLD...", help="Worlds of data, as --world: folders for a program, databases for a .mln."
    ),
]
WorldFolders = Annotated[
    list[Path] | None,
    typer.Option(
        "--world",
        metavar="FOLDER",
        help="A world of data: a folder whose files take the place of those that the program names; for a "
        ".mln a database. Repeatable.",
    ),
]
Given = Annotated[
    str,
    typer.Option(metavar="F,G", help="Random functions that are conditioned on, and not predicted."),
]
Others = Annotated[
    bool,
    typer.Option("--others", help="Predict each unknown from all others, as pseudo-likelihood does."),
]
MaxGround = Annotated[
    int | None, typer.Option(min=1, help="Refuse a program with more ground instances than this.")
]
Cluster = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Have the workers of a Dask cluster move the chains.")
]
Workers = Annotated[
    int | None,
    typer.Option(callback=check_number, help="Have so many processes of this machine move the chains."),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Memory for grounding, e.g. 8GB; by default, what is free. More goes to files, or is refused.",
    ),
]


@dataclass(frozen=True)
class Inputs:
    """What a model is read from: a ``file``, and what the options of a call say of it.

    ``best`` worlds are asked of a network, ``choices`` are those of a .mln, ``fit`` is a file of learned
    numbers, ``world`` a folder of data for a program.
    """

    file: Path
    bind: Sequence[str] | None = None
    evidence: Sequence[str] | None = None
    max_ground: int | None = None
    best: int = 0
    questions: Questions = Questions()
    choices: Mapping[str, object] = field(default_factory=dict)
    fit: Path | None = None
    world: Path | None = None


def load(inputs: Inputs) -> Model:
    """The model, as `read`, with learned numbers; says on standard error what looks odd in it."""
    model = read(inputs)
    complain(*model.warnings)
    if inputs.fit is None:
        return model
    content(inputs.fit)
    return model.with_weights(inputs.fit)


def read(inputs: Inputs) -> Model:
    """The model.

    Raises BadParameter for what is wrong with the call, PlxError for what is wrong with the program.
    """
    from plx.reading import is_network, is_translated, read_program

    file, best = inputs.file, inputs.best
    told = [name for name, value in inputs.choices.items() if value]
    if is_translated(file):
        return _translated(inputs)
    if told:
        raise typer.BadParameter(f"--{told[0]} is for Markov logic networks (.mln)")
    if is_network(file):
        return _network(inputs)
    if best:
        raise typer.BadParameter(f"--map is for networks: write `query map {best}` in the program")
    if inputs.evidence:
        raise typer.BadParameter("--evidence is for networks: a program has `observe`, and --bind")
    found = name_of(file), content(file), _bindings(inputs.bind), _folder(file)
    return read_program(*found, inputs.max_ground, questions=inputs.questions, world=inputs.world)


def _translated(inputs: Inputs) -> Model:
    from plx.reading import read_translated

    content(inputs.file)
    if inputs.best:
        raise typer.BadParameter(
            f"--map is for networks: convert the file, and write `query map {inputs.best}` in it"
        )
    if inputs.questions.observed:
        raise typer.BadParameter("--observe is for programs: a network takes --evidence")
    choices = {"query": [*inputs.questions.asked], **inputs.choices}
    evidence, bindings = _evidence(inputs.evidence), _bindings(inputs.bind)
    return read_translated(inputs.file, evidence, choices, bindings, inputs.max_ground)


def _network(inputs: Inputs) -> Model:
    from plx.reading import read_network

    content(inputs.file)
    if inputs.questions.sources:
        raise typer.BadParameter("--query and --observe are for programs: a network takes --evidence")
    return read_network(inputs.file, [*_evidence(inputs.evidence), *(inputs.bind or ())], inputs.best)


def names(text: str) -> list[str]:
    """``f,g`` as names."""
    return [name for part in text.split(",") if (name := part.strip())]


def _evidence(items: Sequence[str] | None) -> list[str]:
    for item in items or ():
        if "=" not in item and not Path(item).is_file():
            raise typer.BadParameter(f"--evidence {item}: there is no such file")
    return [*(items or ())]


def mln_choices(
    weights: Weights | None,
    world: World | None,
    closed: list[str] | None,
    dialect: Dialect | None,
    hidden: list[str] | None = None,
    trained: Trained | None = None,
    prior: str | None = None,
) -> dict[str, object]:
    """How a .mln is to be read, by the names of its reader's options; names may be parted by commas."""
    lists = {"closed": names(",".join(closed or ())), "hidden": names(",".join(hidden or ()))}
    learned = {"trained": trained, "prior": prior}
    return {"weights": weights, "world": world, **lists, "dialect": dialect, **learned}


def check_method(method: str) -> None:
    """Raises BadParameter if there is no such method."""
    from plx import model

    with _said_of("--method"):
        model.check_method(method)


def drawn_form(file: Path) -> Literal["svg", "dot"]:
    """The form of a picture by the suffix of its file.

    Raises BadParameter for any but .svg and .dot, and for a file that cannot be written.
    """
    if file.suffix.lower() not in (".svg", ".dot"):
        raise typer.BadParameter(f"--draw {file}: a picture ends in .svg or .dot")
    check_output(file)
    return "svg" if file.suffix.lower() == ".svg" else "dot"


def check_report(file: Path) -> None:
    """Raises BadParameter for a page that does not end in .html, or cannot be written."""
    if file.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"--report {file}: a page ends in .html")
    check_output(file)


def programs(files: Iterable[Path]) -> Iterator[Path]:
    """The files, and the programs in the folders among them."""
    for file in files:
        yield from sorted(file.rglob("*.plx")) if file.is_dir() else [file]


def name_of(file: Path) -> str:
    """How messages call a file."""
    return "standard input" if str(file) == "-" else str(file)


def _folder(file: Path) -> Path:
    return Path() if str(file) == "-" else file.parent


def content(file: Path) -> bytes:
    """The bytes of a file, or of standard input for ``-``. Raises BadParameter."""
    if str(file) == "-":
        return sys.stdin.buffer.read()
    try:
        return file.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{file}: {reason(error)}") from None


def _bindings(texts: Sequence[str] | None) -> dict[str, object]:
    from plx.data import Database, Else, parse_binding

    found: dict[str, object] = {}
    for text in texts or ():
        try:
            name, value = parse_binding(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        rows = value.rows if isinstance(value, Else) else value
        rows = rows.path if isinstance(rows, Database) else rows
        if isinstance(rows, Path) and rows.is_dir():
            raise typer.BadParameter(f"--bind {text}: `{rows}` is a folder: name a file in it")
        if isinstance(rows, Path) and not rows.is_file():
            raise typer.BadParameter(f"--bind {text}: there is no file `{rows}`")
        if name in found:
            raise typer.BadParameter(f"--bind {text}: `{name}` is given twice")
        found[name] = value
    return found
