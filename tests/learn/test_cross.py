"""Cross-validation against fits and scores by hand, and unknowns that are predicted from all others."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import plx
from plx.errors import CallError, PlxError
from plx.learn.cross import parts
from tests.formats.reading import save
from tests.use.test_convert import call

TEXT = "type T = 1..4 random f(T) random g(T) learn w weight w: f(x) <=> g(x) for x in T "
TEXT += "learn b weight b: f(x) for x in T"
WORLDS = [
    {"f": plx.Else([1, 2], False), "g": plx.Else([1], False)},
    {"f": plx.Else([1, 2, 4], False), "g": plx.Else([1, 2, 3], False)},
    {"f": plx.Else([3], False), "g": plx.Else([3, 4], False)},
]


@pytest.mark.parametrize("others", [False, True])
def test_each_world_is_scored_by_what_the_others_teach(others: bool) -> None:
    model = plx.compile(TEXT)
    found = model.cross_validate(WORLDS, given=["g"], others=others)
    by_hand = [
        model.learn([w for w in WORLDS if w is not world], given=["g"]).model.score(
            [world], given=["g"], others=others
        )
        for world in WORLDS
    ]
    scores = [one["f"].log_score for one in by_hand]
    mean = found.mean("f", "log_score")
    assert mean is not None and mean.value == pytest.approx(np.mean(scores))
    assert mean.error == pytest.approx(np.std(scores, ddof=1) / math.sqrt(3))
    assert found.log_likelihood is not None
    assert found.log_likelihood.value == pytest.approx(np.mean([one.log_likelihood for one in by_hand]))
    assert [fold.worlds for fold in found.folds] == [(0,), (1,), (2,)]
    assert sum(n for _, _, n in found.bins("f")) == 12 and found.functions == ("f",)
    assert json.loads(found.to_json())["functions"]["f"]["log_score"]["value"] == pytest.approx(mean.value)
    assert (
        found.to_csv().count("\n") == 4 and "3 folds" in repr(found) and "<td>f</td>" in found._repr_html_()
    )


def test_worlds_are_dealt_out() -> None:
    split = parts(7, 3, seed=1)
    assert sorted(i for part in split for i in part) == list(range(7))
    assert sorted(map(len, split)) == [2, 2, 3] and split == parts(7, 3, seed=1)
    for count, folds in ((3, 4), (3, 1), (1, None)):
        with pytest.raises(CallError, match="cannot be put into"):
            parts(count, folds, 0)


def test_a_number_that_training_lacks_is_at_the_mean_of_its_prior() -> None:
    text = "type P random f(P) learn w(P) ~ normal(1/2, 1) weight w(x): f(x) for x in P"
    worlds = [{"P": ["anna"], "f": ["anna"]}, {"P": ["bob"], "f": ["bob"]}]
    found = plx.compile(text, P=["anna"]).cross_validate(worlds)
    assert found.folds[0].score["f"].log_score == pytest.approx(-math.log1p(math.exp(-0.5)))


# ----------------------------------------------------------------- from all others


def test_unknowns_are_predicted_from_all_others() -> None:
    text = "random a random b random c weight 2: a <=> b weight 1: b & c observe a observe b observe !c"
    found = plx.compile(text).score(others=True)
    p = {"a": 1 / (1 + math.exp(-2)), "b": 1 / (1 + math.exp(-2)), "c": 1 - 1 / (1 + math.exp(-1))}
    assert {one.name: one.log_score for one in found.functions} == pytest.approx(
        {name: math.log(value) for name, value in p.items()}
    )
    assert found.log_likelihood == pytest.approx(sum(map(math.log, p.values())))
    assert "log pseudo-likelihood of the worlds" in repr(found)


def test_what_hard_rules_tie_is_predicted_together() -> None:
    text = "type V = 1..5 random at(V) require count(at(v) for v in V) = 1 weight 0.3 * v: at(v) for v in V "
    found = plx.compile(text + "observe at = {4, else: false}").score(others=True)
    p = np.exp(0.3 * np.arange(1, 6)) / np.exp(0.3 * np.arange(1, 6)).sum()
    truth = [1 - p[0], 1 - p[1], 1 - p[2], p[3], 1 - p[4]]
    assert found["at"].log_score == pytest.approx(np.log(truth).mean())
    assert found.log_likelihood == pytest.approx(math.log(p[3]))


def test_all_of_a_world_must_be_observed_for_that() -> None:
    with pytest.raises(PlxError, match="1 unknown is not observed: `g`"):
        plx.compile("random f random g weight 1: f & g observe f").score(others=True)


DECLARED = "a(dom)\nb(dom)\nc(dom)\n"


@pytest.mark.parametrize(
    ("mln", "db", "log_likelihood", "pseudo", "normalised"),
    [
        ("a(dom)\nb(dom)\n1 a(x)\n1 b(x)\n", "a(X1)\nb(X2)\n", math.log(0.0386), -3.252, None),
        ("a(dom)\nb(dom)\n1 a(x) ^ b(x)\n1 b(x)\n", "a(X1)\nb(X2)\n", None, -4.445, None),
        (DECLARED + "1 a(x) ^ b(x)\n1 b(x)\n", "a(X1)\nb(X2)\n", None, -5.831, -2.9155),
        (DECLARED + "1 !a(x) v !b(x)\n1 b(x)\n", "a(X1)\nb(X2)\n", None, -3.398, -1.69956),
        ("a(dom, dom)\n1 a(x, y)\n", "a(X1, X2)\na(X1, X3)\n", math.log(5.45e-5), -9.817, None),
        ("a(dom, dom)\n1 a(x, x)\n", "a(X1, X1)\na(X1, X2)\na(X3, X3)\n", None, -6.097, -0.67763),
        ("a(dom)\nb(dom)\n1 !a(x) v b(y)\n", "b(X1)\nb(X2)\n", math.log(0.110), None, None),
        ("a(dom)\nb(dom)\n0 a(x) ^ b(x)\n0 b(x)\n", "a(X1)\nb(X2)\n", math.log(0.0625), -2.7726, None),
        ("a(dom, dom)\n0 a(x, x)\n", "a(X1, X1)\na(X1, X2)\na(X3, X3)\n", math.log(0.00195), -6.238, None),
    ],
)
def test_constants_of_forclift(
    tmp_path: Path,
    mln: str,
    db: str,
    log_likelihood: float | None,
    pseudo: float | None,
    normalised: float | None,
) -> None:
    """Those of the tests in https://github.com/UCLA-StarAI/Forclift, rounded there; the normalised
    log-pseudo-likelihood is the sum over predicates of the mean over their atoms."""
    model = plx.load(
        save(tmp_path, "a.mln", mln), save(tmp_path, "a.db", db), world="closed", weights="whole"
    )
    found = model.score(others=True)
    if log_likelihood is not None:
        assert model.score().log_likelihood == pytest.approx(log_likelihood, abs=0.01)
    if pseudo is not None:
        assert found.log_likelihood == pytest.approx(pseudo, abs=0.003)
    if normalised is not None:
        assert sum(one.log_score for one in found.functions) == pytest.approx(normalised, abs=0.001)


# ------------------------------------------------------------------- command line


def test_folds_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path, "a.mln", "P(t)\nP(x)\n")
    for name in ("1.db", "2.db", "3.db"):
        save(tmp_path, name, "t = {A, B, C}\nP(A)\n")
    names = ("learn", "a.mln", "1.db", "2.db", "3.db")
    code, out, _ = call(capsys, *names, "--folds", "3", "--others")
    assert code == 0 and "3 folds, means" in out and "log pseudo-likelihood of a fold" in out
    code, out, _ = call(capsys, *names, "--folds", "2", "--format", "csv")
    assert code == 0 and out.startswith("fold,random,unknowns,log_score")
    for wrong, message in (
        (["--folds", "4"], "cannot be put into 4 folds"),
        (["--folds", "2", "--write", "b.plx"], "--folds make several"),
        (["--others"], "say how --folds are scored"),
    ):
        code, _, err = call(capsys, *names, *wrong)
        assert code != 0 and message in " ".join(err.replace("│", " ").split())
