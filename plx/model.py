"""The stages, chained: a program's text → Model → Result.

What only running needs is imported where it is used, so that checking a program starts at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from plx.check.checker import check
from plx.check.partial import independent
from plx.check.program import Program
from plx.data import load as load_data
from plx.deadline import OutOfTimeError, within
from plx.decoding import decode
from plx.errors import CallError, Diagnostic, Note, NoWorldError, PlxError
from plx.source import Source
from plx.syntax import ast
from plx.syntax.foreign_files import refuse_content, refuse_suffix
from plx.syntax.parser import recover
from plx.values import Values

if TYPE_CHECKING:
    from plx.answer.collect import QueryGroup
    from plx.answer.result import Result
    from plx.formats import ObservedNetwork
    from plx.graph.model import GroundEvidence, GroundModel, GroundQuery
    from plx.infer.inference import Inference
    from plx.infer.options import Options, Report
    from plx.lift.describe import Symmetries
    from plx.lift.symmetry import Kind

T = TypeVar("T")

_TOGETHER = 0.25
"""The share of the time in which one count for several ``given`` is looked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """What can be run, as often as you like. Made by ``plx.compile`` and ``plx.load``.

    ``origin`` is a checked program with its data, or what was read from a file of another tool.
    ``max_ground`` is the most ground instances that a rule may have, None for the default.
    """

    name: str
    origin: Program | ObservedNetwork
    max_ground: int | None = None

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What looks odd but is not wrong."""
        return self.origin.warnings

    @cached_property
    def ground(self) -> GroundModel:
        """The factor graph, with names. Raises PlxError if it would be too large."""
        try:
            return self._assembled()
        except NoWorldError as error:
            raise self._clash(error) from None

    def __repr__(self) -> str:
        return f"<Model {self.name}: {self.origin.contents}>"

    def _repr_html_(self) -> str:
        from plx.markup import html_lines

        warnings = (f"warning: {warning.message}" for warning in self.warnings)
        return html_lines(f"Model {self.name}", [self.origin.contents, *warnings])

    def require_world(self) -> None:
        """Look, without sampling, for a world that keeps all hard rules and observations; also per `given`.

        Raises PlxError if there is none; it names rules, observations and ground instances that clash.
        """
        from plx.infer.hard.contradiction import require_world

        for positions in _by_given(self.ground.queries):
            self._conditioned(positions, require_world)

    def run(
        self,
        *,
        method: str = "auto",
        seed: int | None = None,
        chains: int | None = None,
        samples: int | None = None,
        seconds: float | None = None,
        accuracy: float = 0.005,
        progress: bool | Report = False,
    ) -> Result:
        """Answer the queries.

        Args:
            method: ``exact``, ``gibbs``, … or ``auto``: exact where the program is small enough.
            seed: makes a sampled run repeatable; drawn, and kept in the result, if not given.
            chains: how many independent chains; fewer than 16 prove nothing, so 16 are run.
            samples: stop after so many samples, counted over all chains.
            seconds: stop after so many seconds on the wall, grounding and planning included; 60 if neither
                this nor ``samples`` is given, without limit for ``exact``.
            accuracy: stop when every standard error is below this and the chains agree.
            progress: show a bar on standard error when it takes more than a second, or a function that
                takes reports (``plx.infer.options.Progress``).

        Raises:
            PlxError: if the program has no possible world, a `given` has probability 0, or the
                program is too large to ground or for the method; CallError, which is one, for options
                that make no sense.
            Interrupted: on Ctrl-C, with the answers so far; it is a KeyboardInterrupt.
        """
        from plx.answer.result import Interrupted
        from plx.infer.options import run_options

        options = run_options(
            method, seed=seed, chains=chains, samples=samples, seconds=seconds, accuracy=accuracy
        )
        check_method(method)
        with watcher(progress) as report:
            try:
                result = self._answer(method, replace(options, progress=report))
            except KeyboardInterrupt:
                raise Interrupted from None
        if result.status == "interrupted":
            raise Interrupted(result)
        return result

    def symmetries(self, kind: Kind = "nec", seconds: float = 60.0) -> Symmetries:
        """The symmetries of the program's distribution, without any ``given``.

        Args:
            kind: ``variable`` permutes unknowns, ``vv`` unknowns and their values, ``nec`` also unknowns
                of different size once interchangeable values are merged.
            seconds: what is not found by then is left out, and ``notes`` says so.

        Raises PlxError as ``run`` does.
        """
        from plx.infer.options import checked
        from plx.lift.describe import describe
        from plx.lift.find import find_symmetry

        _check_kind(kind)
        return describe(find_symmetry(self.ground, kind, checked(seconds=seconds)["seconds"]), self.ground)

    def draw_symmetries(self, kind: Kind = "nec", form: Literal["svg", "dot"] = "svg") -> str:
        """The coloured graph whose symmetries are those of the program, as SVG or DOT text.

        Raises PlxError for a graph of more vertices than can be read.
        """
        from plx.infer.options import check_choice
        from plx.lift.draw import draw

        _check_kind(kind)
        check_choice("form of a picture", form, ("svg", "dot"))
        return draw(self.ground, kind, form)

    def _answer(self, method: str, options: Options) -> Result:
        """Run once per distinct ``given``, on the model conditioned by it."""
        from plx.answer.collect import QueryGroup, collect
        from plx.infer.answer_size import refuse_large_answers
        from plx.infer.options import Clock

        clock = Clock()
        refuse_large_answers(self.ground.graph, self.ground.queries)
        groups = _by_given(self.ground.queries)
        parts: list[QueryGroup] = []
        try:
            together = self._together(groups, method, options)
            for positions in groups:
                if positions in together:
                    parts.append(
                        QueryGroup(
                            positions, self._asking(positions), together[positions], self._given(positions)
                        )
                    )
                    continue
                if parts and _is_over(options, clock.seconds):
                    continue
                share = _share(options, clock.seconds, len(groups) - len(parts))
                parts.append(self._part(positions, method, share))
                if parts[-1].inference.status == "interrupted":
                    break
        except KeyboardInterrupt:
            if not parts:
                raise
            return collect(self.name, parts, interrupted=True)
        return collect(self.name, parts, self.ground.queries)

    def _part(self, positions: tuple[int, ...], method: str, options: Options) -> QueryGroup:
        from plx.answer.collect import QueryGroup
        from plx.infer.infer import infer

        return self._conditioned(
            positions,
            lambda model: QueryGroup(positions, model, infer(model, method, options), self._given(positions)),
        )

    def _together(
        self, groups: Sequence[tuple[int, ...]], method: str, options: Options
    ) -> dict[tuple[int, ...], Inference]:
        """Exact answers to several ``given`` that one count gives, by the positions of their queries."""
        if len(groups) < 2 or method not in ("auto", "exact"):
            return {}
        from plx.infer.counting.shared_evidence import answered_together

        try:
            with within(None if options.seconds is None else _TOGETHER * options.seconds):
                return answered_together(self.ground, groups, options.progress)
        except OutOfTimeError:
            return {}

    def _asking(self, positions: tuple[int, ...]) -> GroundModel:
        """The ground model with these queries alone."""
        return replace(self.ground, queries=tuple(self.ground.queries[i] for i in positions))

    def _given(self, positions: tuple[int, ...]) -> bool:
        """Whether the queries at these positions have a ``given``."""
        return bool(positions and self.ground.queries[positions[0]].given)

    def _conditioned(self, positions: tuple[int, ...], use: Callable[[GroundModel], T]) -> T:
        """Use the model of queries that share a ``given``, which becomes evidence.

        Raises PlxError that says why where it has no world.
        """
        from plx.ground.condition import condition

        model = self._asking(positions)
        given = model.queries[0].given if positions else ()
        try:
            return use(condition(model, given) if given else model)
        except NoWorldError as error:
            raise self._clash(error, positions[0] if given else None) from None

    def _clash(self, error: NoWorldError, query: int | None = None) -> PlxError:
        """Why there is no world, or none with the `given` of a query; as far as it can be grounded."""
        from plx.infer.hard.contradiction import contradiction, possible

        try:
            hard = self._hard()
        except PlxError:
            return error
        if not isinstance(self.origin, Program) and self.origin.evidence.observed:
            found = contradiction(hard).diagnostics[0]
            notes = (Note(found.message, found.span), *found.notes)
            return PlxError(Diagnostic("the evidence has probability 0", notes=notes))
        given = () if query is None else hard.queries[query].given
        if not given or not possible(hard):
            return contradiction(hard)
        if all(fact.node >= 0 for fact in given):
            error = contradiction(hard, [(fact.node, fact.state) for fact in given])
        return _impossible(given, error)

    def _assembled(self) -> GroundModel:
        if isinstance(self.origin, Program):
            from plx.ground.grounder import ground

            return ground(self.origin, self._limit)
        from plx.formats import build

        return build(self.origin)

    def _hard(self) -> GroundModel:
        """The hard rules and observations alone, none of them merged."""
        if isinstance(self.origin, Program):
            from plx.ground.hard import ground_hard

            return ground_hard(self.origin, self._limit)
        from plx.formats import build_hard

        return build_hard(self.origin)

    @property
    def _limit(self) -> int:
        from plx.ground.limit import MAX_GROUND

        return MAX_GROUND if self.max_ground is None else self.max_ground


def _check_kind(kind: Kind) -> None:
    from plx.infer.options import check_choice

    check_choice("kind of symmetry", kind, ("variable", "vv", "nec"))


def _is_over(options: Options, spent: float) -> bool:
    """Whether no time is left for one more run."""
    return options.seconds is not None and spent >= options.seconds


def _share(options: Options, spent: float, runs: int) -> Options:
    """The options of the next run: an equal share of the time that is left."""
    if options.seconds is None:
        return options
    return replace(options, seconds=max(0.0, options.seconds - spent) / runs)


def watcher(progress: bool | Report) -> AbstractContextManager[Report]:
    """What takes the reports of a run: a bar or lines on standard error, or the caller's function."""
    if callable(progress):
        return nullcontext(progress)
    if not isinstance(progress, bool):
        message = f"`progress` is True, False or a function that takes reports, not {progress!r}"
        raise CallError(Diagnostic(message))
    from plx.infer.options import silent
    from plx.progress import watching

    return watching(sys.stderr) if progress else nullcontext(silent)


