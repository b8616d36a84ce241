"""Fits: known answers, standard errors that hold, and what is said of data that leave numbers open."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import plx
from plx.errors import CallError, PlxError

COIN = "type T = 1..{n} random f(T) learn w {prior} weight w: f(x) for x in T "


def coin(n: int, k: int, prior: str = "~ flat", more: str = "") -> plx.Model:
    return plx.compile(COIN.format(n=n, prior=prior) + more, f=plx.Else(list(range(1, k + 1)), False))


@pytest.mark.parametrize("objective", ["likelihood", "pseudo"])
def test_a_coin_has_the_log_odds_of_its_frequency(objective: str) -> None:
    fit = coin(10, 3).learn(objective=objective)
    assert fit["w"].value == pytest.approx(math.log(3 / 7), abs=1e-7)
    assert fit["w"].error == pytest.approx(1 / math.sqrt(10 * 0.3 * 0.7), rel=1e-5)
    assert fit.log_likelihood == pytest.approx(3 * math.log(0.3) + 7 * math.log(0.7))
    assert fit.aic == pytest.approx(2 - 2 * fit.log_likelihood)
    assert fit.bic == pytest.approx(math.log(10) - 2 * fit.log_likelihood)
    assert (fit["w"].observed, fit["w"].expected) == (3, pytest.approx(3, abs=1e-6))
    assert fit.converged and fit.objective == objective.replace("pseudo", "pseudo-likelihood")


def test_a_normal_prior_is_a_ridge() -> None:
    w = coin(10, 3, "~ normal(1, 0.5)").learn()["w"].value
    assert 3 - 10 / (1 + math.exp(-w)) == pytest.approx((w - 1) / 0.25, abs=1e-7)


@pytest.mark.parametrize("objective", ["likelihood", "pseudo"])
def test_a_laplace_prior_leaves_at_its_mean_what_the_data_do_not_need(objective: str) -> None:
    fit = coin(10, 6, "~ laplace(0, 1/2)").learn(objective=objective)  # the slope is 1 at 0, and |6 - 5| < 2
    assert (fit["w"].value, fit["w"].error) == (0.0, 0.0)
    assert "held at their mean" in fit.notes[-1]
    far = coin(100, 90, "~ laplace(0, 1/2)").learn(objective=objective)["w"].value
    assert 90 - 100 / (1 + math.exp(-far)) == pytest.approx(2, abs=1e-6)


LOGISTIC = """
type T = 1..60
param age(T)
random ill(x: T)
learn base ~ normal(0, 2)
learn slope ~ normal(0, 2)
weight base + slope * age(x): ill(x) for x in T
"""


def logistic(seed: int) -> tuple[plx.Model, np.ndarray, np.ndarray]:
    """The program, and data of a logistic regression."""
    random = np.random.default_rng(seed)
    age = np.round(random.normal(size=60), 3)
    ill = random.random(60) < 1 / (1 + np.exp(0.5 - age))
    ages = {i + 1: float(a) for i, a in enumerate(age)}
    return plx.compile(LOGISTIC, age=ages, ill=plx.Else((np.flatnonzero(ill) + 1).tolist(), False)), age, ill


def test_logistic_regression_is_a_special_case() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    model, age, ill = logistic(1)
    columns = np.stack([np.ones(60), age], axis=1)
    truth = linear.LogisticRegression(C=4, fit_intercept=False, tol=1e-10, max_iter=1000).fit(columns, ill)
    found = model.learn().weights
    assert [found["base"], found["slope"]] == pytest.approx(truth.coef_[0].tolist(), abs=1e-5)


def test_newton_by_hand_finds_the_same_logistic_regression() -> None:
    model, age, ill = logistic(2)
    columns, w = np.stack([np.ones(60), age], axis=1), np.zeros(2)
    for _ in range(30):
        p = 1 / (1 + np.exp(-columns @ w))
        information = columns.T @ (columns * (p * (1 - p))[:, None]) + np.eye(2) / 4
        w = w + np.linalg.solve(information, columns.T @ (ill - p) - w / 4)
    error = np.sqrt(np.diag(np.linalg.inv(information)))
    for objective in ("likelihood", "pseudo"):
        fit = model.learn(objective=objective)
        assert [fit["base"].value, fit["slope"].value] == pytest.approx(w.tolist(), abs=1e-6)
        if objective == "likelihood":
            assert [fit["base"].error, fit["slope"].error] == pytest.approx(error.tolist(), rel=1e-4)


PAIR = """
random a
random b
learn one ~ flat
learn two ~ flat
weight one: a
weight one: b
weight two: a <=> b
"""


def test_z_scores_of_estimates_from_simulated_worlds_are_standard() -> None:
    one, two, n = -0.4, 0.7, 150
    logs = np.array([two, one, one, 2 * one + two])  # (a, b) = 00, 01, 10, 11
    p = np.exp(logs) / np.exp(logs).sum()
    model, random, scores = plx.compile(PAIR), np.random.default_rng(5), []
    worlds = [{"a": bool(i >> 1), "b": bool(i & 1)} for i in range(4)]
    for _ in range(12):
        counts = random.multinomial(n, p)
        fit = model.learn([world for world, k in zip(worlds, counts, strict=True) for _ in range(k)])
        scores += [(fit["one"].value - one) / fit["one"].error, (fit["two"].value - two) / fit["two"].error]
    assert max(map(abs, scores)) < 4
    assert 0.4 < float(np.mean(np.square(scores))) < 1.9


def test_hidden_values_are_summed_out() -> None:
    """A coin seen through another: what is seen has one maximum, where its chance is 7 in 10."""
    text = "type T = 1..10 random f(T) random g(T) learn w ~ flat weight w: f(x) for x in T "
    text += "weight 3: f(x) <=> g(x) for x in T"
    fit = plx.compile(text, g=plx.Else([1, 2, 3, 4, 5, 6, 7], False)).learn()
    flip = math.exp(3) / (1 + math.exp(3))
    seen = 1 / (1 + math.exp(-fit["w"].value))
    assert seen * flip + (1 - seen) * (1 - flip) == pytest.approx(0.7, abs=1e-6)
    assert "several maxima: 5 of 5" in fit.notes[0]


def test_numbers_that_the_data_do_not_tell_apart_are_named() -> None:
    text = "type V = {lo, mid, hi} type T = 1..9 random f(T): V learn a learn b learn c "
    text += "weight a: f(x) = lo for x in T weight b: f(x) = mid for x in T weight c: f(x) = hi for x in T"
    seen = {i: ("lo", "mid", "hi")[i % 3] for i in range(1, 10)}
    fit = plx.compile(text, f=seen).learn()
    (note,) = [note for note in fit.notes if "apart" in note]
    assert "`a`, `b` and `c` apart: moved together by one amount" in note and "the prior decides" in note
    assert fit["a"].error > 5
    loose = plx.compile(
        text.replace("learn a learn b learn c", "learn a ~ flat learn b ~ flat learn c ~ flat")
    )
    fit = loose.bind(f=seen).learn()
    assert "nothing decides" in fit.notes[-1] and all(math.isinf(one.error) for one in fit.numbers)


@pytest.mark.parametrize("prior", ["", "~ flat"])
@pytest.mark.parametrize("objective", ["likelihood", "pseudo"])
def test_a_rule_without_exception_runs_off_and_is_named(prior: str, objective: str) -> None:
    fit = coin(10, 10, prior).learn(objective=objective)
    assert "the data never contradict `w`: by itself it would go to ∞" in fit.notes[0]
    assert fit.converged is (prior == "")
    assert math.isinf(fit["w"].error) is (prior == "~ flat")
    assert math.isfinite(fit["w"].value)


def test_a_number_that_says_nothing_of_the_data_is_named() -> None:
    fit = coin(10, 3, "", "learn v weight v: f(1) for x in {}").learn()
    assert fit["v"].value == 0 and "the data say nothing of `v`: the prior decides" in fit.notes


def test_given_functions_are_not_predicted() -> None:
    text = "type T = 1..4 random f(T) random g(T) learn a ~ flat weight a: f(x) & g(x) for x in T"
    model = plx.compile(text, f=plx.Else([1], False), g=plx.Else([1, 2, 3], False))
    fit = model.learn(given=["g"])
    assert fit["a"].value == pytest.approx(math.log(1 / 2), abs=1e-6)
    assert fit.found.n_observed == 4


# ------------------------------------------------------------------ what comes back


def test_a_fit_runs_and_is_read_back(tmp_path: Path) -> None:
    model = coin(10, 3, "= 2 # the start\n ~ flat")
    fit = model.learn()
    (tmp_path / "weights.csv").write_text(fit.to_csv())
    fit.save(tmp_path / "weights.json")
    for weights in (fit, fit.weights, tmp_path / "weights.csv", str(tmp_path / "weights.json")):
        again = model.with_weights(weights).bind(f={})
        assert again.query("f(1)")["f(1)"].probability == pytest.approx(0.3, abs=1e-6)
    assert fit.model.bind(f={}).query("f(1)")["f(1)"].probability == pytest.approx(0.3, abs=1e-6)
    assert json.loads(fit.to_json())["numbers"][0]["name"] == "w"
    assert "w" in repr(fit) and "log likelihood" in repr(fit) and "<td>w</td>" in fit._repr_html_()


def test_the_program_is_written_with_its_numbers_and_its_comments() -> None:
    text = "type P = {anna, bob} # two\nrandom f(P)\nlearn w(P) ~ normal(0, 2) # by person\n"
    text += "weight w(x): f(x) for x in P\nobserve f = {anna, else: false}\n"
    fit = plx.compile(text).learn()
    source = fit.source()
    assert "# two" in source and "# by person" in source and "~ normal(0, 2)" in source
    again = plx.compile(source)
    assert again.learn().weights == pytest.approx(fit.weights, abs=1e-6)
    assert again.run().program  # its numbers have values


def test_to_pandas() -> None:
    pytest.importorskip("pandas")
    frame = coin(10, 3).learn().to_pandas()
    assert frame.loc[0, "name"] == "w" and frame.loc[0, "observed"] == 3


def test_indexes_of_several_worlds_are_learned_together() -> None:
    text = "type P random f(P) learn w(P) ~ normal(0, 1) weight w(x): f(x) for x in P"
    worlds = [
        {"P": ["anna", "bob"], "f": {"anna": True, "bob": False}},
        {"P": ["bob", "cleo"], "f": ["bob", "cleo"]},
    ]
    fit = plx.compile(text, P=["anna", "bob"]).learn(worlds)
    assert list(fit.weights) == ["w(anna)", "w(bob)", "w(cleo)"]
    assert fit["w(bob)"].value == pytest.approx(0, abs=1e-6)
    assert fit["w(anna)"].value == pytest.approx(fit["w(cleo)"].value, abs=1e-6)


# ----------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("random f weight 1: f observe f", {}, "nothing to learn"),
        ("random f learn w weight w: f", {}, "nothing is observed"),
        ("random f random g learn w weight w: f & g observe f", {"objective": "pseudo"}, "`g`"),
        (
            "type T = 1..5 random f(T) require f(x) | f(y) for x, y in T if x < y learn w "
            "weight w: f(x) for x in T random g(T, T) require g(x, y) | g(y, x) | f(x) for x, y in T "
            "observe f = {else: true} observe g = {else: true}",
            {"objective": "pseudo"},
            "hard rules tie 30 unknowns together, with more than 4,096 joint states",
        ),
        (
            "random f random g require f & g learn w weight w: f observe !f",
            {},
            "no world satisfies all of these together",
        ),
        ("random f learn w weight w: f observe f", {"objective": "best"}, "no objective `best`"),
        ("random f learn w weight w: f observe f", {"given": ["g"]}, "no random function"),
        ("random f learn w weight w: f observe f", {"worlds": []}, "no worlds"),
    ],
)
def test_what_cannot_be_learned_is_said(text: str, options: dict, message: str) -> None:
    with pytest.raises(PlxError, match=message):
        plx.compile(text).learn(**options)


def test_a_number_without_a_value_does_not_run() -> None:
    with pytest.raises(PlxError, match="no value yet") as caught:
        plx.run("random f learn w weight w: f query f")
    assert all(way in str(caught.value) for way in ("plx learn", "--fit", "--bind"))
    assert plx.compile("random f learn w weight w: f query f", w=0).run()["f"].probability == 0.5


def test_weights_of_other_programs_are_refused(tmp_path: Path) -> None:
    model = plx.compile("random f learn peer weight peer: f query f")
    with pytest.raises(PlxError, match="did you mean `peer`"):
        model.with_weights({"pear": 1.0})
    (tmp_path / "w.csv").write_text("a,b\n1,2\n")
    with pytest.raises(PlxError, match="no file of learned numbers"):
        model.with_weights(tmp_path / "w.csv")


def test_networks_learn_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.uai").write_text("MARKOV\n1\n2\n1\n1 0\n2\n1 2\n")
    with pytest.raises(CallError, match="no program of plx"):
        plx.load(tmp_path / "a.uai").learn()
