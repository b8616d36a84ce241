"""The choice between samplers by pilot runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Never

import numpy as np
import pytest

import plx
from plx.deadline import within
from plx.errors import Diagnostic, PlxError
from plx.infer.infer import infer
from plx.infer.mcmc import pilot
from plx.infer.mcmc.pilot import (
    LAST,
    NOTHING,
    PLAIN,
    USUAL,
    Rate,
    Trial,
    _nearly_done,
    _rate,
    sample_by_choice,
)
from plx.infer.mcmc.run import begin
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.options import Options
from plx.infer.problem import Problem
from tests.infer.mcmc.test_monitor import RING
from tests.models import random_model


def test_what_is_done_at_once_is_not_compared() -> None:
    """And the answers are those of the usual sampler, as nothing was lost."""
    model = random_model(np.random.default_rng(1))
    asked = Options(seed=3, accuracy=0.02)
    with within(60):
        name, why, found = sample_by_choice(Problem(model), asked)
    assert (name, why, found.status) == (USUAL, "", "done")
    np.testing.assert_array_equal(found.diagnosis.states.mean[:2], infer(model, USUAL, asked).answers[0].p)


def test_where_the_usual_one_is_stuck_the_other_is_taken() -> None:
    ring = plx.compile(RING.format(asked="u(1)"))
    exact = ring.run(method="exact")["u(1)"].probability
    problem = Problem(ring.ground)
    with within(20):
        name, why, found = sample_by_choice(problem, Options(seed=1, accuracy=0.02))
    assert name == "cluster" and USUAL in why and "a second" in why
    assert abs(found.diagnosis.states.mean[1] - exact) < 4 * found.diagnosis.states.mcse[1] + 1e-3


def test_a_limit_of_samples_ends_the_first_run() -> None:
    ring = plx.compile(RING.format(asked="u(1)"))
    with within(60):
        name, why, found = sample_by_choice(Problem(ring.ground), Options(seed=1, samples=2000))
    assert (name, why, found.status) == (USUAL, "", "limit")


def test_where_there_is_no_time_to_set_up_the_usual_one_a_plain_one_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pilot, "SETTING_UP", 60.0)
    model = random_model(np.random.default_rng(1))
    with within(60):
        name, why, found = sample_by_choice(Problem(model), Options(seed=3, accuracy=0.02))
    assert (name, found.status) == (PLAIN, "done") and why == "others take longer to set up"


@pytest.mark.parametrize(("update", "taken"), [(1e-8, PLAIN), (10.0, USUAL)])
def test_few_samples_of_a_large_model_are_plain_ones(
    update: float, taken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pilot, "SETTING_UP", 60.0)
    monkeypatch.setattr(pilot, "UPDATE", update)
    model = random_model(np.random.default_rng(1))
    name, _, found = sample_by_choice(Problem(model), Options(seed=3, samples=2000, seconds=None))
    assert (name, found.status) == (taken, "limit")


def test_no_pilot_is_begun_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def begun(*_: object) -> Never:
        raise AssertionError

    monkeypatch.setattr(pilot, "SETTING_UP", -1.0)
    monkeypatch.setattr(pilot, "_pilot", begun)
    with within(0):
        name, why, _ = sample_by_choice(Problem(random_model(np.random.default_rng(1))), Options(seed=3))
    assert (name, why) == (USUAL, "")


def test_a_sampler_that_finds_no_first_state_in_its_pilot_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> Never:
        raise PlxError(Diagnostic("no world that keeps every hard rule was found in the time given"))

    monkeypatch.setitem(SAMPLERS, LAST, replace(SAMPLERS[LAST], init=fails))
    model = random_model(np.random.default_rng(1))
    with within(1):
        name, _, found = sample_by_choice(Problem(model), Options(seed=3, accuracy=1e-7))
    assert name == USUAL
    assert found.samples.draws > 0


def test_chains_that_agree_are_better_than_fast_ones() -> None:
    slow, fast = Rate(True, False, 10.0), Rate(True, False, 50.0)
    apart, late = Rate(False, True, 1e6), Rate(False, False, 1e6)
    assert fast.beats(slow) and not slow.beats(fast)
    assert slow.beats(apart) and slow.beats(late) and not apart.beats(slow)
    assert NOTHING.beats(apart), "where the usual one is stuck the other is tried"
    assert not NOTHING.beats(late)


def test_chains_that_miss_the_most_probable_world_speak_for_another() -> None:
    text = "type N = 1..30\nrandom up(N)\nweight 40: forall(up(x) for x in N)\nquery up(1)"
    run = begin(Problem(plx.compile(text).ground), SAMPLERS[USUAL], Options(seed=1, samples=4000))
    run.loop()
    rate = _rate(run, 0.0)
    assert rate.missed and rate.stuck and not rate.agree and not _nearly_done(run, 0.0)
    assert Rate(agree=True, stuck=False, rate=1.0).beats(rate)
    assert str(Trial(USUAL, run, rate)).endswith("miss the most probable world")
