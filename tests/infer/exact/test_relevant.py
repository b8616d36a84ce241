"""Queries answered in groups, against the whole tree."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plx
from plx.infer.exact.elimination import plan, solve
from plx.infer.exact.limits import ExactBudget
from plx.infer.exact.relevant import RelevantPlan, eliminated, relevant
from plx.infer.inference import Inference
from plx.infer.problem import Problem
from tests.graph.test_barren import network
from tests.infer.estimating import with_joint_queries
from tests.models import random_model


def limit(monkeypatch: pytest.MonkeyPatch, operations: float) -> None:
    """Let elimination take fewer operations, and nothing in slices."""
    monkeypatch.setattr("plx.infer.exact.elimination.ExactBudget", lambda: ExactBudget(operations=operations))
    monkeypatch.setattr("plx.infer.exact.sliced.SLICED_OPERATIONS", operations)


def same(done: Inference, expected: Inference) -> None:
    assert done.log_z == pytest.approx(expected.log_z, abs=1e-9)
    for answer, other in zip(done.answers, expected.answers, strict=True):
        np.testing.assert_allclose(answer.p, other.p, atol=1e-9)


def test_groups_have_the_answers_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    for seed in range(20):
        model = network(seed, asked=7)
        if seed % 2:
            model = with_joint_queries(model, np.random.default_rng(seed), 2)
        whole = plan(model)
        expected = solve(model, whole)
        with monkeypatch.context() as patch:
            limit(patch, 0.8 * whole.operations)
            found = relevant(Problem(model), math.inf)
            if found is not None:
                assert len(found.groups) > 1 and f"{len(found.groups)} groups of queries" in found.reason
                same(found.run(), expected)
                taken += 1
    assert taken >= 5


def test_what_every_query_needs_is_not_taken_apart() -> None:
    model = random_model(np.random.default_rng(1), variables=6, factors=9, derived=1)
    assert relevant(Problem(model), math.inf) is None


LAYERS = """
type Cause = 1..16
type Effect = 1..12
random cause(x: Cause) ~ 0.1 + x / 100
random effect(y: Effect) ~
  noisy_or(0.05, 0.1 + y / 80: cause(x) for x in Cause if (x + y * y) % 4 = 0)
query effect(y) for y in Effect
query cause(1)
query logz
"""


def test_a_network_that_is_too_wide_as_a_whole_is_answered_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    model = plx.compile(LAYERS).ground
    whole = plan(model)
    expected = solve(model, whole)
    limit(monkeypatch, 0.8 * whole.operations)
    monkeypatch.setattr("plx.infer.exact.relevant.TOGETHER_OPERATIONS", 0.0)
    found = eliminated(Problem(model))
    assert isinstance(found, RelevantPlan) and len(found.groups) > 1
    done = found.run()
    same(done, expected)
    assert done.log_z == pytest.approx(0.0, abs=1e-9)
