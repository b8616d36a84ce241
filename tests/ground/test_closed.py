"""Closed and partly known worlds: what a table does not list has the value of its ``else``."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plx
from plx.data import parse_binding
from plx.errors import PlxError
from plx.ground.grounder import ground
from plx.values import Value
from tests.compiling import compile_text
from tests.docs.blocks import call
from tests.ground.programs import grounded

HEADER = """
type T = {a, b, c}
type A = {u, v}
type C(A) = {u: {p, q}, v: {q}}
random f(T)
random m(t: T, x: A): {none} | C(x) if t != c | x = u
random n(T): 0..2
"""
ATOMS = [("a", "u"), ("a", "v"), ("b", "u"), ("b", "v"), ("c", "u")]


def fixed(program: str, folder: Path | None = None, **bindings: object) -> dict[str, str]:
    """The atoms that evidence fixes, with their values."""
    atoms = grounded(HEADER + program, folder, **bindings).atoms
    return {atoms.name(a): atoms.value_name(int(v)) for a, v in enumerate(atoms.fixed) if v >= 0}


def told(program: str, folder: Path | None = None, **bindings: object) -> str:
    with pytest.raises(PlxError) as caught:
        fixed(program, folder, **bindings)
    return str(caught.value)


# ------------------------------------------------------------------------ what it means


def _file(rows: Mapping[tuple[str, str], str], rest: str, folder: Path) -> dict[str, str]:
    lines = [f"{t},{x},{value}" for (t, x), value in rows.items()]
    (folder / "m.csv").write_text("\n".join(["t,x,value", *lines]))
    return fixed(f'observe m from "m.csv"{rest and f" else {rest}"}', folder)


def _written(rows: Mapping[tuple[str, str], str], rest: str, folder: Path) -> dict[str, str]:
    entries = [f"({t}, {x}): {value}" for (t, x), value in rows.items()]
    return fixed(f"observe m = {{{', '.join([*entries, *([f'else: {rest}'] if rest else [])])}}}")


def _given(rows: Mapping[tuple[str, str], str], rest: str, folder: Path) -> dict[str, str]:
    return fixed("", m=plx.Else(dict(rows), rest) if rest else dict(rows))


def _bound(rows: Mapping[tuple[str, str], str], rest: str, folder: Path) -> dict[str, str]:
    _file(rows, "", folder)
    name, value = parse_binding(f"m={folder / 'm.csv'}" + (rest and f" else {rest}"))
    return fixed("", **{name: value})


@pytest.mark.parametrize("way", [_file, _written, _given, _bound])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_what_is_not_listed(way: Callable[..., dict[str, str]], data: st.DataObject) -> None:
    """Guards leave atoms out, domains depend on the index, and a value that is not everywhere is refused."""
    values = st.sampled_from(["none", "q", "p"])
    rows = data.draw(st.dictionaries(st.sampled_from(ATOMS), values, max_size=5))
    rows = {(t, x): "q" if x == "v" and value == "p" else value for (t, x), value in rows.items()}
    rest = data.draw(st.sampled_from(["", "none", "q", "p"]))
    expected = {f"m({t}, {x})": value for (t, x), value in rows.items()}
    if rest:
        expected = {f"m({t}, {x})": rest for t, x in ATOMS} | expected
    with TemporaryDirectory() as folder:
        if any(name.endswith("v)") and value == "p" for name, value in expected.items()):
            with pytest.raises(PlxError, match=r"`m\(., v\)` cannot be p"):
                way(rows, rest, Path(folder))
        else:
            assert way(rows, rest, Path(folder)) == expected


def test_facts_of_a_boolean_function_are_keys_alone(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("T\nb\n")
    closed = {"f(a)": "false", "f(b)": "true", "f(c)": "false"}
    assert fixed('observe f from "f.csv" else false', tmp_path) == closed
    assert fixed("observe f = {b, else: false}") == closed
    assert fixed("", f=plx.Else(["b"], False)) == closed
    assert fixed("", f=plx.Else(["b"], 0)) == closed
    assert fixed("", f=plx.Else(pandas.DataFrame({"T": ["b"]}), False)) == closed
    assert fixed("observe f = {b}") == {"f(b)": "true"}
    assert fixed("observe f = {b, c: false}") == {"f(b)": "true", "f(c)": "false"}
    assert fixed("observe f = {a: false, else: true}") == {"f(a)": "false", "f(b)": "true", "f(c)": "true"}
    assert fixed("observe f = {else: true}") == dict.fromkeys(closed, "true")
    assert fixed("observe f = {}") == {}


def test_the_else_of_a_program_is_an_expression_and_may_come_before_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("a,1\n")
    wanted = {"n(a)": "1", "n(b)": "2", "n(c)": "2"}
    assert fixed('observe n from "n.csv" else 2 * half param half = 1', tmp_path) == wanted
    program = 'param w(T) from "n.csv" else 2 * half param half = 1 observe n(x) = w(x) for x in T'
    assert fixed(program, tmp_path) == wanted


# ------------------------------------------------------------------- beside other evidence


def test_what_contradicts_an_else_names_both(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("T\na\n")
    (tmp_path / "g.csv").write_text("T\nb\n")
    said = told('observe f from "f.csv" else false\nobserve f(b)', tmp_path)
    assert "program.plx:9:1: error: `f(b)` is observed twice with different values: false and true" in said
    assert "note: observed as false here (program.plx:8:29)" in said
    assert "list `f(b)` there too, or leave it out" in said
    said = told('observe f from "g.csv"\nobserve f from "f.csv" else false', tmp_path)
    assert "program.plx:9:29: error: `f(b)` is observed twice with different values: true and false" in said
    assert "note: observed as true here (g.csv:2:1)" in said
    assert "`f(b)` is observed twice" in told("observe f(b)", f=plx.Else(["a"], False))
    assert "`f(b)` is observed twice" in told("observe f = {a, else: false} observe f = {b}")
    said = told("observe f = {a, a: false}")
    assert "program.plx:8:17: error: `f(a)` is observed twice" in said and "else" not in said


def test_what_agrees_with_an_else_stands_beside_it() -> None:
    program = "observe f = {a, else: false} observe !f(x) for x in {b, c} observe f = {a} observe f(a) | f(b)"
    assert fixed(program) == {"f(a)": "true", "f(b)": "false", "f(c)": "false"}


@settings(deadline=None, max_examples=16)
@given(st.sets(st.sampled_from("abc")), st.booleans())
def test_closed_worlds_and_other_evidence_answer_as_facts_do(listed: set[str], closed: bool) -> None:
    rules = "weight 0.7: f(x) <=> n(x) > 0 for x in T observe n(a) + n(b) + n(c) <= 3 query n(x) for x in T"
    entries = [*sorted(listed), *(["else: false"] if closed else [])]
    rest = "abc" if closed else listed
    facts = " ".join(f"observe {'' if x in listed else '!'}f({x})" for x in sorted(rest))
    table = plx.run(f"{HEADER}{rules} observe f = {{{', '.join(entries)}}}", method="exact")
    single = plx.run(f"{HEADER}{rules} {facts}", method="exact")
    for one, other in zip(table, single, strict=True):
        assert one.distribution == pytest.approx(dict(other.distribution))


def test_an_else_that_makes_the_world_impossible_is_named() -> None:
    program = HEADER + "observe f = {a, else: false}\nrequire f(b)\nquery f(a)"
    with pytest.raises(PlxError) as caught:
        plx.run(program)
    assert "`require f(b)` (on f(b))" in str(caught.value)
    assert "`observe f = {a, else: false}` (on f(b), which is not listed)" in str(caught.value)


# --------------------------------------------------------------------- files and the caller


def test_what_the_caller_gives_takes_the_place_of_the_rows_and_leaves_the_else(tmp_path: Path) -> None:
    program = 'observe f from "nowhere.csv" else false'
    assert fixed(program, f=["c"]) == {"f(a)": "false", "f(b)": "false", "f(c)": "true"}
    assert fixed(program, f=plx.Else({"c": False}, True))["f(a)"] == "true"
    param = 'param w(T) from "nowhere.csv" else 1 observe n(x) = w(x) for x in T'
    assert fixed(param, w={"a": 2}) == {"n(a)": "2", "n(b)": "1", "n(c)": "1"}
    assert fixed(param, w=plx.Else({"a": 2}, 0)) == {"n(a)": "2", "n(b)": "0", "n(c)": "0"}
    (tmp_path / "other.csv").write_text("who,much\nb,0\n")
    param = param.replace('"nowhere.csv"', '"nowhere.csv" columns (who, much)')
    assert fixed(param, w=tmp_path / "other.csv") == {"n(a)": "1", "n(b)": "0", "n(c)": "1"}


def test_an_array_with_an_axis_per_slot_needs_no_else() -> None:
    assert fixed("param w(T) observe n(x) = w(x) for x in T", w=plx.Else(np.array([0, 1, 2]), 2)) == {
        "n(a)": "0",
        "n(b)": "1",
        "n(c)": "2",
    }
    assert fixed("", n=plx.Else(np.zeros(0), 2)) == {"n(a)": "2", "n(b)": "2", "n(c)": "2"}


@pytest.mark.parametrize(
    ("program", "bindings", "message"),
    [
        ("", {"f": plx.Else(["a"], 2)}, "`2`, the value of all others, is no value of `f`"),
        ("", {"n": plx.Else({"a": 1}, "lo")}, "`lo`, the value of all others, is no value of `n`"),
        ("", {"n": plx.Else({"a": 1}, None)}, "the `Else` that is given for `n` cannot be used"),
        ("param w(T)", {"w": plx.Else({"a": 1}, [0])}, "the `Else` that is given for `w` cannot be used"),
        ("relation r(T)", {"r": plx.Else(["a"], False)}, "the relation `r` takes no `Else`"),
        ("type S", {"S": plx.Else(["a"], "b")}, "the type `S` takes no `Else`"),
        ("param w(T)", {"w": {"a": 1}}, "plx.Else(w, 0)"),
    ],
)
def test_an_else_that_cannot_be(program: str, bindings: dict[str, object], message: str) -> None:
    assert message in told(program, **bindings)


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("w=w.csv else 0", Path("w.csv"), 0),
        ("w= a/b.tsv  else lo ", Path("a/b.tsv"), "lo"),
        ("f=a,b else false", ["a", "b"], False),
        ('w=w.csv else "0"', Path("w.csv"), "0"),
    ],
)
def test_a_binding_with_an_else(text: str, value: object, rest: Value) -> None:
    _, bound = parse_binding(text)
    assert isinstance(bound, plx.Else)
    assert (bound.rows, bound.value) == (value, rest) and type(bound.value) is type(rest)


def test_an_else_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "p.plx").write_text(HEADER + "query f(x) for x in T")
    (tmp_path / "f.csv").write_text("T\nb\n")
    program = str(tmp_path / "p.plx")
    code, out = call(["run", program, "--bind", f"f={tmp_path / 'f.csv'} else false", "--format", "csv"])
    rows = [line.split(",") for line in out.splitlines()]
    assert code == 0 and {row[0]: float(row[rows[0].index("p")]) for row in rows[1:] if "true" in row} == {
        "f(a)": 0,
        "f(b)": 1,
        "f(c)": 0,
    }
    code, out = call(["run", program, "--bind", f"f={tmp_path / 'g.csv'} else false"])
    assert code == 2 and "there is no file" in out


def test_a_quoted_symbol_is_no_else() -> None:
    assert parse_binding('w="a else b"') == ("w", "a else b")


# ------------------------------------------------------------------------------- size


def test_a_sparse_table_costs_its_rows(tmp_path: Path) -> None:
    """Ten thousand by ten thousand pairs, of which a hundred thousand are listed."""
    draw = np.random.default_rng(1)
    pairs = np.unique(draw.integers(0, 10_000, (100_000, 2)), axis=0)
    frame = pandas.DataFrame({"a": pairs[:, 0], "b": pairs[:, 1], "value": draw.integers(1, 9, len(pairs))})
    program = (
        "type R = 0..9999 param sim(a: R, b: R) relation near(a: R, b: R) random s(R) "
        "weight sim(x, y): s(x) | s(y) for (x, y) in near weight sim(y, x): s(x) & s(y) for (x, y) in near"
    )
    tracemalloc.start()
    checked = compile_text(program, sim=plx.Else(frame, 0), near=pairs)
    model = ground(checked)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6, "a byte for every pair would be 100 MB, a value 800 MB"
    listed = set(map(tuple, pairs.tolist()))
    both = sum((y, x) in listed and x < y for x, y in listed)
    assert model.graph.n_factors == len(listed) - both
