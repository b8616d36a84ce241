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
