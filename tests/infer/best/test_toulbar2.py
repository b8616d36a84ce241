"""Worlds found by toulbar2 against brute force."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest

from plx.deadline import within
from plx.infer.best import toulbar2 as toulbar
from plx.infer.best.max_sum import best_worlds
from plx.infer.exact import split
from plx.infer.inference import World
from tests import models
from tests.models import make_model

pytestmark = pytest.mark.skipif(not toulbar.installed(), reason="needs the extra plx[map]")


def found(model: models.GroundModel, count: int = 1) -> tuple[World, ...]:
    result = toulbar.search(model, count)
    assert result is not None
    return result.worlds


@pytest.mark.parametrize("small", [64, 1], ids=["whole functions", "partial sums"])
def test_random_models(monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    monkeypatch.setattr(split, "SMALL", small)
    rng = np.random.default_rng(small)
    for i in range(40):
        model = models.random_model(
            rng,
            variables=5,
            factors=int(rng.integers(0, 8)),
            derived=int(rng.integers(0, 3)),
            hard=0.3 * (i % 2),
        )
        weights = models.log_weights(model.graph, models.all_states(model.graph))
        possible = np.sort(weights[weights > -np.inf])[::-1]
        worlds = found(model, 3)
        assert all(world.optimal for world in worlds)
        assert len({world.states.tobytes() for world in worlds}) == len(worlds) == min(3, len(possible))
        np.testing.assert_allclose([world.log_weight for world in worlds], possible[: len(worlds)], atol=1e-7)


def test_no_world_is_no_solution() -> None:
    inf = math.inf
    model = make_model([2, 2], [([0, 1], [[0, -inf], [-inf, 0]]), ([0], [0, -inf]), ([1], [-inf, 0])])
    assert found(model) == ()
    assert found(make_model([2], [([0], [-inf, -inf])])) == ()


def test_large_weights_keep_small_differences() -> None:
    big = 10_000
    model = make_model(
        [2] * 30,
        [([i, i + 1], [[big, -big], [-big, big]]) for i in range(29)] + [([7], [0, Fraction(1, 1000)])],
    )
    (world,) = found(model)
    assert world.states.all()
    assert world.log_weight == pytest.approx(29 * big + 0.001, abs=1e-6)


def grid(n: int, seed: int) -> models.GroundModel:
    rng = np.random.default_rng(seed)
    factors: list[tuple[list[int], object]] = []
    for i in range(n):
        for j in range(n):
            for k in [n * i + n + j] * (i + 1 < n) + [n * i + j + 1] * (j + 1 < n):
                w = Fraction(int(rng.normal() * 300), 100)
                factors.append(([n * i + j, k], [[w, -w], [-w, w]]))
            factors.append(([n * i + j], [0, Fraction(int(rng.normal() * 100), 100)]))
    return make_model([2] * n * n, factors)


def test_agrees_with_elimination_on_a_grid() -> None:
    model = grid(9, seed=1)
    (world,) = found(model)
    assert world.optimal
    assert world.log_weight == pytest.approx(best_worlds(model)[0].log_weight, abs=1e-7)


def test_a_time_limit_gives_the_best_found_and_a_bound() -> None:
    """The clock is that on the wall, and the solver, which counts processor time, is a process apart."""
    for seconds in (2, 8, 30):  # to begin with, the process has to start
        begin = time.monotonic()
        with within(seconds):
            result = toulbar.search(grid(40, seed=2))
        assert time.monotonic() - begin < seconds + 40
        if result is not None:
            break
    assert result is not None
    (world,) = result.worlds
    assert not world.optimal
    assert world.bound is not None and world.bound > world.log_weight
