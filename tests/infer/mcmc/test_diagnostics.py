"""Standard errors, effective sample sizes and R-hat on chains whose truth is known."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from plx.infer.mcmc import diagnostics
from plx.infer.mcmc.diagnostics import diagnose

NO_VALUES = np.zeros(2)
ONE_TARGET = np.array([0, 2])


def autocorrelated(
    rng: np.random.Generator, batches: int, chains: int, draws: int, p: float, keep: float
) -> np.ndarray:
    """Counts of two-state chains that keep their state with probability ``keep``, else draw anew."""
    counts = np.zeros((batches, chains, 2))
    state = rng.random(chains) < p
    for b in range(batches):
        for _ in range(draws):
            fresh = rng.random(chains) >= keep
            state = np.where(fresh, rng.random(chains) < p, state)
            counts[b, :, 1] += state
    counts[..., 0] = draws - counts[..., 1]
    return counts


def runs(n: int, batches: int, chains: int, draws: int, p: float, keep: float) -> list[np.ndarray]:
    """Counts of n independent runs."""
    together = autocorrelated(np.random.default_rng(1), batches, n * chains, draws, p, keep)
    return np.split(together, n, axis=1)


@pytest.mark.parametrize(("chains", "batches"), [(64, 8), (20, 16), (4, 32), (1, 64)])
@pytest.mark.parametrize("keep", [0.0, 0.8])
def test_standard_errors_are_calibrated(chains: int, batches: int, keep: float) -> None:
    p, draws, scores, sizes = 0.3, 40, [], []
    for counts in runs(150, batches, chains, draws, p, keep):
        found = diagnose(counts, draws, ONE_TARGET, NO_VALUES).states
        scores.append((found.mean[1] - p) / found.mcse[1])
        sizes.append(found.ess[1])
    assert 0.75 < np.std(scores) < 1.25
    true_size = batches * chains * draws * (1 - keep) / (1 + keep)
    assert np.median(sizes) == pytest.approx(true_size, rel=0.35)


def test_r_hat_is_near_one_for_chains_that_agree() -> None:
    counts = autocorrelated(np.random.default_rng(0), 8, 64, 100, 0.5, 0.5)
    assert diagnose(counts, 100, ONE_TARGET, NO_VALUES).states.rhat.max() < 1.01


def test_r_hat_flags_chains_that_are_stuck_apart() -> None:
    counts = np.zeros((8, 64, 2))
    counts[:, :20, 0] = counts[:, 20:, 1] = 50
    found = diagnose(counts, 50, ONE_TARGET, NO_VALUES).states
    assert np.isfinite(found.rhat).all()
    assert found.rhat.min() > 10
    assert found.mcse.min() > 0.05


def test_r_hat_flags_chains_that_still_move_together() -> None:
    counts = np.zeros((8, 64, 2))
    counts[..., 1] = np.linspace(5, 45, 8)[:, None] + np.random.default_rng(0).integers(-3, 4, size=(8, 64))
    counts[..., 0] = 50 - counts[..., 1]
    assert diagnose(counts, 50, ONE_TARGET, NO_VALUES).states.rhat.min() > 1.1


@pytest.mark.parametrize("chains", [1, 4, 64])
def test_a_state_never_seen_keeps_a_standard_error(chains: int) -> None:
    counts = np.zeros((16, chains, 2))
    counts[..., 0] = 100
    found = diagnose(counts, 100, ONE_TARGET, NO_VALUES).states
    n = 1600 * chains
    assert found.rhat.tolist() == [1.0, 1.0]
    assert (found.mcse > 0.5 / n).all()
    assert (found.mcse < 2 / n).all()


def test_a_state_never_seen_counts_only_as_many_draws_as_others_are_worth() -> None:
    rng = np.random.default_rng(2)
    slow = autocorrelated(rng, 8, 64, 50, 0.5, 0.95)
    never = np.zeros((8, 64, 2))
    never[..., 0] = 50
    counts = np.concatenate([slow, never], axis=2)
    found = diagnose(counts, 50, np.array([0, 2, 4]), np.zeros(4)).states
    assert found.mcse[3] > 0.5 / found.ess[0]


def test_many_targets_are_diagnosed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 5, size=30)
    offset = np.concatenate([[0], np.cumsum(sizes)])
    counts = np.concatenate([rng.multinomial(20, np.full(k, 1 / k), size=(4, 16)) for k in sizes], axis=2)
    values = rng.integers(0, 3, size=offset[-1]).astype(float)
    whole = diagnose(counts, 20, offset, values)
    monkeypatch.setattr(diagnostics, "_CHUNK", 400)
    parts = diagnose(counts, 20, offset, values)
    for a, b in ((whole.states, parts.states), (whole.numbers, parts.numbers)):
        np.testing.assert_allclose(a.mean, b.mean)
        np.testing.assert_allclose(a.mcse, b.mcse)
        np.testing.assert_allclose(a.rhat, b.rhat)


def test_rare_events_are_seen_with_an_honest_error() -> None:
    p, scores = 1e-3, []
    for counts in runs(200, 4, 16, 50, p, 0.0):
        found = diagnose(counts, 50, ONE_TARGET, NO_VALUES).states
        scores.append(abs(found.mean[1] - p) / found.mcse[1])
    assert np.mean(np.array(scores) < 3.5) > 0.97


def test_means_of_numbers() -> None:
    rng = np.random.default_rng(4)
    values = np.array([0.0, 10.0, 100.0])
    p = np.array([0.5, 0.3, 0.2])
    scores = []
    for _ in range(150):
        counts = rng.multinomial(40, p, size=(8, 64)).astype(float)
        found = diagnose(counts, 40, np.array([0, 3]), values).numbers
        scores.append((found.mean[0] - values @ p) / found.mcse[0])
    assert 0.8 < np.std(scores) < 1.2
    assert found.ess[0] == pytest.approx(8 * 64 * 40, rel=0.5)


@pytest.mark.parametrize(("batches", "chains"), [(7, 64), (16, 20), (5, 3), (9, 1), (1, 1), (2, 1)])
def test_sums_over_batches_are_enough_for_states(batches: int, chains: int) -> None:
    counts = np.random.default_rng(2).multinomial(30, [0.2, 0.5, 0.3, 0.0], (batches, chains))
    share, pooled = counts / 30, np.array([1.0, 2.0, 1.0, 1.0])
    short = diagnostics._indicators(counts, 30, pooled)
    full = diagnostics.spread(share, share * (1 - share), 30, pooled)
    for name in ("mean", "mcse", "ess", "rhat"):
        np.testing.assert_allclose(getattr(short, name), getattr(full, name), rtol=1e-9, atol=1e-12)


def test_states_are_diagnosed_alike_in_any_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(3).multinomial(20, np.full(50, 0.02), (6, 32))
    offset, values = np.array([0, 20, 50]), np.arange(50.0)
    whole = diagnose(counts, 20, offset, values)
    monkeypatch.setattr(diagnostics, "_NEAR", 1000)
    parts = diagnose(list(counts), 20, offset, values)
    for name in ("states", "numbers"):
        for a, b in zip(
            vars(getattr(whole, name)).values(), vars(getattr(parts, name)).values(), strict=True
        ):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("apart", [0.0, 0.15, 0.4])
def test_r_hat_of_a_state_is_ranked_and_folded_r_hat_of_its_indicator(apart: float) -> None:
    """Vehtari et al. 2021, equations 5 and 14, written out: ranks of two values are two values."""
    rng = np.random.default_rng(3)
    chance = 0.3 + apart * rng.uniform(-0.5, 0.5, 16)
    draws = (rng.random((400, 16)) < chance).astype(float)
    counts = [np.stack([1 - row, row], axis=1) for row in draws]
    mine = diagnose(counts, 1, np.array([0, 2]), np.zeros(2)).states.rhat[1]
    folded = np.abs(draws - np.median(draws))
    for x in (draws, folded):
        halves = _normal_ranks(x).reshape(2, 200, 16).swapaxes(0, 1).reshape(200, 32)
        within = halves.var(axis=0, ddof=1).mean()
        between = halves.mean(axis=0).var(ddof=1)
        assert mine == pytest.approx(np.sqrt(199 / 200 + between / within), rel=2e-3)


def _normal_ranks(x: np.ndarray) -> np.ndarray:
    """Normal scores of average ranks over all draws."""
    values, index, count = np.unique(x, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2
    score = [NormalDist().inv_cdf(float((r - 3 / 8) / (x.size + 1 / 4))) for r in rank]
    assert len(values) == 2
    return np.array(score)[index].reshape(x.shape)
