"""From the answers of inference, which know nodes and states only, to answers by name."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import TypedDict, cast

import numpy as np

from plx import values as interner
from plx.answer.named import Draws, Estimate, MapWorld, Moments, NamedAnswer, Observed, Value
from plx.answer.result import QueryResult
from plx.answer.wide import WideAnswers
from plx.graph.model import AtomBlock, Atoms, GroundModel, GroundQuery, QueryKind, Target
from plx.graph.queries import QueryBlock, each_part
from plx.graph.ragged import starts
from plx.infer.inference import Answer, AnswerBlock, World
from plx.sequences import Lazy, joined, parts
from plx.values import FALSE, TRUE, FloatArray, IntArray
from plx.weights import to_float


def name_answers(model: GroundModel, answers: Sequence[Answer]) -> Sequence[QueryResult]:
    """The answers, in the order of ``model.queries``, with names instead of nodes and states."""
    label = _labels(model)
    arrays = {}
    first = 0
    for part in parts(answers):
        arrays[first] = part
        first += len(part)

    def block(at: slice, queries: QueryBlock) -> Sequence[QueryResult]:
        own = arrays.get(at.start)
        if isinstance(own, AnswerBlock) and len(own) == len(queries):
            return cast(Sequence[QueryResult], _wide(model, label, queries, own))
        return tuple(single(i, query) for i, query in enumerate(queries, at.start))

    def single(at: int, query: GroundQuery) -> QueryResult:
        return _name_answer(model, label, query, answers[at])

    return joined(each_part(model.queries, block, single))


def _wide(model: GroundModel, label: Label, block: QueryBlock, answers: AnswerBlock) -> WideAnswers:
    """The answers to a block, its values as `_estimates` has them."""
    forms = [_form(block.kind, form) for form in block.forms]
    sizes = np.array([len(ids) for ids, _ in forms], dtype=np.int64)
    start = starts(sizes[block.form])
    value = np.empty(start[-1], dtype=np.int32)
    p, mcse = np.zeros((2, start[-1]))
    found: dict[int, int] = {}
    for k, (_, rows) in zip(np.unique(block.form).tolist(), block.rows_by_form(), strict=True):
        ids, place = forms[k]
        own = place >= 0
        out = start[rows][:, None] + np.arange(len(ids))
        source = answers.begin[rows][:, None] + place[own]
        value[out] = [found.setdefault(one, len(found)) for one in ids.tolist()]
        p[out[:, own]], mcse[out[:, own]] = answers.p[source], answers.mcse[source]
    return WideAnswers(
        QueryResult,
        block.kind,
        block.span.line if block.span else None,
        block.term,
        block.names,
        block.texts,
        block.slots,
        block.places,
        Lazy(partial(_pythons, model.values), len(model.values)),
        tuple(map(label, found)),
        start,
        value,
        p,
        mcse,
        answers.mean,
        answers.sd,
        answers.mean_mcse,
        answers.sd_mcse,
        answers.ess,
        answers.rhat,
        answers.bulk_ess,
        answers.tail_ess,
        answers.converged,
    )


def _form(kind: QueryKind, form: Target) -> tuple[IntArray, IntArray]:
    """The ids of the values of an answer, and where each stands among the states, -1 where it does not."""
    ids = form.labels if form.domain is None else form.domain
    ids = np.array([FALSE, TRUE]) if kind == "probability" else ids
    order = np.argsort(form.labels)
    place = order[np.minimum(np.searchsorted(form.labels, ids, sorter=order), len(order) - 1)]
    return ids, np.where(form.labels[place] == ids, place, -1)


def _pythons(values: interner.Values, ids: Iterable[int]) -> list[Value]:
    return list(map(_python, values.take(ids)))


def name_draws(model: GroundModel, answers: Sequence[Answer]) -> tuple[NamedAnswer, ...]:
    """What was drawn of each of ``model.queries``, with names instead of nodes and states."""
    label = _labels(model)
    return tuple(
        NamedAnswer(
            query.name,
            query.text,
            query.kind,
            query.span.line if query.span else None,
            **_place(label, query),
            drawn=tuple(_drawn(model, label, query, answer)),
        )
        for query, answer in zip(model.queries, answers, strict=True)
    )


MOST_EXCLUDED = 1 << 20
"""A joint query over more combinations than this lists those alone that evidence leaves possible."""

Label = Callable[[int], tuple[Value, str]]
"""A value by its id, as Python knows it and as text."""


def _labels(model: GroundModel) -> Label:
    return cache(lambda value: (_python(model.values[value]), model.atoms.value_name(value)))


def _name_answer(model: GroundModel, label: Label, query: GroundQuery, answer: Answer) -> QueryResult:
    return QueryResult(
        name=query.name,
        text=query.text,
        kind=query.kind,
        line=query.span.line if query.span else None,
        estimates=_estimates(label, query, answer),
        moments=_moments(answer),
        ess=answer.ess,
        rhat=answer.rhat,
        worlds=tuple(_name_world(model, label, world, query.part) for world in answer.worlds),
        log_z=answer.log_z,
        log_z_mcse=answer.log_z_mcse,
        z=answer.ratios[0] if query.kind == "logz" and answer.ratios else None,
        converged=answer.converged,
        **_place(label, query),
        drawn=tuple(_drawn(model, label, query, answer)),
    )


def _drawn(model: GroundModel, label: Label, query: GroundQuery, answer: Answer) -> Iterator[Draws]:
    """What was drawn of each coordinate of a query."""
    if answer.states is None:
        return
    free = [target.node for target in query.targets if target.node >= 0]
    codes = iter(np.unravel_index(answer.states, model.graph.card[free].tolist()) if free else ())
    for target in query.targets:
        values = tuple(label(value)[0] for value in target.labels.tolist())
        yield Draws(next(codes) if target.node >= 0 else np.zeros_like(answer.states), values)


def observed(model: GroundModel) -> tuple[Observed, ...]:
    """What evidence fixed, by random function."""
    label, atoms = _labels(model), model.atoms
    found = []
    for block in atoms.blocks:
        fixed = atoms.fixed[block.first : block.first + len(block.index)]
        rows = np.flatnonzero(fixed >= 0)
        if len(rows):
            index = tuple(tuple(label(value)[0] for value in row) for row in block.index[rows].tolist())
            values = tuple(label(value)[0] for value in fixed[rows].tolist())
            found.append(Observed(block.name, slot_names(block), index, values))
    return tuple(found)


def slot_names(block: AtomBlock) -> tuple[str, ...]:
    """The names of the slots of a random function, numbered where it has none."""
    return block.slots or tuple(f"slot{number}" for number in range(1, block.index.shape[1] + 1))


def without_answer(model: GroundModel, query: GroundQuery) -> QueryResult:
    """What is said of a query for which there was no time."""
    line = query.span.line if query.span else None
    place = _place(_labels(model), query)
    return QueryResult(query.name, query.text, query.kind, line, converged=False, **place)


class _Place(TypedDict):
    term: str
    slots: Mapping[str, Value]


def _place(label: Label, query: GroundQuery) -> _Place:
    """What a query is about, by the index."""
    return {"term": query.term or query.name, "slots": {name: label(value)[0] for name, value in query.slots}}


def _moments(answer: Answer) -> Moments | None:
    if answer.mean is None:
        return None
    errors = answer.mean_mcse or 0.0, answer.sd_mcse or 0.0
    return Moments(answer.mean, answer.sd, *errors, answer.bulk_ess, answer.tail_ess)


def _estimates(label: Label, query: GroundQuery, answer: Answer) -> tuple[Estimate, ...]:
    if not query.targets:
        return ()
    found = list(_every_state(label, query.targets, answer))
    return _both_truths(found) if query.kind == "probability" else tuple(found)


def _every_state(label: Label, targets: Sequence[Target], answer: Answer) -> Iterator[Estimate]:
    """One estimate per joint state of the targets, the last target fastest."""
    domains, p, mcse, exact = _over_domains(targets, answer)
    labels = [[label(value) for value in domain.tolist()] for domain in domains]
    numbers = zip(p.tolist(), mcse.tolist(), exact, strict=True)
    if len(labels) == 1:
        for (value, text), found in zip(labels[0], numbers, strict=True):
            yield Estimate(value, text, *found)
        return
    for state, found in zip(itertools.product(*labels), numbers, strict=True):
        values, texts = zip(*state, strict=True)
        yield Estimate(values, f"({', '.join(texts)})", *found)


Shares = tuple[list[IntArray], FloatArray, FloatArray, list[Fraction | None]]
"""Value ids of each target, and of all of their combinations the probability, its error, and the fraction."""


def _over_domains(targets: Sequence[Target], answer: Answer) -> Shares:
    """The answer over all combinations: also those that evidence excludes, which have probability 0, unless
    there are more than anyone could want."""
    ratios: list[Fraction | None] = [*(answer.ratios or (None,) * len(answer.p))]
    labels = [target.labels for target in targets]
    domains = [target.labels if target.domain is None else target.domain for target in targets]
    shape = [len(domain) for domain in domains]
    if shape == [len(own) for own in labels] or math.prod(shape) > MOST_EXCLUDED:
        return labels, answer.p, answer.mcse, ratios
    place = np.ix_(*map(_positions, domains, labels))
    given = [len(own) for own in labels]
    p, mcse = np.zeros(shape), np.zeros(shape)
    p[place], mcse[place] = answer.p.reshape(given), answer.mcse.reshape(given)
    exact = np.full(shape, Fraction(0) if answer.ratios else None, dtype=object)
    exact[place] = np.array(ratios, dtype=object).reshape(given)
    return domains, p.reshape(-1), mcse.reshape(-1), exact.reshape(-1).tolist()


def _positions(domain: IntArray, labels: IntArray) -> IntArray:
    """Where each label stands in a domain."""
    order = np.argsort(domain)
    found: IntArray = order[np.searchsorted(domain, labels, sorter=order)]
    return found


def _both_truths(found: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """Both truth values, false first, also where evidence left only one."""
    by_value = {estimate.value: estimate for estimate in found}
    none = None if found[0].exact is None else Fraction(0)
    texts = {False: "false", True: "true"}
    absent = {value: Estimate(value, text, 0.0, exact=none) for value, text in texts.items()}
    return tuple(by_value.get(truth, absent[truth]) for truth in (False, True))


def _name_world(model: GroundModel, label: Label, world: World, part: tuple[int, ...] | None) -> MapWorld:
    atoms = range(len(model.atoms)) if part is None else part
    labels = [label(value) for value in _value_ids(model.atoms, world)[list(atoms)].tolist()]
    names = [model.atoms.name(atom) for atom in atoms]
    return MapWorld(
        assignment={name: value for name, (value, _) in zip(names, labels, strict=True)},
        texts={name: text for name, (_, text) in zip(names, labels, strict=True)},
        log_weight=world.log_weight + model.log_constant,
        optimal=world.optimal,
        bound=None if world.bound is None else world.bound + model.log_constant,
    )


def _value_ids(atoms: Atoms, world: World) -> IntArray:
    """The value id of every atom in a world, shape (A,)."""
    ids = atoms.fixed.copy()
    free = atoms.node >= 0
    states = world.states[atoms.node[free]]
    starts = np.cumsum([0, *(len(domain) for domain in atoms.domains)])
    flat = np.concatenate(atoms.domains) if atoms.domains else np.empty(0, dtype=np.int64)
    ids[free] = flat[starts[atoms.domain[free]] + states]
    return ids


def _python(value: interner.Value) -> Value:
    """A value of a program as Python knows it: symbols and truths as they are, numbers int or float."""
    if isinstance(value, (str, int)):  # a union takes twice as long
        return value
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    return to_float(value)
