"""Fits by draws against exact ones: estimates, their errors, what is said where lanes do not mix."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plx
from plx.errors import PlxError
from plx.learn.fit import fit
from plx.learn.lanes import Lanes
from plx.learn.log_z import LogZ
from plx.learn.numbers import numbers_of
from plx.learn.priors import Priors
from plx.learn.stochastic import Stochastic
from plx.learning import world_of
from plx.model import Model

FIELD = """
type R = 1..4
random s(R, R)
learn field {prior}
learn pull {prior}
weight field: s(x, y) for x, y in R
weight pull: s(x, y) <=> s(x + 1, y) for x, y in R if x < 4
weight pull: s(x, y) <=> s(x, y + 1) for x, y in R if y < 4
"""


def fields(prior: str = "", count: int = 12, kept: float = 1.0) -> tuple[Model, list[dict[str, object]]]:
    """The model, and worlds that it is in at (-0.2, 0.6), of which a part is seen."""
    model = plx.compile(FIELD.format(prior=prior))
    lanes = Lanes(model.origin.unfitted(()), ("field", "pull"), seed=11, lanes=count)
    lanes.set(np.array([-0.2, 0.6]))
    lanes.burn(300)
    random = np.random.default_rng(3)
    worlds: list[dict[str, object]] = []
    for states in lanes.states.T:
        cells = {(i // 4 + 1, i % 4 + 1): bool(s) for i, s in enumerate(states.tolist())}
        seen = {cell: value for cell, value in cells.items() if random.random() < kept}
        worlds.append({"s": seen})
    return model, worlds


def agree(model: Model, worlds: list[dict[str, object]], **options: object) -> None:
    """A fit by draws is the exact one but for its Monte-Carlo error, and says how large that is."""
    exact = model.learn(worlds, objective="likelihood", **options)
    drawn = model.learn(worlds, objective="stochastic", seed=5, **options)
    assert drawn.converged, drawn.notes
    for one, other in zip(exact.numbers, drawn.numbers, strict=True):
        assert abs(other.value - one.value) < 4 * 0.2 * one.error + 1e-9
        assert other.error == pytest.approx(one.error, rel=0.15, abs=1e-9)
        assert other.expected == pytest.approx(one.expected, abs=0.5, rel=0.03)


@pytest.mark.parametrize("prior", ["~ flat", "~ normal(0, 1/10)", "~ laplace(0, 1/10)"])
def test_fits_by_draws_are_exact_but_for_the_error_that_they_state(prior: str) -> None:
    agree(*fields(prior))


def test_the_monte_carlo_error_is_that_of_seeds() -> None:
    model, worlds = fields("~ flat")
    data = [world_of(model.bind(**world).origin, ()) for world in worlds]
    learned = numbers_of([model.origin.program])
    exact = fit(data, learned, "likelihood").estimates.value
    names = [one.name for one in learned]
    priors = Priors.of([one.prior for one in learned])
    scores = []
    for seed in range(12):
        found = Stochastic(data, names, seed).search(priors, np.zeros(2))
        scores.append((found.weights - exact) / found.monte_carlo)
    assert 0.4 < float(np.mean(np.square(scores))) < 2.2
    assert float(np.abs(scores).max()) < 4


def test_hidden_values_are_drawn_too() -> None:
    agree(*fields("~ normal(0, 2)", count=8, kept=0.8), starts=1)


@pytest.mark.parametrize("seed", [1, 2])
def test_information_that_is_noise_counts_for_nothing(seed: int) -> None:
    text = """
