"""How queries are answered: without grounding where that is cheaper, else on the factor graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from plx.answer.collect import collect
from plx.answer.ground_report import summary
from plx.answer.named import Subject
from plx.answer.result import Interrupted, Result
from plx.clash import explained
from plx.deadline import OutOfTimeError, stopwatch, within
from plx.errors import Diagnostic, NoWorldError, PlxError
from plx.firstorder.choice import FirstOrderWay
from plx.firstorder.plan import FirstOrderPlan
from plx.firstorder.refusal import NotLiftableError
from plx.graph.model import GroundModel, GroundQuery
from plx.graph.queries import blocks, singles
from plx.ground.condition import condition
from plx.ground.given import Positions, QueryGroup, by_given
from plx.infer.answer_size import refuse_large_answers, refuse_large_draws
from plx.infer.infer import infer, known_exact, require_method, too_late
from plx.infer.inference import Inference
from plx.infer.limits import CHEAP
from plx.infer.options import Cluster, Options, Report, checked, run_options
from plx.infer.outlook import Outlook, outlook
from plx.infer.prepared import Prepared
from plx.origin import CheckedProgram, Origin
from plx.time_shares import Run, counted_together, in_turn

if TYPE_CHECKING:
    from plx.checkpoint import Checkpoint, Task

EXACT = ("auto", "exact")
"""The methods that give exact answers where there are some."""

_LEAST_GROUNDING = 1.0
"""Seconds that grounding has, however short the run."""


@dataclass(frozen=True, eq=False)
class Answering:
    """The queries of a program, or of a network of another tool, to be answered by a method.

    ``ground`` gives the factor graph of ``origin``. Every plan is made once, and carried out if it is taken.
    Chains are kept in the file ``kept``, and ``task`` is what such a file held, to go on with.
    """

    name: str
    origin: Origin
    ground: Callable[[], GroundModel]
    method: str
    options: Options
    kept: Path | None = None
    task: Task | None = None
    _prepared: dict[Positions, tuple[QueryGroup, Prepared]] = field(default_factory=dict, init=False)

    def answered(self, progress: bool | Report = False) -> Result:
        """The answers, with reports on the way; the file for chains is held meanwhile. Raises as
        `plx.model.Model.run`."""

        def answer(report: Report) -> Result:
            return replace(self, options=replace(self.options, progress=report)).result()

        if self.kept is None:
            return watched(answer, progress)
        from plx.checkpoint import held

        with held(self.kept, resumed=self.task is not None):
            return watched(answer, progress)

    def result(self) -> Result:
        """The answers, named. Raises as `plx.model.Model.run`."""
        with stopwatch() as spent:
            return self._result(spent)

    def _result(self, spent: Callable[[], float]) -> Result:
        if self.task is not None:
            return self._grounded(self._infer, self.options, spent, exact=False)
        asked = self.method in EXACT and self.options.draws is None
        way = first_order_way(self.origin, self.options.seconds) if asked else None
        if way is None:
            return self._grounded(self._infer, self.options, spent, self.method in EXACT)
        if way.is_small and not way.is_cheaper:
            with suppress(_NoneFits):
                return self._grounded(
                    lambda ready, share: _known(ready, share, way.cost), self.options, spent
                )
        with explained(self.origin):
            try:
                with suppress(NotLiftableError), within(self._ungrounded_seconds(way)):
                    if isinstance(way.plan, FirstOrderPlan):
                        return self._lifted(way.plan)
            except OutOfTimeError:
                return self._too_late(spent)
        told = replace(self.options, refused=(way.refusal,) if way.refusal else ())
        return self._grounded(self._infer, told, spent)

    def _ungrounded_seconds(self, way: FirstOrderWay) -> float | None:
        """The seconds for an answer without grounding: half of all where `auto` can ground thereafter."""
        seconds = self.options.seconds
        if seconds is None or self.method == "exact" or way.grounding_seconds > seconds / 2:
            return seconds
        return seconds / 2

    def _too_late(self, spent: Callable[[], float]) -> Result:
        """What `auto` finds on the factor graph in the time that is left. Raises PlxError if nothing."""
        seconds = self.options.seconds
        if seconds is None:
            raise OutOfTimeError
        late = PlxError(too_late(self.method, seconds))
        if self.method == "exact":
            raise late from None
        told = replace(self.options, refused=("first-order counting: it takes longer than there is time",))
        try:
            return self._grounded(self._infer, told, spent)
        except NoWorldError:
            raise
        except PlxError:
            raise late from None

    def _infer(self, ready: Prepared, share: Options) -> Inference:
        return infer(ready, self.method, share)

    def _lifted(self, plan: FirstOrderPlan) -> Result:
        """Answers from the program itself. Raises NotLiftableError where an answer would be too large."""
        model, inference = plan.run()
        group = QueryGroup(tuple(range(len(model.queries))), model)
        subject = Subject(self.origin.text, "not grounded", (), _are_own(self.origin, model.queries))
        return collect(self.name, [(group, inference)], model.queries, False, subject)

    def _grounded(
        self,
        answer: Callable[[Prepared, Options], Inference],
        options: Options,
        spent: Callable[[], float],
        exact: bool = True,
    ) -> Result:
        """Run once per distinct ``given``, on the model conditioned by it. `spent`: the seconds so far."""
        ground = self._ground_in_time(spent)
        refuse_large_answers(ground.graph, ground.queries)
        if options.draws is not None:
            refuse_large_draws(ground.graph, ground.queries, options.draws, options.chains)
        groups = by_given(ground)
        counted = counted_together(ground, groups, options) if exact else {}
        done = [(group, counted[group.positions]) for group in groups if group.positions in counted]
        checkpoint = self._checkpoint(ground, spent)

        def run(group: QueryGroup, share: Options) -> Run:
            with explained(self.origin, group):
                conditioned, ready = self._ready(group)
                if checkpoint is None:
                    return conditioned, answer(ready, share)
                return conditioned, checkpoint.kept(tuple(group.positions), share, partial(answer, ready))

        rest = [group for group in groups if group.positions not in counted]
        runs, interrupted = in_turn(rest, run, options, spent)
        if checkpoint is not None:
            checkpoint.close(complete=len(runs) == len(rest) and not interrupted)
        subject = Subject(
            self.origin.text, summary(ground), ground.rules, _are_own(self.origin, ground.queries)
        )
        return collect(self.name, [*done, *runs], ground.queries, interrupted, subject)

    def _ground_in_time(self, spent: Callable[[], float]) -> GroundModel:
        """The factor graph. Raises PlxError where the time ends before, but for the first second."""
        seconds = self.options.seconds
        left = None if seconds is None else max(seconds - spent(), _LEAST_GROUNDING)
        try:
            with within(left):
                return self.ground()
        except OutOfTimeError:
            if seconds is None:
                raise
            message = f"the program takes longer to ground than {seconds:g} seconds"
            hint = "give the run more --seconds; `plx ground` says how large each rule is"
            raise PlxError(Diagnostic(message, hint=hint)) from None

    def _checkpoint(self, ground: GroundModel, spent: Callable[[], float]) -> Checkpoint | None:
        """What chains are kept in; None where that is not asked for."""
        if self.kept is None:
            return None
        from plx.checkpoint import Checkpoint, Task

        task = self.task or Task(self.name, self.origin, ground, self.method, self.options)
        return Checkpoint(self.kept, task, spent)

    def _ready(self, group: QueryGroup) -> tuple[QueryGroup, Prepared]:
        """A group on the model conditioned by its ``given``. Raises NoWorldError where that is impossible."""
        if group.positions not in self._prepared:
            model = condition(group.model, group.given)
            ready = replace(group, model=model), Prepared(model, self.options.progress)
            self._prepared[group.positions] = ready
        return self._prepared[group.positions]


def watched(answer: Callable[[Report], Result], progress: bool | Report = False) -> Result:
    """An answer that takes reports. Raises Interrupted on Ctrl-C, with what there is."""
    from plx.progress import watcher

    with watcher(progress) as report:
        try:
            result = answer(report)
        except KeyboardInterrupt:
            raise Interrupted from None
    if result.status == "interrupted":
        raise Interrupted(result)
    return result


def resume(
    path: Path,
    seconds: float | None,
    samples: int | None,
    accuracy: float | None,
    cluster: Cluster | None,
    progress: bool | Report,
) -> Result:
    """Go on with the run that a file keeps. Raises PlxError if it cannot be read, and as `answered` does."""
    from plx.checkpoint import read

    given = {"seconds": seconds, "samples": samples, "accuracy": accuracy}
    told = checked(**{name: value for name, value in given.items() if value is not None})
    task = read(path)
    options = replace(task.left(*(told.get(name) for name in given)), cluster=cluster)
    asked = Answering(task.name, task.origin, lambda: task.ground, task.method, options, path, task)
    return asked.answered(progress)


def first_order_way(origin: Origin, seconds: float | None = None) -> FirstOrderWay | None:
    """How a program would be answered without grounding it; None for a network, and without queries."""
    if not isinstance(origin, CheckedProgram) or not origin.program.queries:
        return None
    return FirstOrderWay(origin.program, origin.numbers(), seconds)


def outlooks(origin: Origin, ground: GroundModel) -> Iterator[tuple[QueryGroup, Outlook]]:
    """How the queries would be answered, those of each ``given`` on their own. None without queries."""
    lifted = None
    with suppress(PlxError):  # which the outlook on the factor graph says
        way = first_order_way(origin)
        lifted = way if way and isinstance(way.plan, FirstOrderPlan) else None
    for group in by_given(ground) if ground.queries else ():
        try:
            yield group, _outlook(group, lifted)
        except PlxError as error:
            yield group, Outlook(None, error.diagnostics[0].message)


def _outlook(group: QueryGroup, lifted: FirstOrderWay | None) -> Outlook:
    """How a group would be answered, where there may be a way without grounding. Raises PlxError."""
    if lifted is None or (lifted.is_small and not lifted.is_cheaper):
        found = outlook(Prepared(condition(group.model, group.given)))
        if lifted is None or (found.operations or math.inf) <= max(CHEAP, lifted.cost()):
            return found
    return Outlook("first-order", f"exact: {lifted.words}", lifted.cost())


def answerer(
    method: str, seed: int | None, seconds: float | None, report: Report | None
) -> Callable[[GroundModel], Inference]:
    """What answers the queries of a score. Raises CallError for options that make no sense."""
    require_method(method)
    options = run_options(method, seed=seed, chains=None, samples=None, seconds=seconds, accuracy=0.005)
    told = replace(options, progress=report) if report else options
    return lambda model: infer(model, method, told)


def _are_own(origin: Origin, queries: Sequence[GroundQuery]) -> bool:
    """Whether the queries are those of the text itself, and none is put to it from outside."""
    spans = [one.span for found in (singles(queries), blocks(queries)) for _, one in found]
    return all(span is None or span.source.text == origin.text for span in spans)


class _NoneFits(Exception):
    """No exact way is cheap."""


def _known(ready: Prepared, options: Options, most: Callable[[], float]) -> Inference:
    """The answers of a cheap exact way. Raises _NoneFits."""
    found = known_exact(ready, options, most)
    if found is None:
        raise _NoneFits
    return found
