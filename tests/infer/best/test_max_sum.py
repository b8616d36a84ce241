"""The most probable worlds against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plx.errors import NoWorldError
from plx.infer.best.max_sum import best_worlds
from plx.infer.exact import split
from tests import models
from tests.models import make_model


@pytest.mark.parametrize("small", [64, 1], ids=["whole functions", "partial sums"])
def test_best_worlds_of_random_models(monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    monkeypatch.setattr(split, "SMALL", small)
    rng = np.random.default_rng(small)
    for i in range(150):
        model = models.random_model(
            rng,
            variables=int(rng.integers(1, 7)),
            factors=int(rng.integers(0, 8)),
            derived=int(rng.integers(0, 3)),
            hard=0.3 * (i % 2),
        )
        states = models.all_states(model.graph)
        weights = models.log_weights(model.graph, states)
        possible = np.sort(weights[weights > -np.inf])[::-1]
        count = int(rng.integers(1, 8))
        worlds = best_worlds(model, count)
        assert len(worlds) == min(count, len(possible))
        assert len({world.states.tobytes() for world in worlds}) == len(worlds)
        np.testing.assert_allclose(
            [world.log_weight for world in worlds], possible[: len(worlds)], atol=1e-12
        )
        for world in worlds:
            assert world.optimal
            assert models.log_weights(model.graph, world.states[None])[0] == pytest.approx(world.log_weight)


def test_best_worlds_of_many_components() -> None:
    """2000 lone unknowns: the second best flips the one that costs least."""
    model = make_model([2] * 2000, [([i], [0, i + 1]) for i in range(2000)])
    best, second, third = best_worlds(model, 3)
    total = 2000 * 2001 / 2
    assert best.states.all() and best.log_weight == total
    assert np.flatnonzero(second.states == 0).tolist() == [0] and second.log_weight == total - 1
    assert np.flatnonzero(third.states == 0).tolist() == [1] and third.log_weight == total - 2


def test_no_world_is_an_error() -> None:
    inf = math.inf
    model = make_model([2, 2], [([0, 1], [[0, -inf], [-inf, 0]]), ([0], [0, -inf]), ([1], [-inf, 0])])
    with pytest.raises(NoWorldError):
        best_worlds(model)


def test_a_model_without_unknowns_has_one_world() -> None:
    (world,) = best_worlds(make_model([], []))
    assert len(world.states) == 0 and world.log_weight == 0.0
