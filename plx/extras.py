"""Libraries that plx does without until they are asked for: each is an extra of the package."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from plx.errors import CallError, Diagnostic

EXTRAS = {
    "distributed": "cluster",
    "duckdb": "duckdb",
    "matplotlib": "plot",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "parquet",
    "xarray": "xarray",
}
"""Which extra brings a library."""


class MissingLibraryError(CallError, ImportError):
    """Raised where what is asked for needs a library that is not installed."""


def library(name: str, what: str) -> Any:
    """A module of a library of `EXTRAS`. Raises MissingLibraryError, which says how to install it.

    ``what`` needs it, in the plural: ``plots``.
    """
    root = name.partition(".")[0]
    try:
        return import_module(name)
    except ImportError:
        message = f"{what} need {root}, which is not installed"
        raise MissingLibraryError(Diagnostic(message, hint=f"pip install 'plx[{EXTRAS[root]}]'")) from None
