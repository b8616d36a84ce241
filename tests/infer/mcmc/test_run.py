"""The run loop: when it stops and what it says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import plx
from plx.deadline import within
from plx.errors import PlxError
from plx.graph.model import GroundModel, GroundQuery, Target
from plx.infer.chains import Chains
from plx.infer.infer import infer, methods
from plx.infer.mcmc.batches import Run
from plx.infer.mcmc.run import begin, sample
from plx.infer.mcmc.samplers import SAMPLERS, Sampler
from plx.infer.options import Options, Progress
from plx.infer.problem import Problem
from tests.models import all_states, log_weights, make_model, marginal, random_model

INF = float("inf")


@pytest.mark.parametrize("name", SAMPLERS)
def test_it_stops_when_every_answer_is_accurate(name: str) -> None:
    scores = []
    for seed in range(10):
        model = random_model(np.random.default_rng(seed), variables=6, factors=6, max_card=4, hard=0.05)
        found = infer(model, name, Options(seed=seed, accuracy=0.01))
        for node, answer in enumerate(found.answers):
            if not answer.converged:
                assert answer.rhat > 1.01
                continue
            assert answer.mcse.max() < 0.01
            scores.append((answer.p - marginal(model.graph, [node])) / answer.mcse)
    z = np.concatenate(scores)
    assert np.abs(z).max() < 4.5
    z = z[np.abs(z) > 1e-9]  # without answers that no draw was needed for
    assert 0.8 < z.std() < 1.2


def test_tighter_accuracy_takes_more_draws() -> None:
    model = random_model(np.random.default_rng(1))
    loose, tight = (infer(model, "gibbs", Options(accuracy=a)).draws for a in (0.01, 0.002))
    assert loose is not None
    assert tight is not None
    assert tight > 8 * loose


def test_stuck_chains_are_reported_not_averaged_away() -> None:
    equal = [[5 if a == b else -40 for b in range(2)] for a in range(2)]
    model = make_model([2] * 30, [((i, i + 1), equal) for i in range(29)])
    found = infer(model, "gibbs", Options(samples=64 * 200, seconds=None))
    assert found.status == "limit"
    assert not any(answer.converged for answer in found.answers)
    assert all(answer.rhat > 1.1 for answer in found.answers)


def test_samples_limit_the_run() -> None:
    model = random_model(np.random.default_rng(1))
    found = infer(model, "gibbs", Options(samples=2000, accuracy=1e-9, seconds=None, chains=10))
    assert found.status == "limit"
    assert found.draws is not None
    assert 2000 <= found.draws < 4500
    assert not found.notes


def test_seconds_limit_the_run_and_are_noted() -> None:
    model = random_model(np.random.default_rng(1))
    found = infer(model, "gibbs", Options(seconds=0.3, accuracy=1e-9))
    assert found.status == "limit"
    assert 0.3 <= found.seconds < 2
    assert "clock" in found.notes[0]


def test_a_seed_repeats_a_run() -> None:
    model = random_model(np.random.default_rng(1))
    a, b = (infer(model, "gibbs", Options(seed=5, threads=t)) for t in (1, 2))
    for x, y in zip(a.answers, b.answers, strict=True):
        np.testing.assert_array_equal(x.p, y.p)
        assert x.rhat == y.rhat


@dataclass
class Coins(Chains):
    """As many chains as there are coins."""

    n: int


@dataclass
class Interrupting:
    """A sampler of fair coins that is interrupted at its n-th step."""

    at: int
    steps: int = 0

    def init(self, problem: Problem, seed: int, chains: int, threads: int | None) -> Coins:
        return Coins(chains)

    def step(self, chains: Coins, draws: int, thin: int) -> np.ndarray:
        self.steps += 1
        if self.steps == self.at:
            raise KeyboardInterrupt
        ones = np.full((chains.n, 1), draws // 2)
        return np.concatenate([draws - ones, ones], axis=1)


@pytest.mark.parametrize("at", [1, 2, 5, 40])
def test_an_interrupt_keeps_the_answers_so_far(at: int) -> None:
    source = Interrupting(at)
    model = make_model([2], [((0,), [0, 0.5])])
    found = sample(
        Problem(model), Sampler(source.init, source.step, ""), Options(accuracy=1e-9, seconds=None)
    )
    assert found.status == "interrupted"
    assert found.samples.interrupted
    counts = found.samples.counts
    assert counts.sum() == found.samples.draws * counts.shape[0] * counts.shape[1]


def test_memory_bounds_the_batches() -> None:
    model = make_model([2] * 50, [((i,), [0, 1]) for i in range(50)])
    found = sample(Problem(model), SAMPLERS["gibbs"], Options(accuracy=0.002))
    assert found.samples.counts.shape[0] <= 16
    assert found.samples.counts.shape[1:] == (64, 100)


def test_progress_is_reported() -> None:
    reports: list[Progress] = []
    model = random_model(np.random.default_rng(1))
    infer(model, "gibbs", Options(progress=reports.append))
    assert {report.phase for report in reports} >= {"searching for a first state", "warming up", "sampling"}
    assert all(0 <= report.done <= 1 for report in reports)
    assert reports[-1].error is not None
    assert reports[-1].error < 0.005


def number_query(model: GroundModel, node: int, values: list[int]) -> GroundQuery:
    return GroundQuery("number", "n", "n", (Target(node, model.values.ids(values)),), (), None)


def test_numbers_have_mean_and_deviation() -> None:
    derived = [([(v, [0, 1]) for v in range(40)], range(41))]
    model = make_model([2] * 40, [((i, i + 1), [[0, 0], [0, 1]]) for i in range(39)], derived)
    model = replace(model, queries=(number_query(model, 40, list(range(41))),))
    exact, found = infer(model, "exact").answers[0], infer(model, "gibbs").answers[0]
    assert found.mean_mcse is not None
    assert abs(found.mean - exact.mean) < 4 * found.mean_mcse
    assert found.sd == pytest.approx(exact.sd, rel=0.05)
    assert found.mean_mcse < 0.005 * 2 * exact.sd


def test_what_evidence_decided_is_certain() -> None:
    model = make_model([2], [((0,), [0, 1])])
    decided = GroundQuery("probability", "q", "q", (Target(-1, np.array([1])),), (), None)
    model = replace(model, queries=(decided, *model.queries))
    for method in methods():
        answer = infer(model, method).answers[0]
        assert answer.p.tolist() == [1.0]
        assert answer.mcse.tolist() == [0.0]
        assert answer.converged


@pytest.mark.parametrize("method", methods())
def test_the_best_world_of_a_small_model(method: str) -> None:
    model = random_model(np.random.default_rng(3), variables=8, factors=10, derived=2, hard=0.1)
    query = GroundQuery("map", "map", "map", (), (), None, best=2)
    answer = infer(replace(model, queries=(query,)), method).answers[0]
    best = np.sort(log_weights(model.graph, all_states(model.graph)))[::-1][:2]
    np.testing.assert_allclose([world.log_weight for world in answer.worlds], best)
    assert answer.worlds[0].optimal == (method in ("auto", "exact"))


def test_log_z_is_exact_or_absent() -> None:
    query = GroundQuery("logz", "logz", "logz", (), (), None)
    model = replace(make_model([2], [((0,), [0, 1])]), queries=(query,))
    assert infer(model, "auto").answers[0].log_z == pytest.approx(np.log1p(np.e))
    sampled = infer(model, "gibbs")
    assert sampled.answers[0].log_z is None
    assert "--method exact sums" in sampled.notes[0] and "tempered estimates it" in sampled.notes[0]


def test_auto_says_what_it_took_and_why() -> None:
    small = infer(make_model([2, 2], [((0, 1), [[0, 1], [0, 0]])]))
    assert (small.method, small.reason) == ("exact", "all 4 worlds were enumerated")
    chain = make_model([2] * 60, [((i, i + 1), [[0, 1], [0, 0]]) for i in range(59)])
    assert "at most 4 states" in infer(chain).reason


def test_auto_samples_what_is_too_wide() -> None:
    rng = np.random.default_rng(0)
    pairs = [((i, j), [[0, 0], [0, int(rng.integers(-1, 2))]]) for i in range(45) for j in range(i)]
    model = make_model([2] * 45, pairs)
    found = infer(replace(model, queries=model.queries[:1]), options=Options(accuracy=0.02))
    assert found.method == "lifted"
    assert "about 10^14 worlds" in found.reason
    with pytest.raises(PlxError, match="out of reach"):
        infer(model, "exact")


def test_an_unknown_method_is_named_with_the_nearest() -> None:
    with pytest.raises(PlxError, match="gibs") as error:
        infer(make_model([2], []), "gibs")
    assert "gibbs" in str(error.value)


@pytest.mark.parametrize("method", methods())
def test_impossible_models_are_errors_for_every_method(method: str) -> None:
    model = make_model([2, 2], [((0, 1), [[-INF, 0], [-INF, -INF]]), ((1,), [0, -INF])])
    with pytest.raises(PlxError, match="no world satisfies"):
        infer(model, method)


def test_tens_of_thousands_of_states() -> None:
    model = plx.compile(
        "type N = 0..30000\nrandom x: N\nrandom b\nfactor -x / 5000\nweight 1: x < 4000 & b\n"
        "query x\nquery x < 4000\n"
    )
    weight = np.exp(-np.arange(30001) / 5000) * np.where(np.arange(30001) < 4000, 1 + np.e, 2)
    truth = float(weight[:4000].sum() / weight.sum())
    states, low = model.run(method="gibbs", seed=1, samples=64_000, seconds=60)
    assert states.converged and low.converged
    assert sum(estimate.p for estimate in states.estimates) == pytest.approx(1)
    assert abs(low.probability - truth) < 5 * low.mcse
    assert low.mcse < 0.005, "nearly independent draws"


def _begun() -> Run[Any]:
    model = random_model(np.random.default_rng(0), variables=3, factors=2, max_card=2)
    return begin(Problem(model), SAMPLERS["gibbs"], Options(seed=1))


def test_the_first_batches_of_a_slow_run_are_small() -> None:
    """What the clock ends is lost, and that is a whole batch at worst."""
    run = _begun()
    drawn = []
    for speed in (1.0, 10.0, 1e6):
        run.speed = speed
        with within(10.0):
            drawn.append(run._first_draws())
    assert drawn[0] == 4 and drawn[0] < drawn[1] < drawn[2] == 16
    assert run._first_draws() == 16, "there is no clock"


@pytest.mark.parametrize(("before", "kept"), [(0, 3), (64, 5), (10_000, 6)])
def test_tuning_counts_as_burn_in(before: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _begun()
    monkeypatch.setattr(type(run.chains), "rounds_before", lambda self: before)
    for _ in range(6):
        run._collect()
    run.finish()
    assert len(run.batches) == kept
