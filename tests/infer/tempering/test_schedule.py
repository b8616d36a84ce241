"""Where temperatures are placed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plx.infer.tempering.schedule import barrier, first_temperatures, temperatures


def refused(beta: np.ndarray, sd: float) -> np.ndarray:
    """Rates at which exchanges are refused where log weights are normal with one deviation at every β."""
    return np.array([math.erf(step * sd / 2) for step in np.diff(beta)])


@pytest.mark.parametrize("sd", [0.5, 5.0, 40.0])
def test_normal_log_weights_have_the_barrier_that_theory_says(sd: float) -> None:
    beta = np.linspace(0, 1, 41)
    assert barrier(refused(beta, sd))[-1] == pytest.approx(sd / math.sqrt(math.pi), rel=1e-6)


def test_temperatures_come_to_be_refused_equally_often() -> None:
    beta = first_temperatures()
    for _ in range(6):
        beta = temperatures(beta, barrier(refused(np.sqrt(beta), 12.0)), 100)
    rates = refused(np.sqrt(beta), 12.0)
    assert rates.max() - rates.min() < 0.1
    assert 0.35 < rates.mean() < 0.55, "about half"


def test_temperatures_rise_from_0_to_1_whatever_is_refused() -> None:
    rng = np.random.default_rng(0)
    for k in range(1, 30):
        beta = np.sort(np.concatenate([[0, 1], rng.random(k)]))
        upto = barrier(rng.choice([0.0, 0.5, 1.0, rng.random()], size=k + 1))
        found = temperatures(beta, upto, 17)
        assert (found[0], found[-1]) == (0, 1) and len(found) <= 18
        assert (np.diff(found) > 0).all()
