"""Control variates have mean 0 and take noise off log Z; clusters move where sweeps do not mix."""

from __future__ import annotations

import numpy as np
import pytest

from plx.infer.chains import Bridges, BridgeSums
from plx.infer.gibbs.chains import ChainBlock, state_type
from plx.infer.gibbs.compiled import CompiledModel, compile_model
from plx.infer.infer import infer
from plx.infer.mcmc.log_z import estimate
from plx.infer.options import Options
from plx.infer.problem import Problem
from plx.infer.tempering import tempered
from plx.infer.tempering.controls import add_controls, controls_of
from plx.infer.tempering.ladders import Seldom, coldest
from plx.infer.tempering.limits import SELDOM
from plx.infer.tempering.soft import Path
from plx.infer.tempering.tuning import _slow
from plx.values import FloatArray
from tests.benchmarks.log_z import CRITICAL, ising, ising_log_z, with_log_z
from tests.models import all_states, log_weights, random_model


def _control(plan: CompiledModel, states: np.ndarray, beta: float) -> FloatArray:
    """The control variate in each of some worlds [V, worlds]."""
    controls, none = controls_of(plan, Path()), np.zeros((0, states.shape[1]), dtype=np.int32)
    kind = np.ascontiguousarray(states, dtype=state_type(plan.graph))
    block = ChainBlock(kind, none, none, none.astype(np.uint32), none.astype(np.uint32))
    out = np.zeros(states.shape[1])
    add_controls(controls, controls.excess(beta), block, out)
    return out


@pytest.mark.parametrize("beta", [0.0, 0.4, 1.0])
def test_control_variates_have_mean_0(beta: float) -> None:
    moved = 0
    for seed in range(12):
        hard, derived = 0.15 * (seed % 2), seed % 3
        model = random_model(
            np.random.default_rng(seed), variables=5, factors=7, max_card=3, derived=derived, hard=hard
        )
        plan, states = compile_model(Problem(model)), all_states(model.graph)
        logs = log_weights(model.graph, states)
        kept = np.isfinite(logs)
        p = np.exp(beta * (logs[kept] - logs[kept].max()))
        found = _control(plan, states[kept].T, beta)
        assert found @ p / p.sum() == pytest.approx(0, abs=1e-9)
        moved += bool(np.abs(found).max(initial=0) > 0.1)
    assert moved > 6


def test_at_infinite_temperature_nothing_is_left_of_the_noise() -> None:
    """Of factors over two unknowns each is felt twice."""
    model = ising(4, 0.7)
    plan, states = compile_model(Problem(model)), np.random.default_rng(0).integers(0, 2, (50, 16))
    left = log_weights(model.graph, states) - _control(plan, states.T, 0.0) / 2
    assert left == pytest.approx(left[0])


def _bridges(slope: float, controlled: bool) -> Bridges:
    """One pair of temperatures; what the hotter one sees is as noisy as its control variate, up to 1 %."""
    rng, made = np.random.default_rng(1), Bridges(0.0, np.ones(1), np.zeros(1), np.arange(32) % 2 == 1)
    for _ in range(8):
        control = 0.2 * rng.standard_normal((1, 2, 32)) * [[1], [0]]
        above = 1 + slope * control[0, :1] + 0.01 * rng.standard_normal((1, 32))
        nothing, trips = np.zeros((2, 32)), np.ones(32, dtype=np.int64)
        made.add(BridgeSums(above, np.ones((1, 32)), nothing, nothing, control * controlled, trips, 1))
        made.look()
    return made


def test_noise_that_control_variates_share_is_taken_off() -> None:
    plain, less = (estimate(_bridges(1.5, controlled)) for controlled in (False, True))
    assert plain is not None and less is not None
    assert less.mcse < 0.1 * plain.mcse
    assert abs(plain.value) < 4 * plain.mcse and abs(less.value) < 4 * less.mcse


def test_log_z_that_is_asked_for_has_less_error() -> None:
    model, exact = ising(6, CRITICAL / 2), ising_log_z(6, CRITICAL / 2)
    options = Options(seed=3, samples=4096, seconds=None, threads=1)
    asked = infer(with_log_z(model), "tempered", options)
    other = tempered.init(Problem(model), 3, 64, 1)
    for _ in range(8):
        other.step(8, 1)
        other.bridge.look()
    plain = estimate(other.bridge)
    assert plain is not None and asked.log_z is not None
    assert abs(asked.log_z - exact) < 4 * asked.log_z_mcse
    assert asked.log_z_mcse < 0.5 * plain.mcse


def test_clusters_move_often_from_where_sweeps_are_slow() -> None:
    rng = np.random.default_rng(0)
    looks = rng.standard_normal((40, 16, 64))
    assert _slow(list(looks[:20])) is None
    slow = _slow(list(looks))
    assert slow is not None and not slow.any() and coldest(16).sum() == 2
    looks[:, 9] += 3 * rng.standard_normal(64)
    assert (_slow(list(looks)) == (np.arange(16) >= 9)).all()


def test_temperatures_take_seldom_moves_in_turn() -> None:
    made: list[tuple[int, int]] = []
    for k in range(SELDOM):
        move = Seldom(lambda block, random, turn, excess, k=k: made.append((k, turn)), k)
        for turn in range(2 * SELDOM):
            move(None, None, turn)  # type: ignore[arg-type]
    assert sorted(made) == [(k, turn) for k in range(SELDOM) for turn in range(2)]
