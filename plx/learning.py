"""What `Model.learn` and `Model.score` need to know of the program and of each of its worlds."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plx.clash import explained
from plx.errors import CallError, Diagnostic, did_you_mean
from plx.origin import CheckedProgram
from plx.recipe import Recipe, learn_statements

if TYPE_CHECKING:
    from plx.learn.numbers import Learned
    from plx.learn.worlds import World

GivenWorld = Mapping[str, object] | str | os.PathLike[str]
"""The bindings of a world, or a folder whose files take the place of those that the program names; of another
tool's file, a database."""


def programs_of(
    program: CheckedProgram,
    told: Callable[[GivenWorld], CheckedProgram],
    worlds: Iterable[GivenWorld] | None,
) -> list[CheckedProgram]:
    """The program with the data of each world; ``None`` stands for its own. Raises PlxError, CallError."""
    programs = [program] if worlds is None else [told(world) for world in worlds]
    if not programs:
        raise CallError(Diagnostic("there are no worlds", hint="worlds=[{…}, {…}]"))
    return programs


def told(recipe: Recipe, world: GivenWorld) -> Recipe:
    """The recipe with the data of a world."""
    if isinstance(world, Mapping):
        return replace(recipe, bindings={**recipe.bindings, **world})
    return replace(recipe, world=Path(world))


def placed(learned: Sequence[Learned], program: CheckedProgram) -> tuple[Learned, ...]:
    """Numbers with their places in the text of their program, which a translated one was not read from."""
    if program.module.source.text == program.text:
        return tuple(learned)
    nodes = learn_statements(program.text)
    return tuple(replace(one, node=nodes[one.node.name.text], formula=one.span.text) for one in learned)


def world_of(program: CheckedProgram, given: Collection[str]) -> World:
    """What the program says without and with its observations, but for those of ``given``."""
    from plx.learn.worlds import World

    with explained(program):
        return World(program.unfitted(given), program.unfitted())


def require_randoms(program: CheckedProgram, given: Collection[str]) -> None:
    """Raises CallError, with the nearest name, where one of ``given`` is no random function."""
    randoms = program.program.randoms
    for name in given:
        if name not in randoms:
            hint = did_you_mean(name, randoms)
            raise CallError(Diagnostic(f"`given` names `{name}`, which is no random function", hint=hint))
