"""A checked and grounded program → all that the rules of the catalogue find in it."""

from __future__ import annotations

from collections.abc import Iterator

from plx.check.catalogue import CATALOGUE
from plx.check.ignoring import unignored
from plx.check.program import Program
from plx.errors import Diagnostic, did_you_mean
from plx.graph.model import GroundModel
from plx.lint.decided import decided
from plx.lint.finding import finding
from plx.lint.pairs import pairs
from plx.lint.rare import rare
from plx.lint.repeated import repeated
from plx.lint.unused import unused
from plx.syntax import ast


def lint(module: ast.Module, program: Program, model: GroundModel | None) -> tuple[Diagnostic, ...]:
    """The program's warnings and what further rules find, in the order of the text.

    What evidence decides is told of programs that learn nothing: complete data are what others are for;
    ``model`` is None for a program that is answered without grounding, of which it is not told.
    """
    found = [
        *_unknown_codes(module),
        *unused(module),
        *repeated(module),
        *pairs(program),
        *rare(program),
        *(() if program.learned or model is None else decided(model)),
    ]
    everything = [*program.warnings, *unignored(found, module)]
    return tuple(sorted(everything, key=lambda one: (one.span.start if one.span else 0, one.code or "")))


def _unknown_codes(module: ast.Module) -> Iterator[Diagnostic]:
    for ignore in module.ignores:
        if ignore.code not in CATALOGUE:
            hint = did_you_mean(ignore.code, CATALOGUE)
            yield finding("PLX100", ignore.span, f"there is no rule `{ignore.code}`", hint)
