"""Comparing samplers: the measure, the clock, and that curves fall towards the truth."""

from __future__ import annotations

import numpy as np
import pytest

from plx.errors import PlxError
from plx.infer.compare import Plan, compare, divergence
from tests.models import make_model, marginal, random_model

QUICK = Plan(["gibbs", "lifted"], seconds=0.15, chains=2, lanes=16, seed=3)


def test_divergence_is_the_mean_over_unknowns() -> None:
    estimate, truth = np.array([0.5, 0.5, 1.0, 0.0, 0.0]), np.array([0.25, 0.75, 0.5, 0.25, 0.25])
    first = 0.5 * np.log(2) + 0.5 * np.log(2 / 3)
    assert divergence(estimate, truth, np.array([0, 2])) == pytest.approx((first + np.log(2)) / 2)
    assert divergence(truth, truth, np.array([0, 2])) == 0


@pytest.mark.parametrize("truth", ["exact", "long"])
def test_curves_fall_towards_the_truth(truth: str) -> None:
    model = random_model(np.random.default_rng(4), variables=6)
    found = compare("test", model, truth, QUICK)
    assert [curve.method for curve in found.curves] == ["gibbs", "lifted"]
    for curve in found.curves:
        assert curve.kl.shape == (2, len(curve.seconds)) and len(curve.samples) == len(curve.seconds)
        assert (np.diff(curve.seconds) >= 0).all() and (np.diff(curve.samples) >= 0).all()
        # The KL divergence of n independent draws is about (states - 1) / 2n.
        assert curve.kl.min() < 100 * 6 / curve.samples[-1] + 1e-6


def test_exact_and_given_truth_are_the_marginals() -> None:
    model = random_model(np.random.default_rng(5), variables=5)
    marginals = [marginal(model.graph, [v]) for v in range(5)]
    given = compare("test", model, marginals, QUICK)
    assert given.truth == "given"
    wrong = compare("test", model, [np.roll(p, 1) for p in marginals], QUICK)
    for right, other in zip(given.curves, wrong.curves, strict=True):
        assert right.kl.min() < 100 * 5 / right.samples[-1] + 1e-6
        assert other.kl.min() > right.kl.min()


def test_what_cannot_be_compared() -> None:
    model = make_model([2, 2], [((0, 1), [[1, 0], [0, 1]])])
    with pytest.raises(PlxError, match="no sampler `gibs`"):
        compare("test", model, "exact", Plan(["gibs"]))
    with pytest.raises(PlxError, match="1 marginals"):
        compare("test", model, [np.array([0.5, 0.5])], QUICK)
    with pytest.raises(PlxError, match="3 values"):
        compare("test", model, [np.array([0.5, 0.5]), np.array([0.2, 0.3, 0.5])], QUICK)
