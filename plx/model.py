"""The stages, chained: a program's text → Model → Result.

What only running needs is imported where it is used, so that checking a program starts at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from plx.clash import explained
from plx.errors import CallError, Diagnostic, PlxError
from plx.origin import CheckedProgram, Origin
from plx.recipe import Recipe

if TYPE_CHECKING:
    from plx.answer.result import Result
    from plx.answer.sample import Sample
    from plx.answering import Answering
    from plx.firstorder.choice import FirstOrderWay
    from plx.graph.model import GroundModel
    from plx.infer.mixing.report import Mixing
    from plx.infer.options import Options, Report
    from plx.learn.cross import CrossValidation
    from plx.learn.result import Fit as AnyFit
    from plx.learn.score import Score
    from plx.learn.solved import Workers
    from plx.learning import GivenWorld
    from plx.lift.describe import Symmetries
    from plx.lift.symmetry import Kind

    Fit = AnyFit["Model"]


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """What can be run, as often as you like. Made by ``plx.compile`` and ``plx.load``.

    ``origin`` is a checked program with its data, or what was read from a file of another tool; ``recipe`` is
    what a program was built from, ``reread`` translates another tool's file anew, with other databases.
    """

    name: str
    origin: Origin
    recipe: Recipe | None = None
    reread: Reread | None = None

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What looks odd but is not wrong."""
        return self.origin.warnings

    @cached_property
    def ground(self) -> GroundModel:
        """The factor graph, with names. Raises PlxError if it would be too large."""
        with explained(self.origin):
            return self.origin.assemble()

    def lint(self) -> tuple[Diagnostic, ...]:
        """What looks odd, by all rules of `plx lint`. Raises PlxError as ``ground``."""
        return self.origin.lint(lambda: None if self.without_grounding() else self.ground)

    def without_grounding(self) -> FirstOrderWay | None:
        """How the queries are answered without the factor graph; None where it is small, or needed."""
        from plx.answering import first_order_way
        from plx.firstorder.plan import FirstOrderPlan

        way = first_order_way(self.origin)
        with explained(self.origin):
            known = way is not None and not way.is_small and isinstance(way.plan, FirstOrderPlan)
        return way if known else None

    def __repr__(self) -> str:
        return f"<Model {self.name}: {self.origin.contents}>"

    def _repr_html_(self) -> str:
        from plx.markup import html_lines

        warnings = (f"warning: {warning.message}" for warning in self.warnings)
        return html_lines(f"Model {self.name}", [self.origin.contents, *warnings])

    def bind(self, **bindings: object) -> Model:
        """The same program with other values for what ``plx.compile`` can be given by name.

        Files and values that it was given before are read anew. Raises PlxError as ``plx.compile`` does;
        CallError for a network of another tool.
        """
        recipe = self._recipe
        return made(replace(recipe, bindings={**recipe.bindings, **bindings}))

    def observe(self, *facts: str) -> Model:
        """The same program with more observations, as it would write them: ``model.observe("smokes(bob)")``.

        Raises as `bind` does.
        """
        recipe = self._recipe
        asked = replace(recipe.questions, observed=(*recipe.questions.observed, *facts))
        return made(replace(recipe, questions=asked))

    def query(self, *queries: str, given: str | Sequence[str] = (), **options: Any) -> Result:
        """Answer queries in place of the program's own: ``model.query("smokes(x) for x in Person")``.

        ``given`` are facts that hold for all of them, ``options`` those of `run`. Raises as `bind` and `run`.
        """
        if not queries:
            raise CallError(Diagnostic("no query was given", hint='write model.query("smokes(anna)")'))
        return self._asking(queries, (given,) if isinstance(given, str) else tuple(given)).run(**options)

    def _asking(self, queries: tuple[str, ...], given: tuple[str, ...] = ()) -> Model:
        """The same program with other queries. Raises as `bind` does."""
        recipe = self._recipe
        asked = replace(recipe.questions, asked=queries, given=given)
        return made(replace(recipe, questions=asked))

    def with_weights(self, weights: Fit | Mapping[str, float] | str | os.PathLike[str]) -> Model:
        """The same program with values for its learned numbers: a fit, its file, or values by name.

        Numbers that are left out keep what they had. Raises PlxError for a name that the program does not
        learn, and where the file is none; OSError where it cannot be read.
        """
        from plx.learn.writing import as_numbers, read_weights

        if isinstance(weights, str | os.PathLike):
            given: Mapping[str, Any] = read_weights(weights)
        else:
            given = weights if isinstance(weights, Mapping) else weights.weights
        program = self._program("weights").program
        numbers = as_numbers(given, [name for info in program.learned for name in info.names])
        before = self._program("weights")
        kept = {**before.weights, **numbers}
        recipe = None if self.recipe is None else replace(self.recipe, weights=kept)
        return replace(self, origin=replace(before, weights=kept), recipe=recipe)

    def with_max_ground(self, instances: int) -> Model:
        """The same program, of which a rule may have up to so many ground instances; else 5·10⁷.

        Raises CallError for what is no positive whole number, and for a network of another tool.
        """
        if isinstance(instances, bool) or not isinstance(instances, int) or instances < 1:
            raise CallError(
                Diagnostic(f"the most ground instances are a whole number above 0, not {instances!r}")
            )
        origin = replace(self._program("ground"), max_ground=instances)
        recipe = None if self.recipe is None else replace(self.recipe, max_ground=instances)
        return replace(self, origin=origin, recipe=recipe)

    def learn(
        self,
        worlds: Iterable[GivenWorld] | None = None,
        *,
        given: Collection[str] = (),
        objective: str = "auto",
        starts: int | None = None,
        seed: int = 0,
        seconds: float | None = None,
        cluster: str | object | None = None,
        workers: int | None = None,
        progress: bool | Report = False,
    ) -> Fit:
        """Learn the numbers that the program declares by ``learn`` from what is observed.

        Args:
            worlds: several sets of data, each the bindings of one (as `bind` takes them) or a folder whose
                files take the place of those that the program names; the databases of a Markov logic network;
                the program's own data if left out.
            given: random functions that are conditioned on: they are not predicted.
            objective: ``likelihood``, which is exact; ``stochastic``, the same by draws; ``pseudo``, for
                complete worlds of any size; ``auto`` is the likelihood, exact where that is in reach.
            starts: how many searches; one, or 5 where values are hidden, if left out.
            seed: of the starts after the first, and of draws.
            seconds: after which the search ends; until it is done, if left out.
            cluster: a Dask cluster as that of `run`, whose workers look at the worlds, to the same numbers.
            workers: so many processes on this machine do so instead.
            progress: as that of `run`.

        Raises PlxError where nothing is learned or observed, or the data contradict the program; CallError
        for options that make no sense. Ctrl-C and the end of ``seconds`` end the search: the best so far
        comes back, not ``converged``.
        """
        from plx.deadline import stopwatch
        from plx.infer.options import checked
        from plx.learn.fit import fit
        from plx.learn.numbers import numbers_of
        from plx.learn.result import Fit as Fitted
        from plx.learning import placed, programs_of, require_randoms, world_of
        from plx.progress import watcher

        program = self._program("learn")
        if seconds is not None:
            seconds = checked(seconds=seconds)["seconds"]
        with (
            stopwatch() as spent,
            _lookers(objective, cluster, workers) as others,
            watcher(progress) as report,
        ):
            programs = programs_of(program, self._told, worlds)
            require_randoms(program, given)
            data = [world_of(one, given) for one in programs]
            learned = numbers_of(one.program for one in programs)
            left = None if seconds is None else max(0.0, seconds - spent())
            found = fit(data, learned, objective, starts, seed, report, left, others)
        return Fitted(self.name, found, placed(learned, program), program.text, self._fitted)

    def score(
        self,
        worlds: Iterable[GivenWorld] | None = None,
        *,
        given: Collection[str] = (),
        method: str = "auto",
        seed: int | None = None,
        seconds: float | None = None,
        others: bool = False,
        progress: bool | Report = False,
    ) -> Score:
        """How well the program predicts what is observed, each unknown by itself, from ``given`` alone.

        ``others``: from all others, as the pseudo-likelihood does; worlds are complete then. ``worlds`` and
        ``given`` are those of `learn`, the rest those of `run`. Raises as these do.
        """
        from plx.answering import answerer
        from plx.learning import programs_of, require_randoms, scored, valued, world_of
        from plx.progress import watcher

        program = self._program("score")
        require_randoms(program, given)
        programs = programs_of(program, self._told, worlds)
        data = [valued(world_of(one, given), one.numbers()) for one in programs]
        with watcher(progress) as report:
            return scored(self.name, data, answerer(method, seed, seconds, report), others)

    def cross_validate(
        self,
        worlds: Iterable[GivenWorld],
        folds: int | None = None,
        *,
        given: Collection[str] = (),
        objective: str = "auto",
        starts: int | None = None,
        seed: int = 0,
        method: str = "auto",
        seconds: float | None = None,
        others: bool = False,
        progress: bool | Report = False,
    ) -> CrossValidation:
        """How well worlds are predicted by the numbers that are learned from the others.

        ``folds``: how many parts the worlds are dealt out into, each world one if left out. The options are
        those of `learn` and `score` (``seconds`` holds for each fit and each world), and so are the
        errors; CallError for folds that there cannot be.
        """
        from plx.answering import answerer
        from plx.learn.cross import parts
        from plx.learn.fit import fit
        from plx.learning import crossed, programs_of, require_randoms, scored, world_of
        from plx.progress import watcher

        program = self._program("learn")
        programs = programs_of(program, self._told, worlds)
        require_randoms(program, given)
        split = parts(len(programs), folds, seed)
        with watcher(progress) as report:
            answer = answerer(method, seed, seconds, report)
            data = [world_of(one, given) for one in programs]
            return crossed(
                self.name,
                programs,
                data,
                split,
                lambda rest, learned: fit(rest, learned, objective, starts, seed, report, seconds),
                lambda mine: scored(self.name, mine, answer, others),
            )

    def _fitted(self, weights: Mapping[str, float]) -> Model:
        """The program with those of the numbers that it learns itself."""
        names = {name for info in self._program("learn").program.learned for name in info.names}
        return self.with_weights({name: value for name, value in weights.items() if name in names})

    def _told(self, world: GivenWorld) -> CheckedProgram:
        """The program with the data of a world."""
        from plx.learning import told

        if self.reread is None or isinstance(world, Mapping):
            return told(self._recipe, world).program()
        return replace(self.reread([world])._program("learn"), weights=self._program("learn").weights)

    def _program(self, what: str) -> CheckedProgram:
        if not isinstance(self.origin, CheckedProgram):
            raise CallError(Diagnostic(f"{self.name} is no program of plx: it has nothing to {what}"))
        return self.origin

    @property
    def _recipe(self) -> Recipe:
        if self.recipe is None:
            message = f"{self.name} is no program of plx: it takes evidence when it is loaded, and no queries"
            raise CallError(Diagnostic(message, hint="plx.load(path, name=state)"))
        return self.recipe

    def require_world(self) -> None:
        """Look, without sampling, for a world that keeps all hard rules and observations; also per `given`.

        Raises PlxError if there is none; it names rules, observations and ground instances that clash.
        """
        from plx.ground.condition import condition
        from plx.ground.given import by_given
        from plx.infer.hard.contradiction import require_world

        for group in by_given(self.ground):
            with explained(self.origin, group):
                require_world(condition(group.model, group.given))

    def run(
        self,
        *,
        method: str = "auto",
        seed: int | None = None,
        chains: int | None = None,
        samples: int | None = None,
        seconds: float | None = None,
        accuracy: float = 0.005,
        draws: int | None = None,
        exact_rationals: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        memory: int | str | None = None,
        cluster: str | object | None = None,
        workers: int | None = None,
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
            draws: keep so many worlds of each chain, of what the queries ask for: ``result.to_arviz()``.
            exact_rationals: probabilities as fractions, and the sum over worlds as a fraction or an integer;
                every weight must be the log of a rational number, the method ``auto`` or ``exact``.
            checkpoint: a file to keep the chains in, from which `plx.resume` goes on if this process ends
                before them; it is removed once every answer is as accurate as asked for.
            memory: what grounding may take: bytes, or a text such as ``"8GB"``; if not given, what is free.
                What needs more has its arrays in files for temporary data, or is refused before the work.
            cluster: the address of a Dask scheduler (``tcp://host:8786``), or a ``distributed.Client``, whose
                workers move the chains. A seed gives the same answers as without.
            workers: so many processes on this machine do so instead, which end with the run.
            progress: show a bar on standard error when it takes more than a second, or a function that
                takes reports (``plx.infer.options.Progress``).

        Raises:
            PlxError: if the program has no possible world, a `given` has probability 0, or the
                program is too large to ground or for the method; CallError, which is one, for options
                that make no sense.
            Interrupted: on Ctrl-C, with the answers so far; it is a KeyboardInterrupt.
        """
        from plx.answering import Answering, watched
        from plx.ground.memory import within as limited
        from plx.infer.options import run_options

        options = run_options(
            method,
            seed=seed,
            chains=chains,
            samples=samples,
            seconds=seconds,
            accuracy=accuracy,
            draws=draws,
        )
        check_method(method)
        kept = None if checkpoint is None else Path(checkpoint)
        spread = cluster is not None or workers is not None
        if exact_rationals and spread:
            raise CallError(Diagnostic("exact rationals are not sampled: leave out the cluster"))
        asked = Answering(self.name, self.origin, lambda: self.ground, method, options, kept)
        with limited(memory):
            if exact_rationals:
                return watched(lambda told: self._rational(method, replace(options, progress=told)), progress)
            return _spread(asked, cluster, workers, progress) if spread else asked.answered(progress)

    def _rational(self, method: str, options: Options) -> Result:
        """The answers as fractions, by the end of the time."""
        from plx.deadline import OutOfTimeError, within
        from plx.rationals import rational_result

        if method not in ("auto", "exact") or options.draws is not None:
            what = f"method {method}" if options.draws is None else "draws"
            raise CallError(Diagnostic(f"exact rationals are not sampled: leave out {what}"))
        try:
            with within(options.seconds):
                return rational_result(self.name, self.origin, lambda: self.ground, options)
        except OutOfTimeError:
            message = f"no exact rationals were found within {options.seconds:g} seconds"
            raise PlxError(Diagnostic(message, hint="give it more seconds")) from None

    def sample(
        self,
        n: int,
        *queries: str,
        given: str | Sequence[str] = (),
        whole: bool = False,
        seed: int | None = None,
        seconds: float | None = None,
        progress: bool | Report = False,
    ) -> Sample:
        """Draw worlds exactly: independent, each with its probability, by the best exact way that draws.

        Args:
            n: how many worlds.
            queries: what to keep of each world, in place of what the program's own queries ask for.
            given: facts that hold in all of them, beside what the program observes.
            whole: keep every unknown; so it is where no query asks for a value.
            seed: draws the same worlds again; drawn, and kept in the sample, if not given.
            seconds: give up after so many seconds; without limit if not given.
            progress: as for ``run``.

        Raises PlxError if no exact way draws worlds, or none is possible; CallError for options that make no
        sense, and if queries of several ``given`` are to be drawn together.
        """
        from plx.drawing import draw
        from plx.infer.options import checked, run_options
        from plx.progress import watcher

        checked(n=n)
        options = run_options("exact", seed=seed, chains=None, samples=None, seconds=seconds, accuracy=0.005)
        facts = (given,) if isinstance(given, str) else tuple(given)
        model = self.observe(*facts) if facts else self
        model = model._asking(queries) if queries else model
        with watcher(progress) as report:
            asked = replace(options, progress=report)
            return draw(self.name, model.origin, lambda: model.ground, n, whole, asked)

    def diagnose(
        self,
        *,
        method: str = "lifted",
        seed: int | None = None,
        chains: int | None = None,
        samples: int | None = None,
        seconds: float | None = None,
        progress: bool | Report = False,
    ) -> Mixing:
        """Which part of the program mixes badly under a sampler, and what would help, from short runs.

        All unknowns are asked about, without any ``given``. Other samplers are tried beside ``method``.

        Args:
            method: a sampler; ``auto`` is the one that ``run`` takes where nothing exact fits.
            seed: makes the runs repeatable; drawn if not given.
            chains: how many independent chains, 16 at least.
            samples: stop each run after so many samples, counted over all chains.
            seconds: for all runs together; 10 if neither this nor ``samples`` is given.
            progress: as for ``run``.

        Raises PlxError as ``run`` does; CallError for ``exact``, which does not sample.
        """
        from plx.infer.mcmc.samplers import SAMPLERS
        from plx.infer.mixing.measure import diagnose
        from plx.infer.options import check_choice, run_options
        from plx.progress import watcher

        method = "lifted" if method == "auto" else method
        check_choice("sampler", method, tuple(SAMPLERS))
        usual = _DIAGNOSED if seconds is None and samples is None else seconds
        options = run_options(
            method, seed=seed, chains=chains, samples=samples, seconds=usual, accuracy=0.005
        )
        with watcher(progress) as report:
            return diagnose(self.name, self.ground, method, replace(options, progress=report))

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

    def cheap_symmetries(self) -> Symmetries | None:
        """`symmetries`, of a small model and within seconds; None for a large one."""
        small = int(self.ground.graph.card.sum()) <= _CHEAP and len(self.ground.graph.scope) <= _CHEAP
        return self.symmetries(seconds=_CHEAP_SECONDS) if small else None

    def draw_symmetries(self, kind: Kind = "nec", form: Literal["svg", "dot"] = "svg") -> str:
        """The coloured graph whose symmetries are those of the program, as SVG or DOT text.

        Raises PlxError for a graph of more vertices than can be read.
        """
        from plx.infer.options import check_choice
        from plx.lift.draw import draw

        _check_kind(kind)
        check_choice("form of a picture", form, ("svg", "dot"))
        return draw(self.ground, kind, form)


_DIAGNOSED = 10.0
"""Seconds of a diagnosis, where nothing else is said."""

_CHEAP = 20_000
"""States, and places in scopes of factors, of the largest model whose symmetries cost next to nothing."""

_CHEAP_SECONDS = 2.0


def _check_kind(kind: Kind) -> None:
    from plx.infer.options import check_choice

    check_choice("kind of symmetry", kind, ("variable", "vv", "nec"))


def methods() -> tuple[str, ...]:
    """The names of all methods."""
    from plx.infer.infer import methods as known

    return known()


def _spread(
    asked: Answering, cluster: str | object | None, workers: int | None, progress: bool | Report
) -> Result:
    """The answers of chains that other processes move."""
    from plx.cluster.connect import crew, require_spread

    require_spread(asked.method)
    with crew(cluster, workers) as found:
        return replace(asked, options=replace(asked.options, cluster=found)).answered(progress)


@contextmanager
def _lookers(objective: str, cluster: str | object | None, workers: int | None) -> Iterator[Workers | None]:
    """The processes that look at worlds for a fit; None where this one does."""
    if cluster is None and workers is None:
        yield None
        return
    from plx.cluster.connect import crew, require_lookers
    from plx.cluster.worlds import CrewWorkers

    require_lookers(objective)
    with crew(cluster, workers) as found:
        yield None if found is None else CrewWorkers(found)


def check_method(method: str) -> None:
    """Raises CallError, with the nearest name, if ``Model.run`` knows no such method."""
    from plx.infer.infer import require_method

    require_method(method)


def made(recipe: Recipe, told: Collection[str] = ()) -> Model:
    """The model of a recipe. Raises PlxError with every mistake in the program and its data.

    ``told`` are names that the caller gave a value, so that the program must not declare them.
    """
    return Model(recipe.source.name, recipe.program(told), recipe)


Reread = Callable[[Sequence[str | os.PathLike[str]]], Model]
