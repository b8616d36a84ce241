"""Formulas of a .mln whose weights are absent or trained → `learn`, with databases as worlds."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import plx
from plx.errors import CallError, PlxError
from tests.formats.reading import save
from tests.use.test_convert import call

SMOKING = """
Friends(person, person)
Smokes(person)
Smokes(x)
1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))
Smokes(x) v !Smokes(x).
"""
ONE = "Friends(Anna, Bob)\nFriends(Cleo, Bob)\nSmokes(Anna)\nSmokes(Bob)\n"
TWO = "Friends(Dora, Emil)\nSmokes(Dora)\nSmokes(Fay)\n"


@pytest.fixture
def smoking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(tmp_path, "two.db", TWO)
    save(tmp_path, "one.db", ONE)
    return save(tmp_path, "smoking.mln", SMOKING)


def converted(path: Path, db: str, **options: object) -> str:
    return plx.load(path, db, **options).origin.program_text()


def test_what_is_not_listed_is_observed_to_be_false(smoking: Path) -> None:
    text = converted(smoking, "one.db", world="closed", trained="all", closed=["Friends"])
    assert "relation Friends(person, person) = {(Anna, Bob), (Cleo, Bob)}" in text
    assert "observe Smokes = {Anna, Bob, else: false}" in text
    assert "learn w1\nweight w1: Smokes(x) for x in person" in text
    assert "learn w2 = 1.1\nweight w2: Friends(x, y) => (Smokes(x) <=> Smokes(y)) for x, y in person" in text
    assert "require Smokes(x)" in text and "query" not in text


def test_databases_are_worlds_of_their_own_constants(smoking: Path) -> None:
    """The same maximum as that of a program with its worlds as dicts."""
    model = plx.load(smoking, "one.db", world="closed", trained="all", closed=["Friends"])
    program = """
    type P relation friends(P, P) random smokes(P) learn a learn b
    weight a: smokes(x) for x in P
    weight b: friends(x, y) => (smokes(x) <=> smokes(y)) for x, y in P
    """
    one = {"P": ["a", "b", "c"], "friends": [("a", "b"), ("c", "b")], "smokes": plx.Else(["a", "b"], False)}
    two = {"P": ["d", "e", "f"], "friends": [("d", "e")], "smokes": plx.Else(["d", "f"], False)}
    truth = plx.compile(program, **one).learn([one, two])
    fit = model.learn(["one.db", "two.db"])
    assert list(fit.weights.values()) == pytest.approx(list(truth.weights.values()), abs=1e-5)
    assert fit.log_likelihood == pytest.approx(truth.log_likelihood)
    assert fit["w2"].formula == "1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))"
    assert fit.model.score(["two.db"]).log_likelihood < 0
    again = plx.compile(fit.source())
    assert again.score().log_likelihood == pytest.approx(fit.model.score(["one.db"]).log_likelihood)


def test_plus_gives_a_number_for_each_constant_of_all_databases(tmp_path: Path) -> None:
    mln = save(tmp_path, "a.mln", "Likes(person, fruit)\nLikes(x, +f)\n")
    dbs = [save(tmp_path, f"{i}.db", text) for i, text in enumerate(("Likes(A, Fig)\n", "Likes(B, Lime)\n"))]
    model = plx.load(mln, dbs[0], world="closed")
    assert "learn w1(f: fruit)\nweight w1(f): Likes(x, f) for x in person, f in fruit" in model.origin.text
    assert list(model.learn(dbs).weights) == ["w1(Fig)", "w1(Lime)"]


def test_hidden_predicates_are_summed_out(smoking: Path) -> None:
    text = converted(smoking, "one.db", world="closed", hidden=["Smokes"], closed=["Friends"])
    assert "observe Smokes(Anna)\nobserve Smokes(Bob)\n" in text and "else" not in text
    model = plx.load(smoking, "one.db", world="closed", hidden=["Smokes"], closed=["Friends"])
    assert model.learn(["one.db", "two.db"]).found.n_hidden == 2


def test_a_prior_for_all(smoking: Path) -> None:
    text = converted(smoking, "one.db", prior="normal(-1, 2.5)")
    assert "learn w1 ~ normal(-1, 2.5)" in text
    with pytest.raises(PlxError, match="the scale of a prior is positive"):
        plx.load(smoking, "one.db", prior="laplace(0, -1)")


def test_clauses_have_numbers_of_their_own_where_formulas_are_split(smoking: Path) -> None:
    text = converted(smoking, "one.db", world="closed", trained="all", weights="cnf")
    assert "learn w2_1 = 1.1 / 2" in text and "learn w2_2 = 1.1 / 2" in text


def test_one_value_arguments_and_zero_places(tmp_path: Path) -> None:
    mln = save(tmp_path, "a.mln", "R(t, u!)\nP\nQ\nS(t)\nw1(t)\nR(x, A)\n")
    model = plx.load(mln, save(tmp_path, "a.db", "R(X, A)\nt = {Y}\nu = {B}\nP\n"), world="closed")
    text = model.origin.program_text()
    assert "observe R(X) = A\nobserve P\nobserve not Q\nobserve S = {else: false}" in text.replace(
        "!Q", "not Q"
    )
    assert "learn w1_\nweight w1_: R(x) = A for x in t" in text  # `w1` is a predicate
    assert model.learn().found.n_hidden == 1


def test_a_world_that_lacks_a_type_is_refused(tmp_path: Path) -> None:
    mln = save(tmp_path, "a.mln", "P(t)\nQ(u)\nP(x)\nQ(y)\n")
    dbs = [save(tmp_path, "1.db", "P(A)\nu = {A, B}\n"), save(tmp_path, "2.db", "Q(A)\n")]
    with pytest.raises(PlxError, match="the type `t` has no constants"):
        plx.load(mln, dbs[0], world="closed").learn(dbs)


@pytest.mark.parametrize("objective", ["likelihood", "pseudo"])
def test_a_frequency_becomes_its_log_odds(tmp_path: Path, objective: str) -> None:
    names = ", ".join(f"C{i}" for i in range(10))
    db = save(tmp_path, "a.db", f"t = {{{names}}}\nP(C1)\nP(C2)\nP(C3)\n")
    fit = plx.load(save(tmp_path, "a.mln", "P(t)\nP(x)\n"), db, world="closed").learn(objective=objective)
    w = fit["w1"].value
    assert 3 - 10 / (1 + math.exp(-w)) == pytest.approx(w / 100, abs=1e-7)


# ----------------------------------------------------------------------- what is wrong


def test_a_formula_without_a_weight_does_not_run(smoking: Path) -> None:
    with pytest.raises(PlxError, match="this formula has no weight yet") as caught:
        plx.load(smoking, "one.db").run()
    assert "smoking.mln:4:1" in str(caught.value) and "`plx learn`" in str(caught.value)
    model = plx.load(smoking, "one.db").with_weights({"w1": 0.0})
    assert model.run()["Smokes(Bob)"].probability == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": ["Smokes"]}, "`closed` otherwise"),
        ({"hidden": ["Smoke"], "world": "closed"}, "no predicate `Smoke`"),
        ({"prior": "normal(0)"}, "no prior"),
        ({"trained": "some"}, "trained is `absent` or `all`"),
    ],
)
def test_choices_that_do_not_fit(smoking: Path, options: dict, message: str) -> None:
    with pytest.raises(CallError, match=message):
        plx.load(smoking, "one.db", **options)


# --------------------------------------------------------------------- the command line


def test_the_command_line(smoking: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["smoking.mln", "one.db", "two.db"]
    code, out, err = call(capsys, "learn", *names, "--write", "fitted.plx", "--format", "csv")
    assert code == 0 and "taken to be false, as Alchemy does" in err and out.startswith("number,value,se")
    Path("w.csv").write_text(out)
    assert "learn w2 = " in Path("fitted.plx").read_text()
    code, out, err = call(capsys, "score", *names, "--fit", "w.csv", "--hidden", "Friends")
    assert code == 0 and "log likelihood of the worlds" in out and "as Alchemy does" not in err
    code, out, _ = call(capsys, "run", *names[:1], "--evidence", "one.db", "--fit", "w.csv")
    assert code == 0 and "Smokes(Bob)" in out
    code, _, err = call(capsys, "convert", *names[:1], "a.plx", "--evidence", "one.db", "--world", "closed")
    assert (
        code == 0 and "observe Friends = {(Anna, Bob), (Cleo, Bob), else: false}" in Path("a.plx").read_text()
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["smoking.mln"], "name the databases to learn from"),
        (["smoking.mln", "absent.db"], "there is no such file"),
        (["smoking.mln", "one.db", "--hidden", "Smoke"], "no predicate `Smoke`"),
        (["a.plx", "one.db"], "there is no such folder"),
        (["a.plx", "--hidden", "f"], "--hidden is for Markov logic networks"),
    ],
)
def test_calls_that_do_not_fit(
    smoking: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    Path("a.plx").write_text("random f learn w weight w: f observe f")
    code, _, err = call(capsys, "learn", *arguments)
    assert code != 0 and message in " ".join(err.replace("│", " ").split())
