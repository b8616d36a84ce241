"""Convergence is not certified where chains are apart in what an answer depends on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plx
from plx.infer.infer import infer
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.options import Options
from plx.infer.problem import Problem
from tests.models import make_model, marginal

FAR = ["mcsat", "tempered", "cluster"]
"""Samplers that cross between modes."""

LOCAL = [name for name in SAMPLERS if name not in FAR]
"""Samplers that cannot leave a deep mode."""

RING = """
type N = 0..4
random u(N)
random z
random far
weight 9: u(i) <=> u((i + 1) % 5)   for i in N
weight 0.7: u(0)
weight 0.3: z <=> u(2)
weight 1: far
query {asked}
"""


@pytest.mark.parametrize("chains", [2, 3, 4])
@pytest.mark.parametrize("method", LOCAL)
def test_few_chains_in_one_mode_prove_nothing(method: str, chains: int) -> None:
    ring = plx.compile(RING.format(asked="u(0)"))
    for seed in range(10):
        answer = ring.run(method=method, seed=seed, chains=chains, samples=8_000, seconds=None)
        assert not answer.converged


@pytest.mark.parametrize("method", LOCAL)
def test_what_an_answer_depends_on_is_watched_and_nothing_else(method: str) -> None:
    for seed in range(3):
        answers = plx.compile(RING.format(asked="z\nquery far")).run(
            method=method, seed=seed, samples=64_000, accuracy=0.01, seconds=None
        )
        assert not answers["z"].converged
        assert answers["far"].converged


@pytest.mark.parametrize("method", FAR)
def test_slices_and_temperatures_cross_between_modes_and_converge(method: str) -> None:
    ring = plx.compile(RING.format(asked="z"))
    sampled = ring.run(method=method, seed=1, accuracy=0.01)["z"]
    assert sampled.converged
    assert abs(sampled.probability - ring.run()["z"].probability) < 4 * sampled.mcse


def test_modes_that_symmetries_exchange_are_averaged_by_lifted() -> None:
    """Without a field the two modes are alike: the average over them is exact though no chain moves."""
    ring = plx.compile(RING.replace("weight 0.7: u(0)\n", "").format(asked="u(1)"))
    answer = ring.run(method="lifted", seed=1, samples=64_000, seconds=None)["u(1)"]
    assert answer.converged
    assert answer.probability == pytest.approx(0.5, abs=4 * answer.mcse)


@pytest.mark.parametrize("seed", range(4))
def test_models_that_mix_converge_as_soon_as_their_answers_do(seed: int) -> None:
    """Hundreds of unknowns of middling weights, one asked for: none of the others raises a doubt."""
    rng = np.random.default_rng(seed)
    n = 300
    pairs = [
        ((i, i + 1), [[int(w), 0], [0, int(v)]]) for i, (w, v) in enumerate(rng.integers(0, 3, (n - 1, 2)))
    ]
    model = make_model([2] * n, pairs)
    model = replace(model, queries=model.queries[n // 2 : n // 2 + 1])
    found = infer(model, "gibbs", Options(seed=seed, samples=64 * 4000, seconds=None))
    assert found.status == "done"
    exact = infer(model, "exact").answers[0]
    assert (np.abs(found.answers[0].p - exact.p) < 4 * found.answers[0].mcse).all()


def test_every_second_chain_starts_opposite() -> None:
    model = make_model([2, 3, 5], [((0, 1), [[0, 1, 0], [0, 0, 1]])])
    states = SAMPLERS["gibbs"].init(Problem(model), 3, 8, 1).states
    np.testing.assert_array_equal(states[:, 1::2], model.graph.card[:3, None] - 1 - states[:, ::2])


def test_a_sum_over_independent_parts_depends_on_all_of_them() -> None:
    text = RING.format(
        asked="count(u(i) for i in N) + count(far for i in N) as n\nquery count(far for i in N) as f"
    )
    answers = plx.compile(text).run(method="gibbs", seed=1, samples=64_000, seconds=None)
    assert not answers["n"].converged
    assert answers["f"].converged


def test_marginals_of_the_rest_are_right() -> None:
    model = make_model([2, 2], [((0, 1), [[1, 0], [0, 1]])])
    found = infer(model, "gibbs", Options(seed=1, chains=2))
    assert found.chains == 16
    assert (np.abs(found.answers[0].p - marginal(model.graph, [0])) < 4 * found.answers[0].mcse).all()
