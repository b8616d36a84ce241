"""Weights that span thousands of orders of magnitude, by every exact way, against enumeration."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from plx.infer.circuit.plan import CircuitPlan
from plx.infer.exact import sliced as sliced_module
from plx.infer.exact.elimination import plan
from plx.infer.exact.limits import ExactBudget
from plx.infer.exact.sliced import sliced
from plx.infer.exact_plan import ExactPlan
from plx.infer.infer import infer
from plx.infer.problem import Problem
from tests.infer.circuit.test_circuit import worlds_of
from tests.infer.estimating import with_joint_queries
from tests.models import GroundModel, make_model

LOGS = [0, 0, 0.3, -1, 5000, -5000, 4999.5, 690.75, -690.75, -691.25, 745.25, -745.25, 1e5, -1e5, -math.inf]
"""e^-690.75 is about 10^-300; e^-745.25 is 0 as a double."""


def far_apart(rng: np.random.Generator) -> GroundModel:
    """Nine factors over six unknowns, with queries for one and for several."""
    cards = rng.integers(2, 4, size=6).tolist()
    scopes = [sorted(rng.choice(6, size=rng.integers(1, 4), replace=False).tolist()) for _ in range(9)]
    factors = [(scope, rng.choice(LOGS, size=[cards[node] for node in scope]).tolist()) for scope in scopes]
    return with_joint_queries(make_model(cards, factors), rng, 2)


def plans(model: GroundModel, monkeypatch: pytest.MonkeyPatch) -> list[ExactPlan]:
    """A circuit, a junction tree, and that in slices where it has a node to fix."""
    whole = plan(model, once=False)
    small = ExactBudget(entries=2.0 ** (whole.entry_bits - 1.5))
    monkeypatch.setattr(sliced_module, "ExactBudget", lambda: small)
    slices = sliced(model, whole)
    return [CircuitPlan(Problem(model)), whole, *([slices] if slices else [])]


def test_every_exact_way_sums_weights_that_are_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0
    for seed in range(12):
        model = far_apart(np.random.default_rng(seed))
        states, logs = worlds_of(model)
        if logs.max() == -math.inf:
            continue
        log_z = float(np.logaddexp.reduce(logs))
        p = np.exp(logs - log_z)
        for one in plans(model, monkeypatch):
            found = one.run()
            assert found.log_z == pytest.approx(log_z, rel=1e-14, abs=1e-9)
            for query, answer in zip(model.queries, found.answers, strict=True):
                nodes = [target.node for target in query.targets]
                cards = model.graph.card[nodes].tolist()
                place = np.ravel_multi_index(tuple(states[nodes]), cards)
                joint = np.bincount(place, p, math.prod(cards))
                np.testing.assert_allclose(np.ravel(answer.p), joint, atol=1e-9)
            tried += 1
    assert tried >= 25


def test_the_best_worlds_of_weights_that_are_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(6):
        model = far_apart(np.random.default_rng(seed))
        _, logs = worlds_of(model)
        if logs.max() > -math.inf:
            worlds, _ = CircuitPlan(Problem(replace(model, queries=()))).best(3)
            best = np.sort(logs[logs > -math.inf])[::-1][:3]
            assert [world.log_weight for world in worlds] == pytest.approx(best.tolist(), rel=1e-14, abs=1e-9)


def test_probabilities_below_the_range_of_doubles_are_kept() -> None:
    """Two hundred unknowns of e^-5000 against one that makes up for all of them."""
    weights = [([i], [0, -5000]) for i in range(200)]
    together = [([i, 200], [[0, 0], [0, 5000.5]]) for i in range(200)]
    query = make_model([2] * 201, [*weights, *together])
    found = infer(query, "exact")
    assert found.log_z == pytest.approx(200 * math.log1p(math.exp(0.5)), rel=1e-12)
    assert found.answers[200].p[1] == 1.0
