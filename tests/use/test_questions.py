"""Questions and observations from outside are those that the program could have held itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import plx
from plx.cli.commands import app

TEXT = """
type Person
relation friends(x: Person, y: Person)
param w = 1.1
random smokes(Person)
weight w: smokes(x) = smokes(y) for (x, y) in friends
weight 0.4: smokes(x) for x in Person
"""
QUERIES = "query smokes(anna)\nquery count(smokes(x) for x in Person) as n"
WORLD = {"Person": ["anna", "bob", "cleo"], "friends": [("anna", "bob"), ("bob", "cleo")]}


@pytest.fixture(scope="module")
def model() -> plx.Model:
    return plx.compile(TEXT + QUERIES, **WORLD)


def written(queries: str, **bindings: object) -> plx.Result:
    return plx.run(TEXT + queries, **WORLD | bindings)  # type: ignore[arg-type]


def same(a: plx.Result, b: plx.Result) -> None:
    assert [(q.name, q.estimates, q.moments) for q in a] == [(q.name, q.estimates, q.moments) for q in b]


def test_queries_take_the_place_of_those_of_the_program(model: plx.Model) -> None:
    found = model.query("smokes(x) for x in Person", "query count(smokes(x) for x in Person) > 1 as most")
    same(
        found, written("query smokes(x) for x in Person\nquery count(smokes(x) for x in Person) > 1 as most")
    )
    assert [query.name for query in model.run()] == ["smokes(anna)", "n"]


def test_what_is_given_holds_for_all_queries(model: plx.Model) -> None:
    found = model.query(
        "smokes(anna)", "smokes(cleo) given smokes(anna)", given=["smokes(bob)", "!smokes(cleo)"]
    )
    same(found, written(
        "query smokes(anna) given smokes(bob), !smokes(cleo)\n"
        "query smokes(cleo) given smokes(anna), smokes(bob), !smokes(cleo)"
    ))  # fmt: skip
    same(model.query("smokes(anna)", given="smokes(bob)"), written("query smokes(anna) given smokes(bob)"))


def test_observations_are_added(model: plx.Model) -> None:
    seen = model.observe("smokes(bob)").observe("observe !smokes(x) for x in {cleo}")
    same(seen.run(), written(f"observe smokes(bob)\nobserve !smokes(cleo)\n{QUERIES}"))
    same(
        seen.query("smokes(anna)"), written("observe smokes(bob)\nobserve !smokes(cleo)\nquery smokes(anna)")
    )
    same(model.run(), written(QUERIES))


def test_other_values_are_bound(model: plx.Model) -> None:
    same(model.bind(w=0.3).run(), written(QUERIES, w=0.3))
    same(model.bind(w=0.3).bind(friends=[("anna", "cleo")]).run(),
         written(QUERIES, w=0.3, friends=[("anna", "cleo")]))  # fmt: skip
    same(model.bind(smokes={"bob": True}).run(), written(QUERIES, smokes={"bob": True}))


def test_values_that_can_be_read_once_are_kept() -> None:
    def people() -> Iterator[str]:
        yield from WORLD["Person"]  # type: ignore[misc]

    model = plx.compile(TEXT + QUERIES, Person=people(), friends=WORLD["friends"])
    same(model.bind(w=0.3).run(), written(QUERIES, w=0.3))


def test_options_are_those_of_a_run(model: plx.Model) -> None:
    found = model.query("smokes(anna)", method="gibbs", seed=3, samples=2000)
    assert (found.method, found.seed) == ("gibbs", 3)
    with pytest.raises(plx.CallError, match="`chains`"):
        model.query("smokes(anna)", chains=0)
    with pytest.raises(plx.CallError, match="no query was given"):
        model.query()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("smoks(anna)", r"query:1:7: error: .*`smoks`"),
        ("smokes(anna", "query:1:"),
        ("smokes(anna) weight 3: smokes(bob)", "this is more than a query"),
        ("smokes(anna) query smokes(bob)", "this is more than a query"),
        ("", "query:1:"),
        ("smokes(dora)", "dora"),
    ],
)
def test_a_mistake_in_a_question_is_told_with_its_place(model: plx.Model, text: str, words: str) -> None:
    with pytest.raises(plx.PlxError, match=words):
        model.query(text)


@pytest.mark.parametrize("text", ["smokes(bob) query smokes(anna)", "smokes(bob) observe smokes(anna)"])
def test_an_observation_is_one_statement(model: plx.Model, text: str) -> None:
    with pytest.raises(plx.PlxError, match="this is more than an observation"):
        model.observe(text)


def test_what_is_given_may_hold_no_statement(model: plx.Model) -> None:
    with pytest.raises(plx.PlxError, match="this is more than a query"):
        model.query("smokes(anna)", given="smokes(bob) observe smokes(cleo)")
    with pytest.raises(plx.PlxError, match="given:1:"):
        model.query("smokes(anna)", given="smoks(bob)")


def test_networks_are_refused_in_words() -> None:
    network = plx.load("tests/formats/small/ring.json")
    for call in (lambda: network.query("x"), lambda: network.observe("x"), lambda: network.bind(x=1)):
        with pytest.raises(plx.CallError, match="is no program of plx"):
            call()


# ------------------------------------------------------------------ command line


def run(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["run", *arguments])
    return found.exit_code, found.output


def test_the_command_line_asks_and_observes(tmp_path: Path) -> None:
    program, out = tmp_path / "m.plx", tmp_path / "r.json"
    declared = TEXT.replace("type Person", "type Person = {anna, bob, cleo}")
    program.write_text(declared.replace("y: Person)", "y: Person) = {(anna, bob)}") + QUERIES)
    one, two = "smokes(bob)", "smokes(x) for x in {anna} given smokes(cleo)"
    asked = ["--query", one, "--query", two, "--observe", "smokes(cleo)"]
    assert run(str(program), *asked, "-o", str(out))[0] == 0
    same(plx.Result.load(out), plx.load(program).observe("smokes(cleo)").query(one, two))


def test_networks_take_evidence_on_the_command_line() -> None:
    code, output = run("tests/formats/small/ring.json", "--query", "x")
    assert code == 2
    assert "a network takes --evidence" in " ".join(output.replace("│", " ").split())
