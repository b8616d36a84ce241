"""Components that are copies of each other are solved once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plx.infer.exact.elimination import plan, solve
from tests import models
from tests.infer.exact.test_elimination import ask
from tests.models import make_model


def tables(copies: int, odd: object = 1) -> list[tuple[list[int], object]]:
    """Triangles of unknowns with 2, 3 and 2 states, the last one with an odd weight."""
    out: list[tuple[list[int], object]] = []
    for c in range(copies):
        a, b, d = 3 * c, 3 * c + 1, 3 * c + 2
        out += [([a, b], [[0, 1, 2], [2, 0, 1]]), ([b, d], [[0, 1], [1, 0], [3, 0]])]
        out += [([a, d], [[0, -1], [odd if c == copies - 1 else 1, 0]])]
    return out


def test_copies_share_one_tree() -> None:
    model = make_model([2, 3, 2] * 1000, tables(1000))
    chosen = plan(model)
    assert len(chosen.skeleton.order) == 3
    done = solve(model, chosen)
    single = models.log_z(make_model([2, 3, 2], tables(1)).graph)
    assert done.log_z == pytest.approx(1000 * single)
    np.testing.assert_allclose(
        done.answers[2998].p, models.marginal(make_model([2, 3, 2], tables(1)).graph, [1])
    )


def test_an_odd_one_is_told_apart() -> None:
    model = make_model([2, 3, 2] * 3, tables(3, odd=2))
    chosen = plan(model)
    assert len(chosen.skeleton.order) == 6
    done = solve(model, chosen)
    assert done.log_z == pytest.approx(models.log_z(model.graph))
    for v, answer in enumerate(done.answers):
        np.testing.assert_allclose(answer.p, models.marginal(model.graph, [v]), atol=1e-12)


def test_a_joint_query_over_two_copies_sees_them_as_independent() -> None:
    model = ask(make_model([2, 3, 2] * 3, tables(3)), (0, 3), (0, 1), (6, 7), (6, 6))
    for query, answer in zip(model.queries, solve(model).answers, strict=True):
        nodes = [target.node for target in query.targets]
        np.testing.assert_allclose(answer.p, models.marginal(model.graph, nodes), atol=1e-12)


def test_copies_with_derived_nodes() -> None:
    counters = [([(v, [0, 1]) for v in range(8 * c, 8 * c + 8)], [0, 0, 1]) for c in range(2)]
    counters = [(inputs, [0, 0, 1] + [1] * 6) for inputs, _ in counters]
    factors = [([16 + c], [0, 2]) for c in range(2)]
    model = ask(make_model([2] * 16, factors, counters), (0,), (15,), (16,), (17,))
    chosen = plan(model)
    done = solve(model, chosen)
    assert done.log_z == pytest.approx(models.log_z(model.graph))
    np.testing.assert_allclose(done.answers[0].p, done.answers[1].p)
    np.testing.assert_allclose(done.answers[2].p, done.answers[3].p)
    np.testing.assert_allclose(done.answers[3].p, models.marginal(model.graph, [17]), atol=1e-12)


def test_lone_unknowns_are_copies() -> None:
    model = make_model([2] * 5000 + [3] * 7, [])
    chosen = plan(model)
    assert len(chosen.skeleton.order) == 2
    assert solve(model, chosen).log_z == pytest.approx(5000 * math.log(2) + 7 * math.log(3))


def test_a_factor_and_a_function_are_told_apart() -> None:
    factors = [([0, 1], [[0, 1], [2, 0], [0, 3]])]
    model = ask(make_model([3, 2, 3], factors, [([(2, [0, 1, 2])], [0, 0, 1])]), (0,), (2,), (3,))
    for query, answer in zip(model.queries, solve(model).answers, strict=True):
        nodes = [target.node for target in query.targets]
        np.testing.assert_allclose(answer.p, models.marginal(model.graph, nodes), atol=1e-12)
