"""What `Model.learn` and `Model.score` need to know of the program and of each of its worlds."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from plx.clash import explained
from plx.errors import CallError, Diagnostic, Note, PlxError, did_you_mean
from plx.origin import CheckedProgram
from plx.recipe import Recipe, learn_statements

if TYPE_CHECKING:
    from plx.graph.model import GroundModel
    from plx.infer.inference import Inference
    from plx.learn.cross import CrossValidation
    from plx.learn.fit import Found
    from plx.learn.numbers import Learned
    from plx.learn.score import Score
    from plx.learn.worlds import World
    from plx.weights import Number

GivenWorld = Mapping[str, object] | str | os.PathLike[str]
"""The bindings of a world, or a folder whose files take the place of those that the program names; of another
tool's file, a database."""


def programs_of(
    program: CheckedProgram,
    told: Callable[[GivenWorld], CheckedProgram],
    worlds: Iterable[GivenWorld] | None,
) -> list[CheckedProgram]:
    """The program with the data of each world; ``None`` stands for its own. Raises PlxError, CallError."""
    if worlds is None:
        return [program]
    if isinstance(worlds, Mapping | str | os.PathLike):
        raise CallError(Diagnostic("`worlds` is a list of worlds, this is one", hint="worlds=[…]"))
    every = list(worlds)
    if not every:
        raise CallError(Diagnostic("there are no worlds", hint="worlds=[{…}, {…}]"))
    return [_one_of(every, i, told) for i in range(len(every))]


def _one_of(
    worlds: Sequence[GivenWorld], i: int, told: Callable[[GivenWorld], CheckedProgram]
) -> CheckedProgram:
    """The program with the data of a world. Raises as `programs_of`, with the number of the world."""
    world = worlds[i]
    if not isinstance(world, Mapping | str | os.PathLike):
        message = f"a world is a dict of data, or a folder, and world {i + 1} is a {type(world).__name__}"
        raise CallError(
            Diagnostic(message, hint="one program learns from all worlds: each is data of its own for it")
        )
    if len(worlds) == 1:
        return told(world)
    place = "" if isinstance(world, Mapping) else f", `{os.fspath(world)}`"
    words = f"in world {i + 1} of {len(worlds)}{place}"
    try:
        return replace(told(world), world=words)
    except PlxError as error:
        raise error.noted(Note(words)) from None


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
    return tuple(
        replace(one, node=nodes[one.node.name.text], formula=one.span.text, origin=one.node)
        for one in learned
    )


def world_of(program: CheckedProgram, given: Collection[str]) -> World:
    """What the program says without and with its observations, but for those of ``given``."""
    from plx.learn.worlds import World

    with explained(program):
        return World(*program.unfitted_world(given))


def valued(world: World, numbers: Mapping[str, Number]) -> World:
    """The world with numbers in the place of the names of those that are learned."""
    from plx.graph.learned import with_numbers
    from plx.learn.worlds import World

    return World(with_numbers(world.free, numbers), with_numbers(world.seen, numbers))


def scored(
    name: str, worlds: Sequence[World], answer: Callable[[GroundModel], Inference], others: bool
) -> Score:
    """The scores of worlds whose numbers have values, by what ``answer`` finds, or from all ``others``."""
    from plx.learn.score import conditioned, inferred, score

    if others:
        return score(name, worlds, conditioned, "log pseudo-likelihood")
    return score(name, worlds, lambda world: inferred(world, answer))


def crossed(
    name: str,
    programs: Sequence[CheckedProgram],
    worlds: Sequence[World],
    split: Sequence[tuple[int, ...]],
    learn: Callable[[Sequence[World], Sequence[Learned]], Found],
    score: Callable[[Sequence[World]], Score],
) -> CrossValidation:
    """Each part of the worlds as the numbers that are learned from the others predict it.

    All numbers of all worlds are learned each time: of those that a part alone has, the prior decides.
    """
    from plx.learn.cross import Fitted, cross_validate
    from plx.learn.numbers import numbers_of

    learned = numbers_of(program.program for program in programs)

    def fit(rest: Sequence[int]) -> Fitted:
        found = learn([worlds[i] for i in rest], learned)
        values = zip(found.estimates.names, found.estimates.value.tolist(), strict=True)
        return Fitted(dict(values), found.converged)

    def predicted(mine: Sequence[int], weights: Mapping[str, float]) -> Score:
        numbers = {name: Fraction(value) for name, value in weights.items()}
        return score([valued(worlds[i], numbers) for i in mine])

    return cross_validate(name, split, fit, predicted)


def require_randoms(program: CheckedProgram, given: Collection[str]) -> None:
    """Raises CallError, with the nearest name, where one of ``given`` is no random function."""
    randoms = program.program.randoms
    named = (getattr(one, "name", None) for one in program.module.statements)
    known = {name.text for name in named if name is not None}
    for name in given:
        if name not in randoms:
            fixed = "what is no random function is given in any case: leave it out"
            hint = fixed if name in known else did_you_mean(name, randoms)
            raise CallError(Diagnostic(f"`given` names `{name}`, which is no random function", hint=hint))
