"""A program's first-order answers beside those of the grounded program."""

from __future__ import annotations

import itertools

import numpy as np

import plx
from plx.errors import NoWorldError, PlxError
from plx.firstorder.plan import FirstOrderPlan, first_order
from plx.graph.model import GroundModel, GroundQuery, Target
from plx.ground.condition import condition
from plx.ground.given import by_given
from plx.infer.infer import infer
from plx.infer.inference import Answer
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
    try:
        grounded = plx.compile(text).ground
        expected: dict[int, tuple[GroundQuery, Answer]] = {}
        for group in by_given(grounded):
            model = condition(group.model, group.given)
            run = infer(model, "exact")
            expected.update(zip(group.positions, zip(model.queries, run.answers, strict=True), strict=True))
            if not group.given:
                log_z = run.log_z
    except NoWorldError:
        assert plan is None, "a world is found where there is none"
        return True
    assert plan is not None, "no world is found where there is one"
    assert found.log_z is not None and log_z is not None
    np.testing.assert_allclose(found.log_z, log_z, rtol=1e-10, atol=1e-10)
    assert [q.name for q in lifted_model.queries] == [q.name for q in grounded.queries]
    for i, (query, answer) in enumerate(zip(lifted_model.queries, found.answers, strict=True)):
        other, right = expected[i]
        if query.kind == "logz":
            continue
        mine = _by_value(lifted_model, query.targets, answer.p)
        theirs = _by_value(grounded, other.targets, right.p)
        for value in mine.keys() | theirs.keys():
            np.testing.assert_allclose(
                mine.get(value, 0.0), theirs.get(value, 0.0), atol=1e-10, err_msg=query.name
            )
    return True


def _by_value(
    model: GroundModel, targets: tuple[Target, ...], p: FloatArray
) -> dict[tuple[Value, ...], float]:
    labels = itertools.product(*(target.labels.tolist() for target in targets))
    found: dict[tuple[Value, ...], float] = {}
    for value, share in zip(labels, p.tolist(), strict=True):
        key = tuple(model.values[label] for label in value)
        found[key] = found.get(key, 0.0) + share
    return found
