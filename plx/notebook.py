"""Programs in cells of a notebook: ``%load_ext plx``, then ``%%plx``."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand
from IPython.display import display

from plx.answer.result import Interrupted, Result
from plx.api import OPTIONS
from plx.building import build
from plx.data import parse_binding
from plx.errors import PlxError, render
from plx.model import Model
from plx.questions import Questions
from plx.recipe import awaited
from plx.source import Source

_HELP = """\
Answer the queries of the program in this cell.

A type, param or relation that the program gives no value takes the variable of its name.
"""


class _Parser(ArgumentParser):
    """A parser whose mistakes are told by the notebook."""

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        raise UsageError(f"{message}\n{self.format_usage()}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Nothing ends the kernel."""
        raise UsageError(message or "")


def _parser() -> _Parser:
    """The options, as those of ``plx run``."""
    parser = _Parser("%%plx", description=_HELP, formatter_class=RawDescriptionHelpFormatter, add_help=False)
    parser.add_argument("name", nargs="?", metavar="NAME", help="keep the result in this variable")
    parser.add_argument("--model", metavar="NAME", help="keep the model in this variable, and run nothing")
    parser.add_argument("--method", help="auto, exact, lifted, gibbs, …")
    for option in ("seed", "chains", "samples", "draws"):
        parser.add_argument(f"--{option}", type=int, metavar="N")
    for option in ("seconds", "accuracy"):
        parser.add_argument(f"--{option}", type=float, metavar="X")
    parser.add_argument(
        "--bind", action="append", default=[], metavar="NAME[=VALUE]",
        help="give a declared name the variable of that name, or a value: w=0.7, p=p.csv",
    )  # fmt: skip
    parser.add_argument(
        "--query", action="append", default=[], help="ask this in place of the program's queries"
    )
    parser.add_argument("--observe", action="append", default=[], help="observe this as well")
    return parser


def register(shell: Any) -> None:
    """Make ``%%plx`` known to a shell of IPython."""

    @no_var_expand
    def plx(line: str, cell: str) -> Result | Model:
        return _answered(shell.user_ns, line, cell)

    plx.__doc__ = _parser().format_help()
    shell.register_magic_function(plx, "cell", "plx")


def _answered(variables: dict[str, Any], line: str, cell: str) -> Result | Model:
    """What the program of a cell gives; variables are read, and those that the line names are set.

    A mistake of the program, and Ctrl-C, are told without a traceback.
    """
    options = _options(line)
    try:
        model = _model(variables, options, cell)
        for warning in model.warnings:
            sys.stderr.write(render(warning) + "\n")
        if options.model is not None:
            variables[options.model] = model
            return model
        result = model.run(**_told(options), progress=True)
    except Interrupted as stop:
        if stop.result is not None:
            _keep(variables, options, stop.result)
            display(stop.result)  # type: ignore[no-untyped-call]
            raise _plain(stop, "interrupted: these are the answers so far") from None
        raise _plain(stop, str(stop)) from None
    except PlxError as error:
        raise _plain(error, str(error)) from None
    _keep(variables, options, result)
    return result


def _options(line: str) -> Namespace:
    try:
        options = _parser().parse_args(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"%%plx {line}: {error}") from None
    for name in (options.name, options.model):
        if name is not None and not name.isidentifier():
            raise UsageError(f"%%plx {line}: `{name}` is no name of a variable")
    return options


def _told(options: Namespace) -> dict[str, Any]:
    """The options of `Model.run` that are given."""
    found = {name: getattr(options, name) for name in OPTIONS if hasattr(options, name)}
    return {name: value for name, value in found.items() if value is not None}


def _model(variables: Mapping[str, Any], options: Namespace, cell: str) -> Model:
    source = Source("cell", "\n" + cell)  # so that lines are those of the cell, of which the first is `%%plx`
    bindings = {name: variables[name] for name in awaited(source) if name in variables}
    for text in options.bind:
        bindings.update([_binding(variables, text)])
    questions = Questions(tuple(options.query), (), tuple(options.observe))
    return build(source, bindings, Path(), questions=questions)


def _binding(variables: Mapping[str, Any], text: str) -> tuple[str, Any]:
    """A name of the program and its value, which is a variable where nothing else is said."""
    if "=" not in text:
        if text not in variables:
            raise UsageError(f"--bind {text}: there is no variable `{text}`")
        return text, variables[text]
    try:
        return parse_binding(text)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _keep(variables: dict[str, Any], options: Namespace, result: Result) -> None:
    if options.name is not None:
        variables[options.name] = result


def _plain(error: BaseException, text: str) -> BaseException:
    """The error, of which a notebook shows a text in place of a traceback."""
    error._render_traceback_ = lambda: text.split("\n")  # type: ignore[attr-defined]
    return error
