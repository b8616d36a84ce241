"""Standard errors that keep their word: on average, and for what was never seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plx
from plx.graph.model import GroundModel, GroundQuery, Target
from plx.infer.answers import moments
from plx.infer.infer import infer
from plx.infer.mcmc.diagnostics import farthest_unseen
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.options import Options
from tests.benchmarks.intervals import together
from tests.models import _queries, make_model, marginal, random_model

every_sampler = pytest.mark.parametrize("method", [name for name in SAMPLERS if name != "tempered"])
"""Counts of `tempered` are of the kind of those of `gibbs`."""


def numbered(model: GroundModel, rng: np.random.Generator) -> GroundModel:
    """Queries for the probabilities of all nodes, and for the mean of a number read off each."""
    cards = model.graph.card.tolist()
    numbers = [
        GroundQuery(
            "number", "n", "n", (Target(v, model.values.ids(rng.integers(-50, 50, k).tolist())),), (), None
        )
        for v, k in enumerate(cards)
    ]
    return replace(model, queries=(*_queries(model.values, cards), *numbers))


def scores(model: GroundModel, method: str, seed: int) -> tuple[list[float], list[float]]:
    """Errors in units of the standard error: of what was seen to vary, and of what never was."""
    found = infer(model, method, Options(seed=seed, samples=64 * 100, accuracy=0.01, seconds=None))
    varied, constant = [], []
    for query, answer in zip(model.queries, found.answers, strict=True):
        truth = marginal(model.graph, [query.targets[0].node])
        seen = (answer.p > 0) & (answer.p < 1)
        if query.kind == "number":
            mean, _ = moments(model.values.floats(query.targets[0].labels), truth)
            if answer.mean_mcse:
                (varied if seen.any() else constant).append((answer.mean - mean) / answer.mean_mcse)
            continue
        z = (answer.p - truth) / answer.mcse
        varied += z[seen].tolist()
        constant += z[~seen].tolist()
    return varied, constant


@every_sampler
def test_errors_of_random_models_are_as_large_as_said(method: str) -> None:
    varied, constant = [], []
    for seed in range(4 if method == "mcsat" else 20):
        rng = np.random.default_rng(seed)
        model = random_model(rng, variables=5, factors=7, derived=2, max_card=4, hard=0.05 * (seed % 3))
        more, never = scores(numbered(model, rng), method, seed)
        varied += more
        constant += never
    z = np.array(varied)
    z = z[np.abs(z) > 1e-9]  # without answers that no draw was needed for
    assert 0.5 < np.mean(z**2) < 1.3
    assert np.abs(constant).max() < 4


@every_sampler
def test_what_is_hardly_ever_seen_is_not_said_never_to_be(method: str) -> None:
    """Events of a probability from 10⁻⁶ to 10⁻², most of them never drawn."""
    z = []
    for seed in range(30):
        weight = -5 - 9 * seed // 30
        model = make_model([2, 3], [((0,), [0, weight]), ((0, 1), [[0, 0, weight], [0, 1, 0]])])
        found = infer(model, method, Options(seed=seed, samples=64 * 100, accuracy=1e-9, seconds=None))
        for query, answer in zip(model.queries, found.answers, strict=True):
            assert (answer.mcse > 0).all()
            z += ((answer.p - marginal(model.graph, [query.targets[0].node])) / answer.mcse).tolist()
    assert np.abs(z).max() < 4


@every_sampler
def test_errors_of_standard_deviations_are_as_large_as_said(method: str) -> None:
    """As accurate as the delta method has it where chains move; and rare values that were not drawn count."""
    varied, rare = [], []
    for seed in range(3 if method == "mcsat" else 20):
        rng = np.random.default_rng(seed)
        usual = numbered(random_model(rng, variables=5, factors=7, max_card=4), rng)
        tables = [((0,), [0, -5 - seed // 2]), ((0, 1), [[0, 0, -8], [0, 1, 0]]), ((2,), [0, 0])]
        far = numbered(make_model([2, 3, 2], tables), rng)
        for model, z in ((usual, varied), (far, rare)):
            found = infer(model, method, Options(seed=seed, samples=64 * 100, accuracy=0.01, seconds=None))
            for query, answer in zip(model.queries, found.answers, strict=True):
                if query.kind == "number":
                    truth = marginal(model.graph, [query.targets[0].node])
                    _, sd = moments(model.values.floats(query.targets[0].labels), truth)
                    if sd > 0:
                        z.append((answer.sd - sd) / answer.sd_mcse)
    assert 0.4 < np.mean(np.square(varied)) < 1.4
    assert np.abs(rare).max() < 5


@every_sampler
def test_the_mean_of_a_number_of_which_one_value_was_drawn_has_an_error(method: str) -> None:
    model = plx.compile(
        "type T = {a}\nrandom f(T)\nweight -12: f(a)\nquery 1000000 * count(f(x) for x in T) as cost"
    )
    answer = model.run(method=method, seed=1)["cost"]
    exact = model.run(method="exact")["cost"]
    assert answer.mean_mcse is not None and answer.mean is not None and exact.mean is not None
    assert abs(answer.mean - exact.mean) < 4 * answer.mean_mcse
    assert abs(answer.sd - exact.sd) < 4 * answer.sd_mcse
    assert exact.sd_mcse == 0


def test_a_number_may_be_the_next_value_that_was_not_drawn() -> None:
    values, offset = np.array([0.0, 1.0, 2.0, 900.0]), np.array([0, 4])
    for p, mean, far in (
        ([0, 1, 0, 0], 1.0, 899.0),
        ([0.5, 0.5, 0, 0], 0.5, 1.5),
        ([0, 0.5, 0.5, 0], 1.5, 898.5),
        ([0.5, 0, 0, 0.5], 450.0, 0.0),
    ):
        assert farthest_unseen(np.array(p, dtype=float), np.array([mean]), offset, values).tolist() == [far]


def test_what_never_changed_is_worth_no_more_than_what_it_hangs_on() -> None:
    """b is as good as never false, and hangs on a(1), which moves slowly and which nobody asks about."""
    slow = "random a(1..2)\nweight 5: a(1) <=> a(2)\nweight 0.1: a(2)\n"
    slow += "random b\nweight 20: b\nweight 3: b <=> a(1)\nquery b"
    free = "random b\nweight 20: b\nquery b"
    held, alone = (
        plx.compile(text).run(method="gibbs", seed=1, samples=64 * 500, accuracy=1e-9)["b"]
        for text in (slow, free)
    )
    assert held.ess is not None and alone.ess is not None
    assert held.ess < alone.ess / 8


def test_worlds_that_have_a_whole_orbit_at_once_may_have_been_missed() -> None:
    """Four unknowns that change one by one, seldom, and all at once, which may not happen in a run."""
    pairs = [((i, j), [[0, -2], [-2, 0]]) for i in range(4) for j in range(i)]
    model = make_model([2] * 4, [*pairs, *[((i,), [0, -2]) for i in range(4)]])
    truth, z = marginal(model.graph, [0]), []
    for seed in range(12):
        found = infer(model, "lifted", Options(seed=seed, samples=64 * 100, accuracy=1e-9, seconds=None))
        answer = found.answers[0]
        if answer.rhat is not None and answer.rhat < 1.01:
            z.append(float(((answer.p - truth) / answer.mcse)[1]))
    assert len(z) > 3 and np.abs(z).max() < 2.5


@pytest.mark.parametrize("method", ["gibbs", "lifted", "nec"])
def test_intervals_hold_the_truth_as_often_as_they_say(method: str) -> None:
    """A small part of ``python -m tests.benchmarks.intervals``."""
    z, rare = together(method, 120, samples=64 * 60)
    assert 0.86 < (np.abs(z[~rare]) < 1.96).mean() < 0.99
    assert np.abs(z).max() < 4.5
