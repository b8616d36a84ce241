"""A program's first-order answers beside those of the grounded program."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache

import numpy as np

import plx
from plx.errors import NoWorldError, PlxError
from plx.firstorder.plan import FirstOrderPlan, first_order
from plx.graph.model import GroundModel, Target
from plx.ground.condition import condition
from plx.ground.given import by_given
from plx.infer.infer import infer
from plx.origin import CheckedProgram
from plx.values import FloatArray, Value


def lifted(text: str, least: int = 1) -> FirstOrderPlan | None:
    """The plan; None where the program is refused."""
    origin = plx.compile(text).origin
    assert isinstance(origin, CheckedProgram)
    plan = first_order(origin.program, least)
    return plan if isinstance(plan, FirstOrderPlan) else None


def compare(text: str) -> bool:
    """Whether a program is answered; raises AssertionError where an answer is wrong."""
    try:
        plan = lifted(text)
        if plan is None:
            return False
        lifted_model, found = plan.run()
    except PlxError:  # no world is possible, or none with what is given
        plan = None
    expected = _expected(text)
    if expected is None:
        assert plan is None, "a world is found where there is none"
        return True
    assert plan is not None, "no world is found where there is one"
    assert found.log_z is not None
    np.testing.assert_allclose(found.log_z, expected.log_z, rtol=1e-10, atol=1e-10)
    assert [q.name for q in lifted_model.queries] == expected.names
    for query, answer, theirs in zip(lifted_model.queries, found.answers, expected.shares, strict=True):
        if query.kind == "logz":
            continue
        mine = _by_value(lifted_model, query.targets, answer.p)
        for value in mine.keys() | theirs.keys():
            np.testing.assert_allclose(
                mine.get(value, 0.0), theirs.get(value, 0.0), atol=1e-10, err_msg=query.name
            )
    return True


Shares = dict[tuple[Value, ...], float]
"""The probabilities of the joint values of a query."""


@dataclass(frozen=True)
class _Expected:
    log_z: float
    names: list[str]
    shares: list[Shares]


@cache
def _expected(text: str) -> _Expected | None:
    """The answers of the grounded program; None where no world is possible, or none with what is given."""
    try:
        grounded = plx.compile(text).ground
        shares: dict[int, Shares] = {}
        for group in by_given(grounded):
            model = condition(group.model, group.given)
            run = infer(model, "exact")
            for at, query, answer in zip(group.positions, model.queries, run.answers, strict=True):
                shares[at] = {} if query.kind == "logz" else _by_value(grounded, query.targets, answer.p)
            if not group.given:
                assert run.log_z is not None
                log_z = run.log_z
    except NoWorldError:
        return None
    names = [q.name for q in grounded.queries]
    return _Expected(log_z, names, [shares[at] for at in range(len(names))])


def _by_value(model: GroundModel, targets: tuple[Target, ...], p: FloatArray) -> Shares:
    labels = itertools.product(*(target.labels.tolist() for target in targets))
    found: Shares = {}
    for value, share in zip(labels, p.tolist(), strict=True):
        key = tuple(model.values[label] for label in value)
        found[key] = found.get(key, 0.0) + share
    return found
