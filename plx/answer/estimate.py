"""From the answers of inference, which know nodes and states only, to answers by name."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from plx import values as interner
from plx.answer.result import Estimate, MapWorld, QueryResult, Value
from plx.ground.graph import Atoms, GroundModel, GroundQuery, Target
from plx.infer.samples import Answer, World
from plx.values import IntArray
from plx.weights import to_float


def name_answers(model: GroundModel, answers: Sequence[Answer]) -> tuple[QueryResult, ...]:
    """The answers, in the order of ``model.queries``, with names instead of nodes and states."""
    pairs = zip(model.queries, answers, strict=True)
    return tuple(_name_answer(model, query, answer) for query, answer in pairs)


def _name_answer(model: GroundModel, query: GroundQuery, answer: Answer) -> QueryResult:
    return QueryResult(
        name=query.name,
        text=query.text,
        kind=query.kind,
        line=query.span.line if query.span else None,
        estimates=_estimates(model.atoms, query, answer),
        mean=answer.mean,
        sd=answer.sd,
        mean_mcse=answer.mean_mcse,
        ess=answer.ess,
        rhat=answer.rhat,
        worlds=tuple(_name_world(model, world) for world in answer.worlds),
        log_z=answer.log_z,
        converged=answer.converged,
    )


def _estimates(atoms: Atoms, query: GroundQuery, answer: Answer) -> tuple[Estimate, ...]:
    if not query.targets:
        return ()
    found = list(_every_state(atoms, query.targets, answer))
    return _both_truths(found) if query.kind == "probability" else tuple(found)


def _every_state(atoms: Atoms, targets: Sequence[Target], answer: Answer) -> Iterator[Estimate]:
    """One estimate per joint state of the targets, the last target fastest."""
    labels = [[(_python(atoms.values[int(i)]), atoms.value_name(int(i))) for i in t.labels] for t in targets]
    states = itertools.product(*labels)
    for state, p, mcse in zip(states, answer.p.tolist(), answer.mcse.tolist(), strict=True):
        values = tuple(value for value, _ in state)
        texts = ", ".join(text for _, text in state)
        single = len(targets) == 1
        yield Estimate(values[0] if single else values, texts if single else f"({texts})", p, mcse)


def _both_truths(found: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """Both truth values, false first, also where evidence left only one."""
    by_value = {estimate.value: estimate for estimate in found}
    absent = {False: Estimate(False, "false", 0.0), True: Estimate(True, "true", 0.0)}
    return tuple(by_value.get(truth, absent[truth]) for truth in (False, True))


def _name_world(model: GroundModel, world: World) -> MapWorld:
    atoms = model.atoms
    ids = _value_ids(atoms, world)
    return MapWorld(
        assignment={name: _python(atoms.values[int(i)]) for name, i in zip(atoms, ids, strict=True)},
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
    if isinstance(value, str | int):
        return value
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    return to_float(value)
