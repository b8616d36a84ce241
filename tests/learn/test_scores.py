"""Scores against sums by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import plx
from plx.errors import PlxError
from plx.learn import score
from plx.learn.log_z import TooWideError
from plx.learn.score import auc_pr, auc_roc, function_score


def test_areas_under_curves() -> None:
    p, true = np.array([0.9, 0.8, 0.7, 0.6, 0.5]), np.array([True, False, True, False, False])
    assert auc_roc(p, true) == pytest.approx(5 / 6)
    assert auc_pr(p, true) == pytest.approx((1 + 2 / 3) / 2)
    assert auc_roc(np.full(5, 0.3), true) == 0.5
    rounded = 0.3 + 1e-16 * true
    assert auc_roc(rounded, true) == 0.5 and auc_pr(rounded, true) == pytest.approx(2 / 5)
    assert auc_pr(np.full(5, 0.3), true) == pytest.approx(2 / 5)
    assert auc_roc(p, np.ones(5, dtype=bool)) is None
    assert auc_pr(p, np.zeros(5, dtype=bool)) is None


def test_a_function_is_scored_unknown_by_unknown() -> None:
    chances = [np.array([0.75, 0.25]), np.array([0.2, 0.8]), np.array([0.75, 0.25])]
    found = function_score("f", chances, np.array([0, 1, 1]), True)
    assert found.log_score == pytest.approx((math.log(0.75) + math.log(0.8) + math.log(0.25)) / 3)
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.brier == pytest.approx((0.25**2 + 0.2**2 + 0.75**2) / 3)
    assert found.bins == ((0.25, 0.5, 2), (0.8, 1.0, 1))
    assert found.calibration == pytest.approx((2 * 0.25 + 0.2) / 3)


def test_unknowns_of_several_values_have_no_curves() -> None:
    found = function_score("f", [np.array([0.2, 0.5, 0.3])], np.array([1]), False)
    assert (found.auc_roc, found.auc_pr, found.accuracy) == (None, None, 1.0)


TEXT = "type T = 1..4 random f(T) random g(T) learn w = 1 weight w: f(x) <=> g(x) for x in T"


def test_a_program_is_scored_from_what_is_given() -> None:
    model = plx.compile(TEXT, f=plx.Else([1, 2], False), g=plx.Else([1], False))
    found = plx.score(model, given=["f"])
    p = math.e / (1 + math.e)
    assert found["g"].log_score == pytest.approx((3 * math.log(p) + math.log(1 - p)) / 4)
    assert found.log_likelihood == pytest.approx(4 * found["g"].log_score)
    alone = model.score()
    assert alone["f"].log_score == pytest.approx(-math.log(2))
    assert alone.log_likelihood == pytest.approx(found.log_likelihood - 4 * math.log(2))
    assert json.loads(found.to_json())["functions"][0]["name"] == "g"
    assert "log score" in repr(found) and "<td>g</td>" in found._repr_html_()
    with pytest.raises(KeyError):
        found["f"]


def test_worlds_are_folders(tmp_path: Path) -> None:
    text = "type T = 1..4 random f(x: T) learn w ~ flat weight w: f(x) for x in T "
    text += 'observe f from "f.csv" else false'
    (tmp_path / "p.plx").write_text(text)
    (tmp_path / "f.csv").write_text("x\n")
    for name, rows in (("a", "x\n1\n2\n3\n"), ("b", "x\n1\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.csv").write_text(rows)
    model = plx.load(tmp_path / "p.plx")
    fit = model.learn([tmp_path / "a", str(tmp_path / "b")])
    assert fit["w"].value == pytest.approx(0, abs=1e-7)
    assert fit.model.score([tmp_path / "a"]).log_likelihood == pytest.approx(-4 * math.log(2))
    (tmp_path / "empty").mkdir()
    with pytest.raises(PlxError, match="none of the program's files"):
        model.learn([tmp_path / "empty"])
    with pytest.raises(PlxError, match="there is no folder"):
        model.learn([tmp_path / "absent"])


@pytest.mark.parametrize("hidden", [False, True])
def test_a_likelihood_out_of_reach_is_estimated_by_tempering(
    hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "type R = 1..3 random up(R, R) weight 0.6: up(x, y) <=> up(x + 1, y) for x, y in R if x < 3 "
    text += "weight 0.4: up(x, y) <=> up(x, y + 1) for x, y in R if y < 3 weight 0.2: up(x, y) for x, y in R"
    seen = {(x, y): x * y % 2 == 0 for x in (1, 2, 3) for y in (1, 2, 3) if not hidden or x < 3}
    model = plx.compile(text, up=seen)
    exact = model.score()
    assert exact.log_likelihood_error == 0 and "estimate" not in exact.summary

    def refuse(*_: object) -> None:
        raise TooWideError

    monkeypatch.setattr(score, "log_likelihood", lambda worlds: None)
    if hidden:
        monkeypatch.setattr(score, "LogZ", refuse)
    found = model.score(method="tempered", seed=1)
    assert 0 < found.log_likelihood_error < 0.1
    assert abs(found.log_likelihood - exact.log_likelihood) < 5 * found.log_likelihood_error
    assert "an estimate" in found.summary and found.to_dict()["log_likelihood_error"] > 0
    said = model.score(method="gibbs", seed=1).summary
    assert "out of reach (" in said and "from all others" in said and "method tempered estimates it)" in said
