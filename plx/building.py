"""Models from the texts of programs, and from programs translated from other languages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from plx.check.checker import check
from plx.data.load import load
from plx.model import Model, Reread, made
from plx.origin import CheckedProgram
from plx.questions import Questions
from plx.recipe import Recipe
from plx.source import Source
from plx.values import Values

if TYPE_CHECKING:
    from plx.formats.translated import Translated


def build(
    source: Source,
    bindings: Mapping[str, object],
    folder: Path,
    max_ground: int | None = None,
    *,
    options: Collection[str] = (),
    told: Collection[str] = (),
    questions: Questions | None = None,
    world: Path | None = None,
) -> Model:
    """The model of a program. Raises PlxError with every mistake in it and its data.

    ``options`` are names that the caller may have meant by a binding of an unknown name, ``told`` those
    that it gave a value, so that the program must not declare them. ``questions`` are put to it; files in the
    folder ``world`` take the place of its own.
    """
    return made(Recipe(source, bindings, folder, max_ground, options, questions or Questions(), world), told)


def build_translated(
    name: str,
    translated: Translated,
    bindings: Mapping[str, object],
    max_ground: int | None = None,
    reread: Reread | None = None,
) -> Model:
    """The model of a program that was translated from another language. Raises PlxError, as `build`."""
    values = Values()
    data = load(translated.module, bindings, Path(), values)
    program = check(translated.module, data, values)
    origin = CheckedProgram(program, translated.module, translated.text, max_ground, translated.notes)
    return Model(name, origin, reread=reread)
