"""Ranks, folded ranks and tails of numbers, against what the draws themselves say."""

from __future__ import annotations

from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

import plx
from plx.infer.mcmc.diagnostics import Diagnosis, diagnose
from plx.infer.mcmc.ranks import scores
from plx.values import FloatArray


def normal_scores(draws: FloatArray) -> FloatArray:
    """Φ⁻¹((r - 3/8) / (n + 1/4)), r the mean rank of equal draws, written out."""
    n = draws.size
    rank = (draws.ravel()[:, None] > draws.ravel()).sum(axis=1)
    equal = (draws.ravel()[:, None] == draws.ravel()).sum(axis=1)
    place = (rank + (equal + 1) / 2 - 0.375) / (n + 0.25)
    return np.array([NormalDist().inv_cdf(x) for x in place]).reshape(draws.shape)


@pytest.mark.parametrize("seed", range(4))
def test_scores_of_states_are_those_of_draws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.permutation(np.array([-3.0, 0.0, 1.0, 2.0, 7.0, 8.0]))
    drawn = rng.integers(0, len(values), 300) if seed else np.repeat([2, 4], 150)
    p = np.bincount(drawn, minlength=len(values)) / 300
    other = np.array([5.0, 6.0])  # a second number, which must not matter
    found = scores(np.append(p, [0.5, 0.5]), np.array([0, 6, 8]), np.append(values, other), 300)
    x = values[drawn]
    median = np.sort(x)[149]
    np.testing.assert_allclose(found.ranked[drawn], normal_scores(x))
    np.testing.assert_allclose(found.folded[drawn], normal_scores(np.abs(x - median)))
    np.testing.assert_array_equal(found.tails[0][drawn], x <= np.sort(x)[14])
    np.testing.assert_array_equal(found.tails[1][drawn], x <= np.sort(x)[284])


def diagnosed(draws: np.ndarray, values: FloatArray) -> Diagnosis:
    """Of draws of states, shape (batches, draws, chains)."""
    counts = (draws[..., None] == np.arange(len(values))).sum(axis=1).astype(np.int32)
    return diagnose(counts, draws.shape[1], np.array([0, len(values)]), values)


def test_folded_ranks_see_chains_that_differ_in_scale_alone() -> None:
    rng = np.random.default_rng(1)
    values = np.arange(-50.0, 51.0)
    wide = np.where(np.arange(32) % 2, 30.0, 10.0)
    x = np.clip(np.rint(rng.normal(size=(16, 32, 32)) * wide), -50, 50).astype(int) + 50
    found = diagnosed(x, values)
    assert found.numbers.rhat[0] < 1.02
    assert found.ranks.rhat[0] > 1.1
    assert found.ranks.tail[0] < found.ranks.bulk[0] / 4
    alike = diagnosed(np.clip(np.rint(rng.normal(size=(16, 32, 32)) * 20), -50, 50).astype(int) + 50, values)
    assert alike.ranks.rhat[0] < 1.02


def test_ranks_see_chains_apart_where_a_heavy_tail_hides_it() -> None:
    rng = np.random.default_rng(2)
    values = np.append(np.arange(20.0), 1e6)
    shift = np.where(np.arange(32) % 2, 4, 0)
    x = rng.integers(0, 14, (16, 32, 32)) + shift
    x[rng.random(x.shape) < 0.01] = 20
    found = diagnosed(x, values)
    assert found.numbers.rhat[0] < 1.02
    assert found.ranks.rhat[0] > 1.1


def test_effective_sizes_are_those_of_independent_draws() -> None:
    x = np.random.default_rng(3).integers(0, 12, (16, 16, 64))
    found = diagnosed(x, np.arange(12.0))
    for size in (found.ranks.bulk[0], found.ranks.tail[0]):
        assert 0.4 * x.size < size < 2.5 * x.size  # between 64 chains: a relative error of 18 %


def test_two_values_are_ranks_already() -> None:
    x = np.random.default_rng(4).integers(0, 2, (8, 8, 16))
    found = diagnosed(x, np.array([0.0, 5.0]))
    assert np.isinf(found.ranks.bulk[0])
    assert found.ranks.rhat[0] == 1.0


def test_a_result_tells_them_of_numbers_alone(tmp_path: Path) -> None:
    found = plx.run(
        "type N = 1..6\nrandom a(N)\nquery count(a(x) for x in N)\nquery a(1)\n",
        method="gibbs",
        samples=4000,
        seed=1,
    )
    number, truth = found.to_dict()["queries"]
    assert 1000 < number["bulk_ess"] < 40_000
    assert 1000 < number["tail_ess"] < 40_000
    assert "bulk_ess" not in truth
    (tmp_path / "kept.json").write_text(found.to_json())
    assert plx.Result.load(tmp_path / "kept.json").queries[0].moments == found.queries[0].moments
