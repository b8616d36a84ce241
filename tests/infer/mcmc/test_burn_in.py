"""What is dropped from the beginning of a run of ladders: nothing where nothing drifts, else at most half."""

from __future__ import annotations

import numpy as np
import pytest

from plx.infer.chains import Bridges, BridgeSums
from plx.infer.mcmc.burn_in import burn_in


def _bridges(bias: np.ndarray, cold: np.ndarray | float = 1.0, seed: int = 0) -> Bridges:
    """Log weights of 32 chains: noise of 1, and a bias of each batch, times ``cold`` for chains that began
    so."""
    rng = np.random.default_rng(seed)
    made = Bridges(0.0, np.ones(1), np.zeros(1), np.arange(32) % 2 == 1)
    sign = np.where(made.cold, cold, 1.0)
    for each in bias:
        weight = rng.standard_normal((2, 32)) + each * sign
        line, none = np.stack([weight[0], weight[0] ** 2]), np.zeros((2, 32))
        made.add(BridgeSums(none[:1], none[:1], weight, line, none[None], np.zeros(32, dtype=np.int64), 1))
        made.look()
    return made


def test_nothing_is_dropped_where_nothing_drifts() -> None:
    found = [burn_in(_bridges(np.zeros(64), seed=seed), 16, 32) for seed in range(40)]
    assert np.mean(np.array(found) == 0) > 0.6 and max(found) <= 32


def test_tuning_is_burn_in_too() -> None:
    assert burn_in(_bridges(np.zeros(64)), 0, 32) >= 6


@pytest.mark.parametrize("cold", [1.0, -1.0])
def test_what_drifts_is_dropped(cold: float) -> None:
    """Also where chains that began hot and cold drift towards each other, so that their mean does not."""
    early = np.exp(-np.arange(64) / 4)
    assert burn_in(_bridges(3 * early, cold), 16, 32) >= 8
    assert burn_in(_bridges(np.linspace(3, 0, 64), cold), 16, 32) == 32


def test_a_run_of_few_batches_has_the_usual_burn_in() -> None:
    assert burn_in(_bridges(np.zeros(6)), 16, 3) == 3