type P = 1..5
random f(P)
random g(P)
learn a ~ normal(0, 10)
learn b ~ normal(0, 10)
weight a: f(x) <=> g(x) for x in P
weight b: f(x) for x in P
observe f(x) = (x < 4) for x in P
"""
    (a, b) = (found := plx.compile(text).learn(objective="stochastic", seed=seed)).numbers
    assert any("cannot tell whether the data say anything of a:" in note for note in found.notes)
    assert a.error > 9.9 and abs(a.value) < 3 and b.error < 3


def test_lanes_keep_hard_rules() -> None:
    text = "type P = 1..6 random f(P) random g(P) learn a learn b require f(x) => g(x) for x in P "
    text += "require exists(f(x) for x in P) weight a: f(x) for x in P "
    text += "weight b: g(x) <=> g(y) for x, y in P if x < y"
    worlds = [
        {"f": plx.Else(f, False), "g": plx.Else(g, False)}
        for f, g in (([1], [1, 2, 3]), ([2, 3], [2, 3]), ([1, 2, 5], [1, 2, 3, 4, 5]), ([4], [4, 6]))
    ]
    agree(plx.compile(text), worlds)


def test_a_seed_gives_the_same_answer_for_any_number_of_threads() -> None:
    model, _ = fields()
    free = model.origin.unfitted(())
    found = []
    for threads in (1, 2):
        lanes = Lanes(free, ("field", "pull"), seed=1, threads=threads)
        lanes.set(np.array([0.1, 0.2]))
        lanes.burn(3)
        drawn = lanes.draw(4)
        found.append((drawn.lane_means, drawn.covariance))
    assert np.array_equal(found[0][0], found[1][0]) and np.array_equal(found[0][1], found[1][1])


COUNTED = """
type P = 1..5
random f(P)
random g: {{1, 2, 3}}
learn a
learn b
factor a * count(f(x) for x in P) * g
weight b + 2 * a: count(f(x) for x in P) >= 2 & f(x) for x in P
weight b: g = 2
"""


def test_lanes_draw_from_the_model_at_its_present_numbers() -> None:
    model = plx.compile(COUNTED.replace("{{", "{").replace("}}", "}")).origin.unfitted(())
    lanes, exact = Lanes(model, ("a", "b"), seed=4), LogZ(model, ("a", "b"))
    for weights in (np.array([0.2, -0.5]), np.array([-0.4, 1.0])):
        lanes.set(weights)
        lanes.burn(50)
        drawn = lanes.draw(100)
        error = drawn.lane_means.std(axis=0, ddof=1) / 8
        assert (np.abs(drawn.mean - exact(weights)[1]) < 4.5 * error).all()
        step = 1e-4
        slopes = [
            (exact(weights + step * e)[1] - exact(weights - step * e)[1]) / (2 * step) for e in np.eye(2)
        ]
        assert drawn.covariance == pytest.approx(np.array(slopes), rel=0.15, abs=0.05)


def test_lanes_that_do_not_mix_are_named() -> None:
    text = "type P = 1..60 random f(P) learn pull ~ flat learn field ~ flat "
    text += "weight pull: f(x) <=> f(y) for x, y in P if x < y weight field: f(x) for x in P"
    random = np.random.default_rng(0)
    worlds = []
    for k in range(10):
        ones = random.random(60) < (0.985 if k % 2 else 0.015)
        worlds.append({"f": plx.Else((np.flatnonzero(ones) + 1).tolist(), False)})
    found = plx.compile(text).learn(worlds, objective="stochastic")
    assert not found.converged and "do not mix" in found.reason
    assert math.isnan(found.log_likelihood) and '"log_likelihood": null' in found.to_json()
    assert "stochastic likelihood, not summed" in repr(found)


def test_what_is_not_known_before_the_first_draw_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    model, worlds = fields(count=1)
    monkeypatch.setattr(Lanes, "burn", interrupted)
    found = model.learn(worlds, objective="stochastic")
    assert found.reason == "interrupted" and not found.converged and "no draw was made" in str(found.notes)
    assert not any(word in repr(found) + found.to_csv() + found.to_json() for word in ("nan", "NaN", "∞"))


@pytest.mark.parametrize("objective", ["likelihood", "stochastic"])
def test_the_best_so_far_comes_back_at_the_end_of_the_time(objective: str) -> None:
    model, worlds = fields(count=1)
    found = model.learn(worlds, objective=objective, seconds=0)
    assert found.reason == "out of time" and not found.converged
    ended = model.learn(worlds, objective=objective, seconds=1e6)
    assert ended.reason != "out of time" and len(ended.path) > len(found.path)


def test_auto_draws_where_nothing_is_summed() -> None:
    model = plx.compile(
        "type N = 1..30 param h(N, N) random f(N) learn a "
        "weight a * h(x, y): f(x) <=> f(y) for x, y in N if x < y",
        h={(x, y): (x * y % 7) / 50 + x / 900 for x in range(1, 31) for y in range(1, 31)},
        f=plx.Else([1, 4, 5, 6, 9, 11, 15, 22, 23], False),
    )
    found = model.learn()
    assert found.objective == "stochastic likelihood" and found.converged
    with pytest.raises(PlxError, match="objective stochastic"):
        model.learn(objective="likelihood")


def test_searches_from_several_starts_are_compared() -> None:
    """Complete data have one maximum; where values are hidden it is said how many searches agree."""
    text = "type T = 1..8 random f(T) random g(T) learn a ~ normal(0, 2) learn b ~ normal(0, 2) "
    text += "weight a: f(x) <=> g(x) for x in T weight b: f(x) for x in T weight 1: g(x) for x in T"
    one = plx.compile(text, f=plx.Else([1, 2, 3, 4, 5], False), g=plx.Else([1, 2, 3, 4, 6], False))
    same = one.learn(objective="stochastic", starts=2, seed=1)
    assert same.converged and "1 of 1 searches from other starts ended within" in same.notes[-1]
    text = "type T = 1..60 random f(T) random g(T) learn a ~ normal(0, 3) learn b ~ normal(0, 3) "
    text += "weight a: f(x) <=> g(x) for x in T weight b: f(x) for x in T weight 0.3: g(x) for x in T"
    two = plx.compile(text, g=plx.Else(range(1, 46), False)).learn(objective="stochastic", starts=3, seed=1)
    assert "of 2 searches from other starts" in two.notes[-1]
