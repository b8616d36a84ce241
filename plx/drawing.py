"""How worlds of a program are drawn exactly: without grounding, or on the factor graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, repeat

import numpy as np

from plx.answer.estimate import name_draws, observed, slot_names
from plx.answer.sample import Sample
from plx.check.program import Program, Query
from plx.clash import explained
from plx.deadline import OutOfTimeError, within
from plx.errors import CallError, Diagnostic, NoWorldError, PlxError
from plx.firstorder.best import given_rules
from plx.firstorder.choice import FirstOrderWay
from plx.firstorder.draws import draw_worlds as draw_worlds_of
from plx.firstorder.plan import never_given
from plx.firstorder.questions import instances
from plx.firstorder.refusal import NotLiftableError
from plx.graph.model import Atoms, GroundModel, GroundQuery, Target
from plx.ground.bind import all_instances
from plx.ground.condition import condition
from plx.ground.env import ROOT
from plx.ground.evaluate import Evaluator
from plx.ground.given import QueryGroup, by_given
from plx.infer.answer_size import refuse_large_draws
from plx.infer.exact_draws import draw_worlds, not_drawn
from plx.infer.inference import Inference
from plx.infer.options import Clock, Options
from plx.infer.prepared import Prepared
from plx.infer.streams import Stream, generator
from plx.origin import CheckedProgram, Origin


def draw(
    name: str, origin: Origin, ground: Callable[[], GroundModel], count: int, whole: bool, options: Options
) -> Sample:
    """Worlds drawn of what the queries ask for; of every unknown where ``whole``, or if they ask for none.

    Raises as `plx.model.Model.sample`.
    """
    clock = Clock()
    try:
        with within(options.seconds):
            found = _lifted(name, origin, count, whole, options)
    except OutOfTimeError:
        if options.seconds is None:
            raise
        raise PlxError(not_drawn(options.seconds)) from None
    except NotLiftableError as refusal:
        told = replace(options, refused=(f"first-order counting: {refusal.words}",))
        return _grounded(name, origin, ground(), count, whole, told)
    if found is not None:
        return found
    try:
        return _grounded(name, origin, ground(), count, whole, options)
    except PlxError as refused:  # small, and yet out of reach
        try:
            with within(None if options.seconds is None else options.seconds - clock.seconds):
                found = _lifted(name, origin, count, whole, options, small=True)
        except (NotLiftableError, OutOfTimeError, PlxError):
            raise refused from None
        if found is None:
            raise
        return found


def _lifted(
    name: str, origin: Origin, count: int, whole: bool, options: Options, small: bool = False
) -> Sample | None:
    """Worlds of a large program that need no factor graph, or of a ``small`` one; None where these are not
    looked for.

    Raises NotLiftableError where they are not drawn so.
    """
    if not isinstance(origin, CheckedProgram):
        return None
    asked = [query for query in origin.program.queries if query.targets and not whole]
    open_, program = tuple(query for query in asked if not query.given), origin.program
    given = None if open_ or not asked else asked[0]
    if given is not None:
        if not _is_given_alike(program, asked):
            return None
        open_, program = tuple(replace(one, given=()) for one in asked), given_rules(program, given)
    clock = Clock()
    way = FirstOrderWay(replace(program, queries=open_), origin.numbers(), options.seconds)
    with explained(origin), _never(given):
        if way.is_small and not small and not way.is_cheaper:
            return None
        if isinstance(way.plan, NotLiftableError):
            raise way.plan
        worlds, queries = draw_worlds_of(way.plan, count, generator(options.seed, Stream.DRAWS))
        model = worlds.model(tuple(queries) if given is None else _named(origin.program, asked, queries))
        if not open_:
            model = replace(model, queries=tuple(_unknowns(model.atoms)))
        answers = tuple(worlds.answers([query.targets for query in model.queries]))
        found = Inference(
            "exact", way.plan.reason, answers, seed=options.seed, chains=1, draws=count,
            seconds=clock.seconds, notes=(_LEFT_OUT,) if len(open_) < len(asked) else (), apart=1,
        )  # fmt: skip
        return Sample(name, name_draws(model, answers), found, observed(model))


def _is_given_alike(program: Program, queries: Sequence[Query]) -> bool:
    """Whether queries are given the same, which is about no variable of theirs."""
    terms = Evaluator(program).terms
    return all(query.given == queries[0].given for query in queries) and not any(
        terms.free(expr) for expr in queries[0].given
    )


def _named(program: Program, asked: Sequence[Query], found: Sequence[GroundQuery]) -> tuple[GroundQuery, ...]:
    """The instances of queries, by the names that they have with what they are given."""
    evaluator = Evaluator(program)
    envs = [all_instances(evaluator, ROOT, query.scope) for query in asked]
    named = chain.from_iterable(map(instances, repeat(evaluator), asked, envs))
    pairs = zip(found, named, strict=True)
    return tuple(replace(query, name=one.name, text=one.text) for query, one in pairs)


@contextmanager
def _never(given: Query | None) -> Iterator[None]:
    """That there is no world is said of what a query is given, if it is given something."""
    try:
        yield
    except NoWorldError:
        if given is None:
            raise
        raise never_given(given) from None


def _grounded(
    name: str, origin: Origin, ground: GroundModel, count: int, whole: bool, options: Options
) -> Sample:
    group, notes = _group(ground, whole)
    refuse_large_draws(group.model.graph, group.model.queries, count, 1)
    with explained(origin, group):
        model = condition(group.model, group.given)
        found = draw_worlds(Prepared(model, options.progress), count, options)
    drawn = replace(found, notes=(*notes, *found.notes))
    return Sample(name, name_draws(model, found.answers), drawn, observed(model))


def _group(model: GroundModel, whole: bool) -> tuple[QueryGroup, tuple[str, ...]]:
    """What is drawn, under what is given for all of it, and what is to be known about that."""
    groups = [] if whole else [asked for group in by_given(model) if (asked := _with_targets(group))]
    if not groups:
        return QueryGroup((), replace(model, queries=tuple(_unknowns(model.atoms)))), ()
    if len(groups) == 1:
        return groups[0], ()
    if not groups[0].given:
        return groups[0], (_LEFT_OUT,)
    message = f"the queries have {len(groups)} different `given`, and worlds are drawn under one"
    raise CallError(
        Diagnostic(message, hint="observe one of them, and ask for what is to be drawn without `given`")
    )


_LEFT_OUT = "queries with a `given` were left out: worlds are drawn under what is observed"


def _with_targets(group: QueryGroup) -> QueryGroup | None:
    """A group without the queries that no world answers, as `map`; None where there are no others."""
    asked = [pair for pair in zip(group.positions, group.model.queries, strict=True) if pair[1].targets]
    if not asked:
        return None
    positions, queries = zip(*asked, strict=True)
    return replace(group, positions=positions, model=replace(group.model, queries=queries))


def _unknowns(atoms: Atoms) -> Iterator[GroundQuery]:
    """A query for every unknown, observed or not."""
    for block in atoms.blocks:
        slots = slot_names(block)
        for row, index in enumerate(block.index.tolist()):
            atom = block.first + row
            node = int(atoms.node[atom])
            labels = atoms.domains[int(atoms.domain[atom])] if node >= 0 else atoms.fixed[atom : atom + 1]
            name, target = atoms.name(atom), Target(node, np.asarray(labels))
            place = tuple(zip(slots, index, strict=True))
            yield GroundQuery("distribution", name, name, (target,), (), None, 1, block.name, place)
