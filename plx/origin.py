"""What a model is made of: a checked program with its data, or a network of another tool."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from plx.check.observing import observing
from plx.check.program import LearnInfo, Program
from plx.errors import Diagnostic, Note, NoWorldError, PlxError
from plx.syntax import ast
from plx.weights import Number

if TYPE_CHECKING:
    from plx.formats import ObservedNetwork
    from plx.graph.model import GroundModel


class Origin(Protocol):
    """What ``Model`` knows of where it comes from."""

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What looks odd but is not wrong."""

    @property
    def contents(self) -> str:
        """What it holds, counted."""

    @property
    def text(self) -> str | None:
        """The text of a program; None for what is none."""

    def assemble(self) -> GroundModel:
        """The factor graph, with names. Raises PlxError if it would be too large, NoWorldError if no world
        is left."""

    def hard(self) -> GroundModel:
        """The hard rules and observations alone, none of them merged. Raises PlxError as ``assemble``."""

    def program_text(self) -> str:
        """It as a program of plx. Raises PlxError for a network that has no world."""

    def ground_text(self) -> str:
        """Its distribution as a program, factor by factor. Raises as ``assemble``."""

    def blamed(self, clash: NoWorldError) -> PlxError:
        """The error that is told of hard rules and observations that clash."""

    def lint(self, model: Callable[[], GroundModel | None]) -> tuple[Diagnostic, ...]:
        """The warnings, and what more there is to say of the grounded model. Raises as ``assemble``."""


@dataclass(frozen=True, eq=False)
class CheckedProgram:
    """A program of plx, its syntax tree and its ``text``.

    ``max_ground`` is the most ground instances of a rule, None for the default. ``notes`` are what was said
    as the program was translated from another language, ``weights`` are learned numbers by name,
    ``world`` says which of several sets of data it has, as a message does.
    """

    program: Program
    module: ast.Module
    text: str
    max_ground: int | None = None
    notes: tuple[Diagnostic, ...] = ()
    weights: Mapping[str, Number] = field(default_factory=dict)
    world: str = ""

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return (*self.notes, *self.program.warnings)

    @property
    def contents(self) -> str:
        return self.program.contents

    def assemble(self) -> GroundModel:
        from plx.graph.learned import with_numbers
        from plx.ground.grounder import ground

        numbers = self.numbers()
        model = ground(self.program, self._limit)
        return with_numbers(model, numbers) if numbers else model

    def unfitted(self, given: Collection[str] | None = None) -> GroundModel:
        """The factor graph with the names of learned numbers in the place of their values, without queries.

        ``given``: only these random functions are observed; None for all that the program observes.
        Raises as ``assemble``.
        """
        from plx.ground.grounder import ground

        program = replace(self.program, queries=())
        return ground(program if given is None else observing(program, given), self._limit)

    def unfitted_world(self, given: Collection[str]) -> tuple[GroundModel, GroundModel]:
        """`unfitted` with observations of ``given`` alone, and with all: what they share is grounded once."""
        from plx.ground.world import ground_world

        program = replace(self.program, queries=())
        return ground_world(program, observing(program, given), self._limit)

    def numbers(self) -> dict[str, Number]:
        """What learned numbers are: learned before, or what they start from. Raises PlxError for none."""
        found: dict[str, Number] = {}
        lacking = []
        for info in self.program.learned:
            if info.start is not None:
                numbers = [self.program.values[i] for i in info.start.tolist()]
                found.update(zip(info.names, numbers, strict=True))  # type: ignore[arg-type]
            found.update({name: self.weights[name] for name in info.names if name in self.weights})
            if any(name not in found for name in info.names):
                lacking.append(info)
        if lacking:
            raise PlxError([_unlearned(info) for info in lacking])
        return found

    def hard(self) -> GroundModel:
        from plx.ground.hard import ground_hard

        return ground_hard(self.program, self._limit)

    def program_text(self) -> str:
        return self.text

    def ground_text(self) -> str:
        from plx.formats import write_ground

        return write_ground(self.assemble())

    def blamed(self, clash: NoWorldError) -> PlxError:
        return clash.noted(Note(self.world)) if self.world else clash

    def lint(self, model: Callable[[], GroundModel | None]) -> tuple[Diagnostic, ...]:
        from plx.lint.lint import lint

        # Numbers that are to be learned need no value for this.
        return lint(self.module, self.program, self.unfitted() if self.program.learned else model())

    @property
    def _limit(self) -> int:
        from plx.ground.limits import MAX_GROUND

        return MAX_GROUND if self.max_ground is None else self.max_ground


def _unlearned(info: LearnInfo) -> Diagnostic:
    name = info.name
    if info.node.name.span.text != name:  # the weight of a formula of another language
        hint = f"write one before it, or learn it: `plx learn`, then --fit FILE; it is called `{name}`"
        return Diagnostic("this formula has no weight yet", info.node.name.span, hint)
    return Diagnostic(
        f"`{name}` has no value yet: it is to be learned",
        info.node.name.span,
        hint=f"learn it from data (`plx learn`) and give the file of the fit (--fit FILE), "
        f"or give a value: `learn {name} = 0.5` in the program, --bind {name}=…",
    )


@dataclass(frozen=True, eq=False)
class ForeignNetwork:
    """A network of another tool, and the evidence on it."""

    network: ObservedNetwork

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.network.warnings

    @property
    def contents(self) -> str:
        return self.network.contents

    @property
    def text(self) -> None:
        return None

    def assemble(self) -> GroundModel:
        from plx.formats import build

        return build(self.network)

    def hard(self) -> GroundModel:
        from plx.formats import build_hard

        return build_hard(self.network)

    def program_text(self) -> str:
        from plx.formats import write_plx

        return write_plx(self.network)

    def ground_text(self) -> str:
        return self.program_text()

    def blamed(self, clash: NoWorldError) -> PlxError:
        """Evidence is no part of the file, so it is at fault where there is some."""
        if not self.network.evidence.observed:
            return clash
        return clash.reason_for("the evidence has probability 0")

    def lint(self, model: Callable[[], GroundModel | None]) -> tuple[Diagnostic, ...]:
        return self.warnings
