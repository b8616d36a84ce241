"""plx: a probabilistic programming language for typed, finite, multi-valued unknowns."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plx.answer.named import Estimate, MapWorld, Moments
    from plx.answer.result import Interrupted, QueryResult, Result
    from plx.api import compare, compile, convert, from_networkx, from_pgmpy, from_pyagrum, load, resume, run
    from plx.data.database_rows import Database
    from plx.data.otherwise import Else
    from plx.errors import CallError, Diagnostic, PlxError
    from plx.infer.compare.curves import Comparison
    from plx.infer.mixing.report import Mixing
    from plx.lift.describe import Symmetries
    from plx.model import Model

__all__ = [
    "CallError",
    "Comparison",
    "Database",
    "Diagnostic",
    "Else",
    "Estimate",
    "Fit",
    "Interrupted",
    "MapWorld",
    "Mixing",
    "Model",
    "Moments",
    "PlxError",
    "QueryResult",
    "Result",
    "Sample",
    "Score",
    "Symmetries",
    "compare",
    "compile",
    "convert",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "load",
    "resume",
    "run",
    "score",
]

_HOME = {
    "CallError": "errors",
    "Comparison": "infer.compare.curves",
    "Database": "data.database_rows",
    "Diagnostic": "errors",
    "Else": "data.otherwise",
    "PlxError": "errors",
    "Mixing": "infer.mixing.report",
    "Model": "model",
    "Symmetries": "lift.describe",
    "Estimate": "answer.named",
    "Interrupted": "answer.result",
    "Fit": "learn.result",
    "MapWorld": "answer.named",
    "Moments": "answer.named",
    "QueryResult": "answer.result",
    "Result": "answer.result",
    "Sample": "answer.sample",
    "Score": "learn.score",
}


def __getattr__(name: str) -> object:
    """The public names, imported on first use: the command line needs few of them."""
    if name not in __all__:
        raise AttributeError(f"module 'plx' has no attribute {name!r}")
    return getattr(import_module(f"plx.{_HOME.get(name, 'api')}"), name)


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext plx`` calls: from then on, a cell that begins with ``%%plx`` is a program."""
    import_module("plx.notebook").register(shell)


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
