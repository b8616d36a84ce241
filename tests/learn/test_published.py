"""The public folds in ../shared/learning: the maximum that closed-form sums over persons give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import plx

DATA = Path(__file__).parents[3] / "shared" / "learning"
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


SMOKING = DATA.parent / "cases" / "mln" / "pracmln" / "smokers"


@pytest.mark.skipif(not SMOKING.is_dir(), reason="the public networks in ../shared/cases are absent")
def test_smoking_of_pracmln() -> None:
    """The optimum of the pseudo-likelihood that pracmln's example ships: 0.646696 and 1.519900."""
    model = plx.load(
        SMOKING / "smoking.mln", SMOKING / "smoking-train.db", world="closed", trained="all", prior="flat"
    )
    found = model.learn(objective="pseudo").weights
    assert list(found.values()) == pytest.approx([0.646696, 1.5199], abs=1e-4)
