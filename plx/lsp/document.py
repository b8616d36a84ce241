"""A program as an editor sees it: its tree, its mistakes, its model where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plx.errors import Diagnostic, PlxError
from plx.graph.model import GroundModel
from plx.lsp.occurrences import Occurrence, occurrences
from plx.model import Model
from plx.recipe import Recipe
from plx.source import Source
from plx.syntax import ast
from plx.syntax.parser import recover
from plx.syntax.printer import quoted
from plx.syntax.words import is_name

_MOST_GROUND = 100_000
"""A program with a rule of more instances than this is not ground while it is written."""


class RenameError(Exception):
    """Raised where a name cannot be changed so; says why."""


@dataclass(frozen=True, eq=False)
class Document:
    """A program; ``model`` is None while there are mistakes in it."""

    module: ast.Module
    model: Model | None
    diagnostics: Sequence[Diagnostic]

    @property
    def source(self) -> Source:
        return self.module.source

    @cached_property
    def ground(self) -> GroundModel | None:
        """The factor graph, unless there are mistakes or it is large."""
        if self.model is None:
            return None
        try:
            return self.model.ground
        except PlxError:
            return None

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """All names of the program."""
        return occurrences(self.module)

    def at(self, offset: int) -> Occurrence | None:
        """The name at a place, or that ends there."""
        return next((one for one in self.occurrences if one.span.start <= offset <= one.span.end), None)

    def alike(self, occurrence: Occurrence) -> list[Occurrence]:
        """All places where a name stands for the same."""
        return [one for one in self.occurrences if one.meaning == occurrence.meaning]

    def definition(self, occurrence: Occurrence) -> Occurrence | None:
        """Where a name is declared or bound, or a symbol is first a member."""
        return next((one for one in self.alike(occurrence) if one.defines), None)

    def renamed(self, occurrence: Occurrence, name: str) -> list[tuple[Occurrence, str]]:
        """What to write where, so that a name is called otherwise. Raises RenameError."""
        kind, old, _ = occurrence.meaning
        if self.definition(occurrence) is None:
            raise RenameError(f"`{old}` is not declared in this program")
        if kind != "symbol" and not is_name(name):
            raise RenameError(f"`{name}` is no name")
        if name != old and any(one.meaning[1] == name for one in self.occurrences):
            raise RenameError(f"there is a `{name}` in this program already")
        return [(one, name if is_name(name) else quoted(name)) for one in self.alike(occurrence)]


def read(source: Source, folder: Path) -> Document:
    """The program of a text; its paths are relative to the folder."""
    module, mistakes = recover(source)
    try:
        recipe = Recipe(source, {}, folder, _MOST_GROUND)
        model = Model(source.name, recipe.checked(module, mistakes), recipe)
    except PlxError as error:
        return Document(module, None, error.diagnostics)
    return Document(module, model, model.warnings)
