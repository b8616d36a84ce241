"""Comparing samplers: the measure, the clock, and that curves fall towards the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plx.errors import PlxError
from plx.infer.compare.compare import ComparePlan, compare, divergence, with_marginals
from plx.infer.compare.protocols import sampler_of
from plx.infer.exact_choice import exact_way
from plx.infer.problem import Problem
from tests.benchmarks.models import ring
from tests.models import make_model, marginal, random_model

QUICK = ComparePlan(["gibbs", "lifted"], seconds=0.15, chains=2, lanes=16, seed=3)


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
        compare("test", model, "exact", ComparePlan(["gibs"]))
    with pytest.raises(PlxError, match="1 marginals"):
        compare("test", model, [np.array([0.5, 0.5])], QUICK)
    with pytest.raises(PlxError, match="3 values"):
        compare("test", model, [np.array([0.5, 0.5]), np.array([0.2, 0.3, 0.5])], QUICK)


SINGLE = ["gibbs", "random-scan", "orbital", "vv", "nec"]


@pytest.mark.parametrize("method", SINGLE)
def test_single_updates_agree_with_enumeration(method: str) -> None:
    """Standardised errors from 64 lanes, whose moves share their elements, are as large as they should be."""
    sampler, scores = sampler_of(method, "paper"), []
    for seed in range(12):
        made = [random_model(np.random.default_rng(seed), variables=5, max_card=3), ring(6, seed)]
        model = with_marginals(made[seed % 2])
        chains = sampler.init(Problem(model), seed, 64, 1)
        sampler.step(chains, 200, 1)
        share = sampler.step(chains, 2000, 1) / 2000
        truth = np.concatenate([marginal(model.graph, [v]) for v in range(model.graph.n_variables)])
        error = share.std(axis=0, ddof=1) / 8
        free = error > 0
        np.testing.assert_allclose(share.mean(axis=0)[~free], truth[~free], atol=1e-3)
        scores.append((share.mean(axis=0)[free] - truth[free]) / error[free])
    z = np.concatenate(scores)
    assert np.abs(z).max() < 5 and 0.7 < np.sqrt((z**2).mean()) < 1.3


def test_a_sweep_of_the_paper_is_one_update() -> None:
    model = with_marginals(make_model([2] * 7, []))
    sampler = sampler_of("gibbs", "paper")
    chains = sampler.init(Problem(model), 5, 32, 1)
    before = chains.states
    for _ in range(10):
        sampler.step(chains, 1, 1)
        assert (chains.states != before).any(axis=1).sum() <= 1
        before = chains.states


def test_the_protocol_of_the_paper_is_said_and_followed() -> None:
    model = ring(8, 1)
    plan = replace(QUICK, methods=["gibbs", "vv", "lifted"], protocol="paper")
    found = compare("test", model, "exact", plan)
    assert found.protocol == "paper"
    assert all(curve.mean[-1] < 1e-2 for curve in found.curves)
    assert found.curves[0].samples[-1] * QUICK.chains % QUICK.lanes == 0
    with pytest.raises(PlxError, match="`mcsat` does not update one unknown at a time"):
        compare("test", model, "exact", replace(plan, methods=["mcsat"]))
    with pytest.raises(PlxError, match="no protocol"):
        compare("test", model, "exact", replace(plan, protocol="papers"))  # type: ignore[arg-type]


def test_moves_pay_where_every_update_is_counted() -> None:
    """After as many updates: counting often, a move shows each value of a ring to every unknown."""
    model = with_marginals(ring(60, 2))
    truth = np.concatenate([answer.p for answer in exact_way(Problem(model)).run().answers])  # type: ignore[union-attr]
    errors = {}
    for method in ("gibbs", "vv"):
        sampler = sampler_of(method, "paper")
        chains = sampler.init(Problem(model), 3, 16, 1)
        sampler.step(chains, 1000, 1)
        errors[method] = ((sampler.step(chains, 2000, 1) / 2000 - truth) ** 2).mean()
    assert errors["vv"] < errors["gibbs"] / 5
