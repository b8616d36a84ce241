"""plx: a probabilistic programming language for typed, finite, multi-valued unknowns."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plx.answer.result import Estimate, MapWorld, QueryResult, Result
    from plx.errors import Diagnostic, PlxError
    from plx.model import Model, compile, load, run

__all__ = [
    "Diagnostic",
    "Estimate",
    "MapWorld",
    "Model",
    "PlxError",
    "QueryResult",
    "Result",
    "compile",
    "load",
    "run",
]

_HOME = {
    "Diagnostic": "errors",
    "PlxError": "errors",
    "Estimate": "answer.result",
    "MapWorld": "answer.result",
    "QueryResult": "answer.result",
    "Result": "answer.result",
}


def __getattr__(name: str) -> object:
    """The public names, imported on first use: the command line needs few of them."""
    if name not in __all__:
        raise AttributeError(f"module 'plx' has no attribute {name!r}")
    return getattr(import_module(f"plx.{_HOME.get(name, 'model')}"), name)
