"""Intervals hold the truth as often as they say: a small part of ``python -m tests.benchmarks.coverage``."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.coverage import scores


@pytest.mark.parametrize("objective", ["likelihood", "stochastic"])
def test_intervals_hold_the_truth(objective: str) -> None:
    z = np.array(list(scores(objective, 25, size=80)))
    assert (
        float((np.abs(z) < 1.959964).mean()) >= 0.86
    )  # 75 intervals of 95 %: below with a chance of 1 in 500
    assert 0.6 < float((z**2).mean()) < 1.6
    assert float(np.abs(z).max()) < 4.5
