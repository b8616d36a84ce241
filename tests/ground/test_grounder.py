"""Ground models against an interpreter of the syntax tree that shares nothing with the grounder."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from plx.errors import NoWorldError
from plx.source import Source
from plx.syntax.parser import parse
from tests.ground.programs import distribution, grounded, log_total, log_worlds
from tests.oracle import Interpreter
from tests.random_programs import programs

LARGEST = 600
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
        found = distribution(model, i)
        assert found == pytest.approx({key: p for key, p in expected.items() if p > 0})


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=programs())
def test_random_programs(text: str) -> None:
    interpreter = oracle(text)
    if math.prod(len(domain) for domain in interpreter.atoms.values()) > LARGEST:
        return
    try:
        agree(text)
    except NoWorldError:
        assert not list(interpreter.worlds())
