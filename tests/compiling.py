"""Programs in tests: text → Program in one call."""

from __future__ import annotations

from pathlib import Path

from plx.check.checker import check
from plx.check.program import Program
from plx.data import load
from plx.source import Source
from plx.syntax.parser import parse
from plx.values import Values


def compile_text(
    text: str, folder: Path | None = None, name: str = "test.plx", **bindings: object
) -> Program:
    """The checked program of a text. Raises PlxError with every mistake."""
    values = Values()
    module = parse(Source(name, text))
    return check(module, load(module, bindings, folder, values), values)
