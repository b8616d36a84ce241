"""The public folds in ../shared/learning: the maximum that closed-form sums over persons give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plx
from plx.learn import result
from plx.learn import score as scores
from plx.learn.worlds import log_likelihood
from plx.learning import valued, world_of

DATA = Path(__file__).parents[3] / "shared" / "learning"
PAGE = Path(__file__).parents[2] / "docs" / "learning-relations.md"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the public data in ../shared/learning are absent")


@needs_data
def test_imdb() -> None:
    truth = json.loads((DATA / "expected_mle.json").read_text())["imdb folds 1,2,4,5 -> 3"]
    first, *_, test = folds = [DATA / f"imdb_fold{k}.db" for k in (1, 2, 4, 5, 3)]
    model = plx.load(DATA / "imdb.mln", first, world="closed", trained="all")
    fit = model.learn(folds[:-1], objective="likelihood")
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(truth["train_ll"], abs=1e-4)
    assert list(fit.weights.values()) == pytest.approx(list(truth["weights"].values()), abs=1e-4)
    assert fit.model.score([test]).log_likelihood == pytest.approx(truth["test_ll"], abs=1e-3)
    shown = [line.split() for line in PAGE.read_text(encoding="utf-8").splitlines()]
    score = fit.model.score([test], others=True)
    for row in [*map(result._row, fit.numbers), *map(scores._row, score.functions)]:
        assert " ".join(row).split() in shown, row


SMOKING = DATA.parent / "cases" / "mln" / "pracmln" / "smokers"


@pytest.mark.skipif(not SMOKING.is_dir(), reason="the public networks in ../shared/cases are absent")
def test_smoking_of_pracmln() -> None:
    """The optimum of the pseudo-likelihood that pracmln's example ships: 0.646696 and 1.519900."""
    model = plx.load(
        SMOKING / "smoking.mln", SMOKING / "smoking-train.db", world="closed", trained="all", prior="flat"
    )
    found = model.learn(objective="pseudo").weights
    assert list(found.values()) == pytest.approx([0.646696, 1.5199], abs=1e-4)


IMDB = DATA.parent / "cases" / "mln" / "forclift_imdb"


@pytest.mark.skipif(not IMDB.is_dir(), reason="the public networks in ../shared/cases are absent")
def test_constants_of_forclift_on_imdb() -> None:
    """At a weight of 0: ln L of 8,076 atoms, and the sum over 10 predicates of mean log conditionals."""
    model = plx.load(IMDB / "imdb.janvh1.mln", IMDB / "imdb.db", world="closed").with_weights({"w1": 0.0})
    found = model.score(others=True)
    assert found.log_likelihood == pytest.approx(-5597.8566302)
    assert sum(one.log_score for one in found.functions) == pytest.approx(-6.93147, abs=1e-5)
    assert log_likelihood([valued(world_of(model.origin, ()), {"w1": 0})]) == pytest.approx(
        -5597.856630202117
    )


RECORDED = {
    "imdb": """-0.9537143249657458 0.4290971316588201 -0.9905030614641142 0.41378247401164747
        2.628029806773831 -16.5005204380062 -0.08581939285300337 -0.15340724525668825 8.709712379643232""",
    "webkb2": """-6.422947152786691 -5.695767167916951 1.4831259809182646 -11.139728791062351
        3.7367248437726714 1.838195270720632 -0.054950476803692076 0.5008872927556092 -0.041883127014925955
        -3.1872644041834737 -7.395636151029688 1.597474249223895""",
}


@needs_data
@pytest.mark.parametrize(
    ("rules", "folds", "expected"), [("imdb", (1, 2, 4, 5), -1211.727), ("webkb2", (1, 3, 4), -2407.243)]
)
def test_weights_that_forclift_recorded(rules: str, folds: tuple[int, ...], expected: float) -> None:
    weights = {f"w{i}": float(value) for i, value in enumerate(RECORDED[rules].split(), start=1)}
    models = [
        plx.load(DATA / f"{rules}.mln", DATA / f"{rules}_fold{k}.db", world="closed", trained="all")
        for k in folds
    ]
    found = log_likelihood([valued(world_of(model.origin, ()), weights) for model in models])
    assert found == pytest.approx(expected, abs=1e-3)
