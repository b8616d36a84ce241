"""Whole programs: what plx answers is what the language says, world by world."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from plx.model import compile
from plx.syntax.parser import parse

from plx.errors import PlxError
from plx.infer.samples import Answer
from plx.source import Source
from tests.oracle import Interpreter
from tests.random_programs import programs

# Oracle enumerates in plain Python, so worlds are kept few.
LARGEST_WORLD_COUNT = 1500


def expected(text: str):
    interpreter = Interpreter(parse(Source("program", text)))
    if math.prod(len(domain) for domain in interpreter.atoms.values()) > LARGEST_WORLD_COUNT:
        return None
    return interpreter.answers()


def distribution(model, query, answer: Answer) -> Mapping[tuple, float]:
    """The answer as {values: probability}, without values of probability 0."""
    out: dict[tuple, float] = {}
    shape = [len(target.labels) for target in query.targets]
    for flat, p in enumerate(answer.p):
        key, rest = [], flat
        for size, target in zip(reversed(shape), reversed(query.targets), strict=True):
            rest, state = divmod(rest, size)
            key.append(model.values[int(target.labels[state])])
        if p:
            out[tuple(reversed(key))] = out.get(tuple(reversed(key)), 0.0) + float(p)
    return out


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=programs())
def test_exact_answers_are_the_sums_over_worlds(text: str) -> None:
    truth = expected(text)
    if truth is None:
        return
    model = compile(text)
    if any(z == -math.inf for z in truth.log_z):
        with pytest.raises(PlxError):
            model.run(method="exact")
        return
    result = model.run(method="exact")
    assert len(model.ground.queries) == len(truth.distributions)
    for i, query in enumerate(model.ground.queries):
        answer = result.inference.answers[i]
        if query.kind == "map":
            assert answer.worlds[0].log_weight + model.ground.log_constant == pytest.approx(
                truth.best[i], abs=1e-9
            )
        elif query.kind == "logz":
            assert answer.log_z == pytest.approx(truth.log_z[i], abs=1e-9)
        else:
            mine, right = distribution(model.ground, query, answer), truth.distributions[i]
            assert set(mine) <= set(right) | {key for key in mine if mine[key] < 1e-12}
            assert all(mine.get(key, 0.0) == pytest.approx(p, abs=1e-9) for key, p in right.items())
