"""The stages, chained: a program's text → Model → Result.

What only running needs is imported where it is used, so that checking a program starts at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from plx.check.checker import check
from plx.check.partial import independent
from plx.check.program import Program
from plx.data import load as load_data
from plx.deadline import OutOfTime, within
from plx.decoding import decode
from plx.errors import Diagnostic, Note, NoWorldError, PlxError
from plx.source import Source
from plx.syntax.parser import recover
from plx.values import FloatArray, Values

if TYPE_CHECKING:
    from plx.answer.collect import Part
    from plx.answer.result import Result
    from plx.formats import ObservedNetwork
    from plx.graph.model import Condition, GroundModel, GroundQuery
    from plx.infer.compare.curves import Comparison
    from plx.infer.inference import Inference
    from plx.infer.options import Options, Report
    from plx.lift.describe import Symmetries
    from plx.lift.symmetry import Kind

T = TypeVar("T")

_TOGETHER = 0.25
"""The share of the time in which one count for several ``given`` is looked for."""


@dataclass(frozen=True)
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
            chains: how many independent chains.
            samples: stop after so many samples, counted over all chains.
            seconds: stop after so many seconds on the wall, grounding and planning included; 60 if neither
                this nor ``samples`` is given, without limit for ``exact``.
            accuracy: stop when every standard error is below this and the chains agree.
            progress: show a bar on standard error when it takes more than a second, or a function that
                takes reports (``plx.infer.options.Progress``).

        Raises:
            PlxError: if the program has no possible world, a `given` has probability 0, or the
                program is too large to ground or for the method, or there is no such method.
        """
        from plx.infer.options import Options

        usual = Options()
        options = Options(
            seed=_drawn() if seed is None else seed,
            chains=usual.chains if chains is None else chains,
            samples=samples,
            seconds=usual.seconds if seconds is None and samples is None and method != "exact" else seconds,
            accuracy=accuracy,
        )
        with _watcher(progress) as report:
            return self._answer(method, replace(options, progress=report))

    def symmetries(self, kind: Kind = "nec", seconds: float = 60.0) -> Symmetries:
        """The symmetries of the program's distribution, without any ``given``.

        Args:
            kind: ``variable`` permutes unknowns, ``vv`` unknowns and their values, ``nec`` also unknowns
                of different size once interchangeable values are merged.
            seconds: what is not found by then is left out, and ``notes`` says so.
        """
        from plx.lift.describe import describe
        from plx.lift.find import find_symmetry

        if kind not in ("variable", "vv", "nec"):
            hint = "kinds: variable, vv, nec"
            raise PlxError(Diagnostic(f"there is no kind of symmetry `{kind}`", hint=hint))
        return describe(find_symmetry(self.ground, kind, seconds), self.ground)

    def draw_symmetries(self, kind: Kind = "nec", form: Literal["svg", "dot"] = "svg") -> str:
        """The coloured graph whose symmetries are those of the program, as SVG or DOT text.

        Raises PlxError for a graph of more vertices than can be read.
        """
        from plx.lift.draw import draw

        return draw(self.ground, kind, form)

    def _answer(self, method: str, options: Options) -> Result:
        """Run once per distinct ``given``, on the model conditioned by it."""
        from plx.answer.collect import Part, collect
        from plx.infer.options import Clock

        clock = Clock()
        groups = _by_given(self.ground.queries)
        parts: list[Part] = []
        try:
            together = self._together(groups, method, options)
            for positions in groups:
                if positions in together:
                    parts.append(
                        Part(positions, self._asking(positions), together[positions], self._given(positions))
                    )
                    continue
                share = _share(options, clock.seconds, len(groups) - len(parts))
                parts.append(self._part(positions, method, share))
                if parts[-1].inference.status == "interrupted":
                    break
        except KeyboardInterrupt:
            if not parts:
                raise
        return collect(self.name, parts, interrupted=len(parts) < len(groups))

    def _part(self, positions: tuple[int, ...], method: str, options: Options) -> Part:
        from plx.answer.collect import Part
        from plx.infer.infer import infer

        return self._conditioned(
            positions,
            lambda model: Part(positions, model, infer(model, method, options), self._given(positions)),
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
        except OutOfTime:
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


def _drawn() -> int:
    """A seed of 32 bits, never the same twice but by chance."""
    return int.from_bytes(os.urandom(4), "little")


def _share(options: Options, spent: float, runs: int) -> Options:
    """The options of the next run: an equal share of the time that is left."""
    if options.seconds is None:
        return options
    return replace(options, seconds=max(0.0, options.seconds - spent) / runs)


def _watcher(progress: bool | Report) -> AbstractContextManager[Report]:
    if callable(progress):
        return nullcontext(progress)
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


def _impossible(given: Sequence[Condition], error: NoWorldError) -> PlxError:
    """The mistake of a ``given`` that holds in no world, with the rules that rule it out."""
    span = given[0].span.to(given[-1].span)
    found = error.diagnostics[0]
    notes = (Note(found.message, found.span), *found.notes)
    return PlxError(Diagnostic(f"the given of line {span.line} has probability 0", span, notes=notes))


def compare(
    model: Model,
    methods: Sequence[str],
    *,
    seconds: float = 10.0,
    chains: int = 4,
    lanes: int = 64,
    truth: str | Sequence[FloatArray] = "exact",
    protocol: Literal["sweeps", "paper"] = "sweeps",
    seed: int | None = None,
    progress: bool | Report = False,
) -> Comparison:
    """How fast the marginals of several samplers approach the truth.

    Every method runs ``chains`` times for ``seconds`` each; a run pools ``lanes`` states that move
    at once. ``truth`` is "exact", "long" (a long run of ``lifted``) or the true marginals, one
    distribution per unknown. With the ``protocol`` "paper" every method but ``lifted`` counts after each
    update of one unknown picked at random, and moves along orbits as often, as the published runs did.
    Raises PlxError for an unknown method, or where the truth cannot be had.
    """
    from plx.infer.compare.compare import Plan
    from plx.infer.compare.compare import compare as run_all

    seed = _drawn() if seed is None else seed
    with _watcher(progress) as report:
        plan = Plan(methods, seconds, chains, lanes, seed, protocol, report)
        return run_all(model.name, model.ground, truth, plan)


def compile(text: str, /, **bindings: object) -> Model:
    """The model of a program given as text.

    ``bindings`` give types, params, relations and observations by name: lists, dicts, sets, numpy arrays,
    pandas or polars frames, or the path of a CSV file. They override what the program gives. Paths in
    the program are relative to the working folder.

    Raises PlxError with every mistake in the program and its data.
    """
    return _build(Source("program", text), bindings, Path())


def load(path: str | os.PathLike[str], /, *evidence: str | os.PathLike[str], **bindings: object) -> Model:
    """The model in a file: a program, or by its suffix a network of another tool (.uai, .bif, .fg, .json).

    A program's paths are relative to its file, and ``bindings`` are those of ``compile``. For a network
    they are observed states by the name of the unknown; ``evidence`` are files of observations, for
    networks only.

    Raises PlxError as ``compile`` does, OSError if a program cannot be read.
    """
    file = Path(path)
    if is_network(file):
        return read_network(file, [*evidence, *(f"{name}={state}" for name, state in bindings.items())])
    return read_program(str(path), file.read_bytes(), bindings, file.parent)


def run(text: str, /, **arguments: Any) -> Result:
    """``compile(text, **bindings).run(**options)`` in one call.

    What is named as an option of ``Model.run`` is one; a program that itself declares such a name, as
    ``seed``, can be given it by ``compile`` only.
    """
    options = {name: arguments.pop(name) for name in _OPTIONS if name in arguments}
    return compile(text, **arguments).run(**options)


_OPTIONS = ("method", "seed", "chains", "samples", "seconds", "accuracy", "progress")


def methods() -> tuple[str, ...]:
    """The names that ``Model.run`` takes for a method."""
    from plx.infer import infer

    return infer.methods()


def is_network(file: Path) -> bool:
    """Whether a file is a model of another tool."""
    if file.suffix.lower() in ("", ".plx"):
        return False
    from plx.formats import is_model_file

    return is_model_file(file)


def read_network(file: Path, evidence: Sequence[str | os.PathLike[str]] = (), best: int = 0) -> Model:
    """The model of another tool, which asks for every unknown that is not observed, and for the
    ``best`` most probable worlds. Raises PlxError."""
    from plx.formats import read_observed

    return Model(str(file), read_observed(file, [os.fspath(item) for item in evidence], best))


def read_program(
    name: str, content: bytes, bindings: Mapping[str, object], folder: Path, max_ground: int | None = None
) -> Model:
    """The model of a program as the bytes of a file. Raises PlxError, also where they are no UTF-8."""
    return _build(decode(name, content), bindings, folder, max_ground)


def _build(
    source: Source, bindings: Mapping[str, object], folder: Path, max_ground: int | None = None
) -> Model:
    values = Values()
    module, mistakes = recover(source)
    data = load_data(module, bindings, folder, values)
    try:
        program = check(module, data, values)
    except PlxError as error:
        others = independent(error.diagnostics, module) if mistakes else error.diagnostics
        raise PlxError([*mistakes, *others]) from None
    if mistakes:
        raise PlxError(mistakes)
    return Model(source.name, program, max_ground)
