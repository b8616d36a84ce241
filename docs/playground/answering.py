"""What the playground asks of plx, in the worker of its page: a program's text to what the page shows."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import plx
from plx.answer.report import page
from plx.errors import Diagnostic, PlxError, render

_FIRST = """
type N = 1..20
random a(N)
weight log(2): a(x) & a(y) for x, y in N if x < y & y < x + 3
query a(1)
query map
"""
"""More worlds than are enumerated."""


def answered(text: str, folder: str = ".", seconds: float = 20.0) -> dict[str, Any]:
    """The answers of a program as a page of HTML, or its mistakes as the terminal prints them.

    Files that it names lie in ``folder``. ``seconds`` is when sampling ends. Nothing is raised.
    """
    os.chdir(folder)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", RuntimeWarning)
        try:
            found = _answered(text, seconds)
        except PlxError as error:
            found = {"mistakes": [_shown(one) for one in error.diagnostics]}
        except MemoryError:
            found = _failed("error: the program needs more memory than a page has")
        except Exception:
            found = _failed(f"this is a fault of plx:\n\n{traceback.format_exc()}")
    notes = [{"text": f"note: {one.message}", "line": 0} for one in said]
    return {**found, "notes": [*found.get("notes", []), *notes]}


def _answered(text: str, seconds: float) -> dict[str, Any]:
    model = plx.compile(text)
    result = model.run(seconds=seconds)
    return {"page": page(result, brief=True), "notes": [_shown(one) for one in model.warnings]}


def _failed(text: str) -> dict[str, Any]:
    return {"mistakes": [{"text": text, "line": 0}]}


def _shown(diagnostic: Diagnostic) -> dict[str, Any]:
    """The text that the terminal prints, and where in the program to go; line 0 where it is of no place."""
    span = diagnostic.span
    line, column = (0, 0) if span is None else (span.line, span.column)
    return {"text": render(diagnostic), "line": line, "column": column}


def prepared(folder: str) -> str:
    """Load what most programs need, from a folder that a bundle was unpacked to; the version of plx.

    Loaded during a run it would count as time that the run took.
    """
    sys.path.insert(0, folder)
    answered(_FIRST, folder)
    return (Path(folder) / "VERSION").read_text(encoding="utf-8").strip()
