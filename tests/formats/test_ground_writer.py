"""Ground models as programs: the same answers, whatever they came from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import plx
from plx.answer.result import QueryResult
from plx.errors import PlxError
from tests.formats.reading import save
from tests.random_programs import programs

UAI = "MARKOV\n3\n2 2 3\n3\n1 0\n2 0 1\n2 1 2\n\n2\n 0.4 0.6\n4\n 1 2e0\n 3 0\n6\n 1 1 1\n 2 .5 1e-9\n"
NAMED = (
    'c plx ["a b(c)", "<", "/", "x y"]\nc plx ["t", false, true]\nMARKOV\n2\n3 2\n1\n2 0 1\n6\n1 2 3 4 5 6\n'
)
FG = "3\n\n1\n5\n2\n2\n0 0.5\n1 1.5\n\n2\n5 9\n2 3\n4\n0 1\n1 2\n2 3\n5 4e-1\n\n2\n9 11\n3 2\n2\n0 1\n5 7\n"
JSON = """{"variables": [{"name": "P 1", "domain_size": 2}, {"name": "P2", "domain_size": 4}],
 "features": [{"weight": 1.2, "clause": [[0, 1, 1], [1, 2, 0]]},
 {"weight": -3, "clause": [[1, 0, 1], [1, 3, 1]]}]}"""
CNF = "p cnf 4 3\nc p weight 1 0.3 0\nc p weight -1 0.7 0\n1 -2 0\n2 3 0\n-1 -4 2 0\n"
WCNF = "p wcnf 3 4 20\n20 1 2 0\n3 -1 0\n4 -2 3 0\n2.5 -3 0\n"
FILES = {"a.uai": UAI, "named.uai": NAMED, "a.fg": FG, "a.json": JSON, "a.cnf": CNF, "a.wcnf": WCNF}
EVIDENCE = {"a.uai": ["x(2)=1"], "named.uai": ["t=true"], "a.fg": ["x(9)=2"], "a.cnf": ["x(2)=false"]}


def numbers(answer: QueryResult) -> object:
    if answer.kind == "logz":
        return answer.log_z
    if answer.kind == "map":
        return [world.log_weight for world in answer.worlds]
    return [answer.probability] if answer.kind == "probability" else list(answer.distribution.values())


def same_answers(a: plx.Result, b: plx.Result) -> None:
    assert a.log_z == pytest.approx(b.log_z, abs=1e-11)
    for one, other in zip(a, b, strict=True):
        assert numbers(one) == pytest.approx(numbers(other), abs=1e-12)


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_networks_become_programs(tmp_path: Path, name: str, seen: bool) -> None:
    file = save(tmp_path, name, FILES[name])
    evidence = EVIDENCE.get(name, []) if seen else []
    plx.convert(file, tmp_path / "b.plx", **dict(item.split("=") for item in evidence))
    mine = plx.load(tmp_path / "b.plx").run(method="exact")
    same_answers(mine, plx.load(file, **dict(item.split("=") for item in evidence)).run(method="exact"))


def test_names_stay(tmp_path: Path) -> None:
    plx.convert(save(tmp_path, "a.uai", UAI), tmp_path / "a.plx")
    assert [answer.name for answer in plx.load(tmp_path / "a.plx").run()] == ["x(0)", "x(1)", "x(2)"]
    plx.convert(save(tmp_path, "b.uai", NAMED), tmp_path / "b.plx")
    text = (tmp_path / "b.plx").read_text()
    assert "# a b(c)\nrandom a_b_c: " in text and '{"<", "/", "x y"}' in text


def test_clauses_stay_clauses(tmp_path: Path) -> None:
    plx.convert(save(tmp_path, "a.cnf", CNF), tmp_path / "a.plx")
    text = (tmp_path / "a.plx").read_text()
    assert "require x(1) | !x(2)\n" in text and text.endswith("query logz\n")
    plx.convert(save(tmp_path, "a.wcnf", WCNF), tmp_path / "a.plx")
    assert "weight -2.5: !(!x(3))\n" in (tmp_path / "a.plx").read_text()


PROGRAM = """type A = {a, "New York", true_ish, d, e, f, g, h, i, j, k, l, m}
type C(A) = {a: {u, v}, else: {w}}
random rich(A)
random z(x: A, y: A): {none} | C(x) if x < y
param w(A) = {a: 0.2, else: log(3)}
weight w(x): rich(x) for x in A
weight sqrt(2): count(rich(x) for x in A) > 3
require count(rich(x) for x in A) != 7
factor -0.3 * abs(count(rich(x) for x in A) - 5)
weight 1: z(a, d) = u & rich(a)
factor log(count(z(a, y) = u for y in A if a < y) / 20)
observe z(a, e) = v
query rich(x) for x in A
query z(a, d)
query rich(a) & rich(d)
query rich(a) given rich(d), z(a, f) = none
query (rich(a), z(a, d))
query logz
query map
"""


def test_a_program_with_counts_and_families() -> None:
    model = plx.compile(PROGRAM)
    text = model.origin.ground_text()
    again = plx.compile(text)
    assert "# not written" not in text
    same_answers(again.run(method="exact"), model.run(method="exact"))


def test_numbers_are_no_truth_values() -> None:
    """In Python, (0, 1) equals (false, true): only unknowns of the very same values share a table."""
    model = plx.compile(
        "type T = {a, b}\nrandom z(T)\nrandom n(T): 0..1\nweight 2: z(a) | z(b)\n"
        "weight 2: z(a) | n(a) = 1\nweight 2: n(a) = 1 | n(b) = 1\nquery (z(t), n(t)) for t in T"
    )
    same_answers(plx.compile(model.origin.ground_text()).run(method="exact"), model.run(method="exact"))


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(source=programs())
def test_random_programs(source: str) -> None:
    rules = [line for line in source.splitlines() if not line.startswith("query")]
    model = plx.compile("\n".join([*rules, "query logz"]))
    try:
        before = model.run(method="exact")
    except PlxError:
        return
    after = plx.compile(model.origin.ground_text()).run(method="exact")
    assert after.log_z == pytest.approx(before.log_z, abs=1e-9)
