"""A program that was translated from the language of another tool."""

from __future__ import annotations

from dataclasses import dataclass

from plx.errors import Diagnostic
from plx.syntax import ast


@dataclass(frozen=True, eq=False)
class Translated:
    """Statements of plx with places in the files that they come from, their text, and what to say of them."""

    module: ast.Module
    text: str
    notes: tuple[Diagnostic, ...] = ()