def _by_given(queries: Sequence[GroundQuery]) -> list[tuple[int, ...]]:
    """Positions of the queries by their ``given``, those without one first; never empty."""
    groups: dict[frozenset[tuple[int, int]], list[int]] = {frozenset(): []}
    for i, query in enumerate(queries):
        facts = frozenset((fact.node, fact.state) for fact in query.given)
        groups.setdefault(facts, []).append(i)
    return [tuple(positions) for positions in groups.values() if positions] or [()]


def _impossible(given: Sequence[GroundEvidence], error: NoWorldError) -> PlxError:
    """The mistake of a ``given`` that holds in no world, with the rules that rule it out."""
    span = given[0].span.to(given[-1].span)
    found = error.diagnostics[0]
    notes = (Note(found.message, found.span), *found.notes)
    return PlxError(Diagnostic(f"the given of line {span.line} has probability 0", span, notes=notes))


def check_method(method: str) -> None:
    """Raises CallError, with the nearest name, if ``Model.run`` knows no such method."""
    from plx.infer.infer import require_method

    require_method(method)


def is_network(file: Path) -> bool:
    """Whether a file is a model of another tool. Raises PlxError where plx reads none of that tool."""
    if file.suffix.lower() in ("", ".plx"):
        return False
    from plx.formats import is_model_file

    if is_model_file(file):
        return True
    if file.is_file():
        refuse_suffix(str(file))
    return False


