"""The Python interface: what a user of ``import plx`` meets."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import plx

FRIENDS = """
type Person
relation friends(Person, Person)
param w = 1.1
random smokes(Person)
weight 0.5: smokes(x) for x in Person
weight w: smokes(x) = smokes(y) for (x, y) in friends
query smokes(x) for x in Person
query smokes(anna) given smokes(bob)
query count(smokes(x) for x in Person) as smokers
"""
PEOPLE = ["anna", "bob", "cleo"]
PAIRS = [("anna", "bob"), ("bob", "cleo")]


def probability_of_anna(w: float = 1.1) -> float:
    """By the sum over eight worlds."""
    weights = np.zeros((2, 2, 2))
    for a, b, c in np.ndindex(2, 2, 2):
        weights[a, b, c] = np.exp(0.5 * (a + b + c) + w * (a == b) + w * (b == c))
    return float(weights[1].sum() / weights.sum())


@pytest.mark.parametrize(
    "pairs",
    [
        PAIRS,
        set(PAIRS),
        np.array(PAIRS),
        pd.DataFrame(PAIRS),
        pl.DataFrame(PAIRS, orient="row"),
        dict.fromkeys(PAIRS, True) | {("cleo", "anna"): False},
    ],
    ids=["list", "set", "numpy", "pandas", "polars", "dict"],
)
def test_a_world_comes_in_any_form(pairs: object) -> None:
    result = plx.run(FRIENDS, Person=PEOPLE, friends=pairs)
    assert result["smokes(anna)"].probability == pytest.approx(probability_of_anna())


def test_a_model_is_compiled_once_and_run_often() -> None:
    model = plx.compile(FRIENDS, Person=PEOPLE, friends=PAIRS)
    assert model.ground is model.ground
    first, again = model.run(), model.run()
    assert first.to_dict()["queries"] == again.to_dict()["queries"]


def test_bindings_override_params_and_observe_unknowns() -> None:
    result = plx.run(FRIENDS, Person=PEOPLE, friends=PAIRS, w=0.3)
    assert result["smokes(anna)"].probability == pytest.approx(probability_of_anna(0.3))
    seen = plx.run(FRIENDS, Person=PEOPLE, friends=PAIRS, smokes={"bob": True})
    given = plx.run(FRIENDS, Person=PEOPLE, friends=PAIRS)["smokes(anna) given smokes(bob)"]
    assert seen["smokes(anna)"].probability == pytest.approx(given.probability)
    assert seen["smokes(bob)"].probability == 1.0


def test_queries_of_one_given_keep_their_places() -> None:
    text = """
    random a
    random b
    weight 1: a = b
    weight 0.5: b
    query a given b
    query a
    query b given not a
    query b
    query not a given b
    """
    result = plx.run(text)
    lines = [(query.line, query.text) for query in result]
    assert [line for line, _ in lines] == sorted(line for line, _ in lines)
    e = np.exp
    z = e(1) + e(0.5) + 1 + e(1.5)
    assert result["a given b"].probability == pytest.approx(e(1) / (1 + e(1)))
    assert result["a"].probability == pytest.approx((1 + e(1.5)) / z)
    assert result["b given not a"].probability == pytest.approx(e(0.5) / (e(0.5) + e(1)))
    assert result["b"].probability == pytest.approx((e(0.5) + e(1.5)) / z)
    assert result["not a given b"].probability == pytest.approx(1 / (1 + e(1)))
    assert result.log_z == pytest.approx(np.log(z))


def test_an_impossible_given_names_its_line_and_the_rule() -> None:
    text = "random a\nrandom b\nrequire a => b\nquery a\nquery a given a, not b"
    with pytest.raises(plx.PlxError, match="the given of line 5 has probability 0") as error:
        plx.run(text)
    assert "require a => b" in str(error.value)


def test_an_impossible_program_says_so() -> None:
    with pytest.raises(plx.PlxError, match="no world"):
        plx.run("random a\nrequire a\nrequire not a\nquery a")


def test_map_in_python() -> None:
    result = plx.run(
        "random f: {x, y, z}\nrandom a\nweight 1: f = y\nweight 2: a\nquery map\nquery map given f = z"
    )
    best, given = result
    assert best.assignment == {"f": "y", "a": True}
    assert best.log_weight == pytest.approx(3)
    assert given.assignment == {"f": "z", "a": True}


def test_load_reads_files_beside_the_program(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("Person\nanna\nbob\n", encoding="utf-8")
    program = tmp_path / "party.plx"
    program.write_text('type Person from "people.csv"\nrandom in_(Person)\nquery in_(bob)', encoding="utf-8")
    model = plx.load(program)
    assert model.name == str(program)
    assert model.run()["in_(bob)"].probability == pytest.approx(0.5)


def test_load_reads_networks_of_other_tools(tmp_path: Path) -> None:
    network = tmp_path / "pair.uai"
    network.write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n", encoding="utf-8")
    (tmp_path / "seen.evid").write_text("1 1 1\n", encoding="utf-8")
    free, seen = plx.load(network).run(), plx.load(network, tmp_path / "seen.evid").run()
    assert len(free) == 2
    assert list(seen.queries[0].distribution.values()) == pytest.approx([2 / 6, 4 / 6])


def test_a_missing_file_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        plx.load(tmp_path / "nowhere.plx")


def test_text_that_is_no_utf8_gives_its_place(tmp_path: Path) -> None:
    program = tmp_path / "latin.plx"
    program.write_bytes("random a\nquery a # caf\u00e9".encode("latin-1"))
    with pytest.raises(plx.PlxError, match="not UTF-8") as error:
        plx.load(program)
    span = error.value.diagnostics[0].span
    assert span is not None
    assert (span.line, span.column) == (2, 14)


def test_all_mistakes_come_at_once() -> None:
    with pytest.raises(plx.PlxError) as error:
        plx.run("random a\nquery b\nquery c\nweight log(0): a", x=1)
    assert len(error.value.diagnostics) == 4


def test_the_limit_on_ground_instances_can_be_moved() -> None:
    """The message says how, and a program that is bound anew keeps it."""
    model = plx.compile("type P = 1..100\nrandom b(P)\nweight 1: b(x) | b(y) for x, y in P\nquery b(1)")
    small = model.with_max_ground(1000)
    for one in (small, small.observe("b(2)")):
        with pytest.raises(plx.PlxError, match=r"model\.with_max_ground\(10000\)"):
            one.run(method="gibbs", samples=64)
    assert small.with_max_ground(10_000).ground.graph.n_factors > 0
    for wrong in (0, True, 1.5):
        with pytest.raises(plx.CallError, match="whole number above 0"):
            model.with_max_ground(wrong)  # type: ignore[arg-type]


def test_progress_can_be_watched() -> None:
    seen: list[float] = []
    plx.run(
        "random a\nweight 1: a\nquery a",
        method="gibbs",
        seed=1,
        progress=lambda report: seen.append(report.done),
    )
    assert seen
    assert all(0 <= done <= 1 for done in seen)


@pytest.mark.parametrize("name", ["None", "int", "lambda", "名字", "x'", "Ünïcode"])
def test_odd_names_come_back_unchanged(name: str) -> None:
    text = (
        f"type T = {{{name}, other}}\nrandom f(T)\nrandom g: T\nweight 1: f({name})\nquery f({name})\nquery g"
    )
    result = plx.run(text)
    assert result[f"f({name})"].probability == pytest.approx(0.7310585786300049)
    assert set(result["g"].distribution) == {name, "other"}


def test_quoted_names_come_back_unchanged() -> None:
    result = plx.run("type T\nrandom f(T)\nquery f(x) for x in T", T=["New York", "weight", 'say "hi"', "a"])
    assert [query.name for query in result] == ['f("New York")', 'f("weight")', 'f("say \\"hi\\"")', "f(a)"]
    assert result['f("a")'].probability == pytest.approx(0.5)


def test_public_names_are_few_sorted_and_documented() -> None:
    assert sorted(plx.__all__) == plx.__all__
    for name in plx.__all__:
        assert inspect.getdoc(getattr(plx, name)), name
    assert (Path(plx.__file__).parent / "py.typed").exists()
