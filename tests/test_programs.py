"""Whole programs: what plx answers is what the language says, world by world."""

from __future__ import annotations

import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings

import plx.infer.exact_choice
from plx.answer.result import QueryResult
from plx.api import run
from plx.errors import PlxError
from plx.source import Source
from plx.syntax.parser import parse
from tests.mixed_programs import mixed_programs
from tests.oracle import Answers, Interpreter
from tests.random_programs import networks, programs

LARGEST_WORLD_COUNT = 1500
"""The oracle enumerates in plain Python, so worlds are kept few."""

quietly = settings(deadline=None, suppress_health_check=list(HealthCheck))


def expected(text: str) -> Answers | None:
    """What the oracle answers; None where there are too many worlds for it."""
    interpreter = Interpreter(parse(Source("program", text)))
    worlds = math.prod(len(domain) for domain in interpreter.atoms.values())
    return interpreter.answers() if worlds <= LARGEST_WORLD_COUNT else None


def possible(truth: Answers) -> bool:
    return truth.possible and all(z > -math.inf for z in truth.log_z)


def distribution(answer: QueryResult) -> dict[tuple[object, ...], float]:
    """The answer as {values: probability}."""
    return {
        value if isinstance(value, tuple) else (value,): p for value, p in answer.distribution.items() if p
    }


@settings(quietly, max_examples=100)
@given(text=programs())
def test_exact_answers_are_the_sums_over_worlds(text: str) -> None:
    check_exact_answers(text)


@settings(quietly, max_examples=100)
@given(text=networks())
def test_exact_answers_of_networks(text: str) -> None:
    check_exact_answers(text)


def check_exact_answers(text: str) -> None:
    """By enumeration, and by elimination."""
    truth = expected(text)
    if truth is None:
        return
    for few in (1 << 14, 0):
        with patch.object(plx.infer.exact_choice, "FEW", few):
            check_exact(text, truth)


def check_exact(text: str, truth: Answers) -> None:
    if not possible(truth):
        with pytest.raises(PlxError):
            run(text, method="exact")
        return
    result = run(text, method="exact")
    assert len(result) == len(truth.distributions)
    for answer, right, log_z, best in zip(result, truth.distributions, truth.log_z, truth.best, strict=True):
        if answer.kind == "map":
            assert answer.log_weight == pytest.approx(best, abs=1e-9)
        elif answer.kind == "logz":
            assert answer.log_z == pytest.approx(log_z, abs=1e-9)
        else:
            mine = distribution(answer)
            assert set(mine) == set(right)
            assert all(mine[key] == pytest.approx(p, abs=1e-9) for key, p in right.items())


@settings(quietly, max_examples=100)
@given(text=mixed_programs())
def test_exact_answers_where_joins_distributions_closed_worlds_and_constraints_meet(text: str) -> None:
    check_exact_answers(text)


@seed(20170420)
@settings(quietly, max_examples=40, derandomize=True)
@given(text=programs() | networks())
def test_sampled_answers_agree_within_their_errors(text: str) -> None:
    check_sampled_answers(text)


@seed(20170420)
@settings(quietly, max_examples=25, derandomize=True)
@given(text=mixed_programs())
def test_sampled_answers_of_mixed_programs(text: str) -> None:
    check_sampled_answers(text)


def check_sampled_answers(text: str) -> None:
    truth = expected(text)
    if truth is None or not possible(truth):
        return
    result = run(text, method="gibbs", seed=7, samples=20_000)
    for answer, right in zip(result, truth.distributions, strict=True):
        if answer.kind in ("map", "logz") or not answer.converged:
            continue
        for estimate in answer.estimates:
            key = estimate.value if isinstance(estimate.value, tuple) else (estimate.value,)
            assert abs(estimate.p - right.get(key, 0.0)) <= 5 * estimate.mcse + 1e-9
        if answer.moments is not None:
            mean = sum(float(value) * p for (value,), p in right.items())  # type: ignore[arg-type]
            assert abs(answer.mean - mean) <= 5 * (answer.mean_mcse or 0) + 1e-9


@pytest.mark.parametrize(("n", "p"), [(2, 0.837962), (3, 0.874677), (5, 0.937859), (10, 0.993113)])
@pytest.mark.parametrize("method", ["auto", "gibbs"])
def test_smokers(n: int, p: float, method: str) -> None:
    text = """
    type Person
    random smokes(Person)
    random friends(Person, Person)
    weight 1.4: smokes(x) for x in Person
    weight 1.1: friends(x, y) & smokes(x) => smokes(y) for x, y in Person
    query smokes(p1)
    """
    answer = run(text, Person=[f"p{i + 1}" for i in range(n)], method=method, seed=1)["smokes(p1)"]
    assert answer.converged
    assert abs(answer.probability - p) <= 4 * answer.mcse + 5e-7


def test_a_lone_boolean_of_weight_one() -> None:
    result = run("random a  weight 1: a  query a")
    assert result["a"].probability == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-15)