def read_network(file: Path, evidence: Sequence[str | os.PathLike[str]] = (), best: int = 0) -> Model:
    """The model of another tool, which asks for every unknown that is not observed, and for the
    ``best`` most probable worlds. Raises PlxError."""
    from plx.formats import read_observed

    return Model(str(file), read_observed(file, [os.fspath(item) for item in evidence], best))


def read_program(
    name: str,
    content: bytes,
    bindings: Mapping[str, object],
    folder: Path,
    max_ground: int | None = None,
    *,
    options: Collection[str] = (),
) -> Model:
    """The model of a program as the bytes of a file, as `build`; refuses what is of another tool."""
    refuse_content(name, content)
    return build(decode(name, content), bindings, folder, max_ground, options=options)


def build(
    source: Source,
    bindings: Mapping[str, object],
    folder: Path,
    max_ground: int | None = None,
    *,
    options: Collection[str] = (),
    told: Collection[str] = (),
) -> Model:
    """The model of a program. Raises PlxError with every mistake in it and its data.

    ``options`` are names that the caller may have meant by a binding of an unknown name, ``told`` those
    that it gave a value, so that the program must not declare them.
    """
    values = Values()
    module, mistakes = recover(source)
    if shared := [name for name in _declared(module) if name.text in told]:
        raise CallError(map(_shared, shared))
    data = load_data(module, bindings, folder, values, options)
    try:
        program = check(module, data, values)
    except PlxError as error:
        others = independent(error.diagnostics, module) if mistakes else error.diagnostics
        raise PlxError([*mistakes, *others]) from None
    if mistakes:
        raise PlxError(mistakes)
    return Model(source.name, program, max_ground)


def _declared(module: ast.Module) -> Iterator[ast.Name]:
    """The declared names that a caller can give."""
    givable = (ast.TypeDecl, ast.ParamDecl, ast.RelationDecl, ast.RandomDecl)
    return (statement.name for statement in module.statements if isinstance(statement, givable))


def _shared(name: ast.Name) -> Diagnostic:
    message = f"`{name.text}` is an option of `run`, and the program declares it too"
    return Diagnostic(message, name.span, hint=f"give it to the program by plx.compile(text, {name.text}=…)")
