"""Ground models against an interpreter of the syntax tree that shares nothing with the grounder."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plx.errors import NoWorldError
from plx.ground import algebra, formulas, quantify
from plx.source import Source
from plx.syntax.parser import parse
from plx.weights import to_float
from tests.ground.programs import distribution, grounded, log_total
from tests.oracle import Interpreter
from tests.random_programs import programs

LARGEST = 300
"""Worlds that the interpreter may enumerate."""


def oracle(text: str) -> Interpreter:
    return Interpreter(parse(Source("program.plx", text)))


def agree(text: str) -> None:
    """Every query of a program has the interpreter's answer."""
    truth = oracle(text).answers()
    model = grounded(text)
    assert len(model.queries) == len(truth.distributions)
    for i, expected in enumerate(truth.distributions):
        query = model.queries[i]
        assert log_total(model, query) == pytest.approx(truth.log_z[i])
        if truth.log_z[i] == -math.inf:
            continue
        assert rounded(distribution(model, i)) == pytest.approx(rounded(expected))


def rounded(answer: dict[tuple, float]) -> dict[tuple, float]:
    """The answer with keys that are equal for exact numbers and the doubles next to them."""
    out: dict[tuple, float] = {}
    for key, p in answer.items():
        same = tuple(v if isinstance(v, str | bool) else round(_float(v), 9) for v in key)
        out[same] = out.get(same, 0.0) + p
    return {key: p for key, p in out.items() if p > 0}


def _float(value) -> float:
    return value if isinstance(value, float) else to_float(value)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=programs(), limits=st.sampled_from([(4096, 256), (4096, 1), (8, 4), (4, 1)]))
def test_random_programs(text: str, limits: tuple[int, int]) -> None:
    """With small limits, formulas are split into derived nodes even in a small world."""
    interpreter = oracle(text)
    if math.prod(len(domain) for domain in interpreter.atoms.values()) > LARGEST:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algebra, "TABLE_LIMIT", limits[0])
        patch.setattr(formulas, "TABLE_LIMIT", limits[0])
        patch.setattr(quantify, "EXPAND_LIMIT", limits[1])
        try:
            agree(text)
        except NoWorldError:
            assert not list(interpreter.worlds())
