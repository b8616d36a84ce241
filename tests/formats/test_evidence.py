"""Evidence in all its dialects, and evidence that cannot be."""

from __future__ import annotations

import pytest

import plx
from plx.errors import PlxError
from plx.formats import read_model
from tests.formats.reading import answers, mistake, save, total

GRID = "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n4\n1 2 0 4\n6\n1 2 3 4 5 6\n"


@pytest.fixture
def grid(tmp_path):
    return save(tmp_path, "grid.uai", GRID)


@pytest.mark.parametrize("text", ["", "0", "0\n", "0\n0", "0\n0\n", "1\n0\n", "c nothing\n0"])
def test_no_evidence(tmp_path, grid, text):
    model = read_model(grid, [save(tmp_path, "a.evid", text)])
    assert list(answers(model)) == ["x(0)", "x(1)", "x(2)"]
    assert model.warnings == ()


@pytest.mark.parametrize("text", ["2 0 1 2 0", "2\n0 1\n2 0\n", "1\n2 0 1 2 0\n", "c x\n2 0 1 2 0\r\n"])
def test_evidence(tmp_path, grid, text):
    model = read_model(grid, [save(tmp_path, "a.evid", text)])
    assert answers(model) == {"x(1)": pytest.approx({"0": 0.0, "1": 1.0})}
    assert total(model) == pytest.approx(2.772588722239781)


def test_what_follows_a_zero_is_ignored_and_said(tmp_path, grid):
    model = read_model(grid, [save(tmp_path, "a.evid", "0\n2 0\n")])
    assert len(model.queries) == 3
    assert "announces no evidence; what follows is ignored" in model.warnings[0].message


def test_names_and_bare_numbers(grid):
    for given in (["x(0)=1", "2=0"], {"x(0)": 1, "2": "0"}):
        assert answers(read_model(grid, given)) == {"x(1)": pytest.approx({"0": 0.0, "1": 1.0})}


def test_lines_of_names(tmp_path, grid):
    evidence = save(tmp_path, "a.txt", "# seen\n\n x(0) = 1\n2=0\n")
    assert list(answers(read_model(grid, [evidence]))) == ["x(1)"]
    evidence = save(tmp_path, "b.txt", "x(0)=1\nx(1)=2\n")
    message = mistake(grid, [evidence])
    assert "b.txt:2:1: error: the evidence puts `x(1)` in the state `2`, which it does not have" in message


def test_virtual_evidence(tmp_path, grid):
    model = read_model(grid, [save(tmp_path, "a.virt", "1\n1 2 0.5 0.25\n")])
    # by x(1): (1 + 0) · 6 and (2 + 4) · 15, times the likelihoods
    assert answers(model)["x(1)"] == pytest.approx({"0": 3 / 25.5, "1": 22.5 / 25.5})


def test_split_at_the_equals_sign_that_leaves_a_name(tmp_path):
    text = """variable a=b { type discrete [ 2 ] { =, >=7 }; }
    variable a { type discrete [ 2 ] { yes, no }; }
    probability ( a=b ) { table 0.5, 0.5; }
    probability ( a ) { table 0.5, 0.5; }"""
    path = save(tmp_path, "a.bif", text)
    for given in ("a=b=>=7", "a=b=="):
        assert list(answers(read_model(path, [given]))) == ["a"]
    assert list(answers(read_model(path, ["a=no"]))) == ["a=b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 0 1 2 3", "a.evid:1:9: error: variable 2 has no state 3: its states are numbered 0 to 2"),
        ("1 3 0", "a.evid:1:3: error: there is no variable 3: the model has 3, numbered from 0"),
        ("1 x 0", "an observed variable must be a whole number from 0 up, and this is `x`"),
        ("3 0 1 2 0", "3 observed variables are announced, and 4 numbers follow, not 6"),
        ("2 0 1 2", "2 observed variables are announced, and 3 numbers follow, not 4"),
        ("3\n1 0 1\n1 1 1\n1 2 1", "a.evid:1:1: error: 3 evidence samples in one file"),
        ("2 0 0 0 1", "the evidence puts `x(0)` in two states, so it has probability 0"),
        ("2 0 0 0 2", "variable 0 has no state 2"),
    ],
)
def test_mistakes_have_a_place(tmp_path, grid, text, expected):
    assert expected in mistake(grid, [save(tmp_path, "a.evid", text)])


def test_unknown_names_are_answered_with_the_known_ones(tmp_path, grid):
    assert "`x(7)`, and the model has no such variable" in mistake(grid, ["x(7)=1"])
    rain = "variable rain { type discrete [ 2 ] { yes, no }; } probability ( rain ) { table .5 .5; }"
    message = mistake(save(tmp_path, "a.bif", rain), ["rain=maybe"])
    assert "the states of `rain` are `yes`, `no`" in message
    assert "the variables are `rain`" in mistake(save(tmp_path, "a.bif", rain), {"Rain": "yes"})


def test_a_file_of_evidence_that_is_not_there(grid):
    assert "cannot read nowhere.evid" in mistake(grid, ["nowhere.evid"])


def test_evidence_of_probability_zero_names_what_clashes(grid):
    message = mistake(grid, ["x(0)=1", "x(1)=0"])
    assert "the evidence has probability 0: table 0 is 0 wherever x(0) = 1 and x(1) = 0" in message
    assert "grid.uai:8:1" in message


def test_likelihoods_of_zero(tmp_path, grid):
    virtual = save(tmp_path, "a.virt", "1 1 2 1 0")
    message = mistake(grid, ["x(1)=1", virtual])
    assert "virtual evidence on variable 1 is 0 wherever x(1) = 1" in message
    assert "all entries are 0" in mistake(grid, [save(tmp_path, "b.virt", "1 1 2 0 0")])


CHAIN = "MARKOV\n4\n2 2 2 2\n4\n2 0 1\n2 1 2\n2 2 3\n1 3\n" + "4\n1 0 0 1\n" * 3 + "2\n1 2\n"


@pytest.mark.parametrize("last", [2, 3])
def test_evidence_that_several_tables_forbid_names_them(tmp_path, last):
    """Where it shows on reading (two tables meet) and where only inference finds it."""
    path = save(tmp_path, "chain.uai", CHAIN)
    evidence = save(tmp_path, "a.evid", f"2\n0 1\n{last} 0\n")
    with pytest.raises(PlxError) as caught:
        plx.load(path, evidence).run()
    message = str(caught.value)
    assert message.startswith("error: the evidence has probability 0")
    assert "`evidence x(0) = 1` (on x(0))" in message
    assert f"`evidence x({last}) = 0`" in message
    assert f"`table {last - 1}` (on x({last - 1}), x({last}))" in message
    assert f"`table {last}`" not in message
    assert "a.evid:2:1" in message


def test_a_model_without_any_world(tmp_path):
    path = save(tmp_path, "a.uai", "MARKOV 1 2 2 1 0 1 0 2 1 0 2 0 1")
    with pytest.raises(PlxError, match="no world satisfies all of these together: `table 0`"):
        plx.load(path).run()
