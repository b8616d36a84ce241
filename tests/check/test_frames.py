"""Columns by name: a frame, a dict of lists and a CSV are read, or refused, alike; arrays of observations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plx
from plx.errors import PlxError
from tests.compiling import compile_text

TYPES = "type A = {a, b}\ntype B = {c, d, e}\ntype L = 0..2\nrandom f\n"
Cells = dict[str, list[Any]]

FORMS: dict[str, Callable[[Cells], Any]] = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "dict": dict,
    "dict of arrays": lambda cells: {name: np.array(column) for name, column in cells.items()},
    "record array": lambda cells: np.rec.fromarrays(list(cells.values()), names=list(cells)),
}


def facts(declaration: str, value: Any) -> set[tuple[object, ...]]:
    program = compile_text(TYPES + declaration, r=value)
    return {tuple(program.values[i] for i in row) for row in program.relations["r"].facts.tolist()}


def mistake(declaration: str, **given: Any) -> str:
    with pytest.raises(PlxError) as caught:
        compile_text(TYPES + declaration, **given)
    return str(caught.value)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=12, deadline=None)
@given(st.permutations(["x", "y", "z"]), st.booleans())
def test_columns_stand_in_any_order(form: str, order: list[str], flagged: bool) -> None:
    cells = {"x": ["a", "b", "b"], "y": ["c", "e", "e"], "z": ["b", "b", "a"]}
    given = {name: cells[name] for name in order} | ({"value": [True, True, False]} if flagged else {})
    rows = {("a", "c", "b"), ("b", "e", "b")} | (set() if flagged else {("b", "e", "a")})
    assert facts("relation r(x: A, y: B, z: A)", FORMS[form](given)) == rows


@pytest.mark.parametrize("form", [*FORMS, "csv"])
@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (["target", "source"], ["target", "source"]),
        (["x", "source"], ["source"]),
        (["y", "target"], ["target"]),
        (["X", "z"], ["X", "z"]),
    ],
)
def test_names_that_are_no_columns_are_refused(
    form: str, names: list[str], wrong: list[str], tmp_path: Path
) -> None:
    cells = {names[0]: ["b"], names[1]: ["a"]}
    given: Any = FORMS[form](cells) if form in FORMS else tmp_path / "r.csv"
    if form == "csv":
        given.write_text(f"{','.join(names)}\nb,a\n", encoding="utf-8")
    said = mistake("relation r(x: A, y: A)", r=given)
    if form != "csv" or "x" in names or "y" in names:
        assert all(f"`{name}` is no column of `r` (x, y and maybe value)" in said for name in wrong)
        assert said.count("is no column") == len(wrong)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("declaration", "cells", "said"),
    [
        ("param r(A)", {"who": ["a", "b"], "score": [1, 2]}, "`who` is no column of `r` (A, value)"),
        ("param r(A)", {"A": ["a", "b"]}, "`r` needs a column `value`"),
        ("random r(A): 0..2", {"who": ["a"], "level": [1]}, "`level` is no column of `r`"),
        ("relation r(A)", {"name": ["a"]}, "`name` is no column of `r`"),
        ("relation r(x: A, y: A)", {"y": ["a"], "xx": ["b"]}, "did you mean `x`?"),
    ],
)
def test_other_declarations_are_held_to_the_same_rule(
    form: str, declaration: str, cells: Cells, said: str
) -> None:
    assert said in mistake(declaration, r=FORMS[form](cells))


@pytest.mark.parametrize(
    "nameless",
    [
        pandas.DataFrame([["a", "c"]]),
        polars.DataFrame([("a", "c")], orient="row"),
        polars.DataFrame({"column_1": ["a"], "column_2": ["c"]}),
        np.rec.fromarrays([["a"], ["c"]]),
        pandas.DataFrame({"q": ["a"], "p": ["c"]}).to_numpy(),
        pandas.Series([True], index=pandas.MultiIndex.from_tuples([("a", "c")])),
        pandas.Series([True], index=pandas.MultiIndex.from_tuples([("c", "a")], names=["y", "x"])),
    ],
)
def test_columns_without_names_are_read_by_position(nameless: object) -> None:
    assert facts("relation r(x: A, y: B)", nameless) == {("a", "c")}


def test_levels_of_an_index_are_held_to_the_same_rule() -> None:
    index = pandas.MultiIndex.from_tuples([("b", "a")], names=["target", "source"])
    assert "`target` is no column" in mistake("relation r(x: A, y: A)", r=pandas.Series([True], index=index))


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_slots_that_share_a_name_have_columns_by_position(form: str) -> None:
    cells = {"source": ["a"], "target": ["b"]}
    assert facts("relation r(A, A)", FORMS[form](cells)) == {("a", "b")}
    assert facts("relation r(A, A)", FORMS[form](cells | {"value": [True]})) == {("a", "b")}
    said = mistake("relation r(A, A)", r=FORMS[form]({"value": [True]} | cells))
    assert "two columns of `r` are called `A`" in said and "r(x: A, y: A)" in said


def test_lists_by_member_are_no_columns() -> None:
    assert "cannot be found by name" in mistake("relation r(A, A)", r={"a": ["b"], "b": ["a"]})


def test_columns_of_different_lengths_are_refused() -> None:
    said = mistake("relation r(x: A, y: A)", r={"x": ["a", "b"], "y": ["a"]})
    assert "its columns have different lengths, 1 and 2" in said


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_may_be_text(kind: type, tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("y,x\nc,a\n", encoding="utf-8")
    assert facts("relation r(x: A, y: B)", kind(file)) == {("a", "c")}
    assert "there is no file" in mistake("relation r(x: A, y: B)", r=kind(tmp_path / "other.csv"))


def test_text_that_is_no_path_is_told() -> None:
    said = mistake("relation r(x: A, y: B)", r="people")
    assert "it is the str `people`, not a list" in said
    said = mistake("type T", T="people")
    assert "give a list of members" in said


# ----------------------------------------------------------- matrices of truth values


MATRIX = np.array([[0, 1, 1], [1, 0, 0]])


@pytest.mark.parametrize("wrap", [np.asarray, np.ndarray.tolist, lambda m: m.astype(float), polars.Series])
@pytest.mark.parametrize(
    ("declaration", "matrix"),
    [
        ("relation r(A, B)", MATRIX),
        ("relation r(B, A)", MATRIX.T),
        ("relation r(A)", MATRIX[0, :2]),
        ("relation r(A, A)", MATRIX[:, :2]),
        ("relation r(A, A, A)", np.zeros((2, 2, 2), dtype=int)),
        ("random r(A, B)", MATRIX),
        ("random r(B)", MATRIX[0]),
    ],
)
def test_zeros_and_ones_are_asked_for_truth_values(declaration: str, matrix: Any, wrap: Any) -> None:
    if wrap is polars.Series and matrix.ndim > 1:
        wrap = np.asarray
    said = mistake(declaration, r=wrap(matrix))
    assert said.count("error:") == 1
    assert "give truth values, not 1 and 0" in said and "r=array.astype(bool)" in said
    compile_text(TYPES + declaration, r=matrix.astype(bool))


def test_a_matrix_of_another_size_says_the_sizes() -> None:
    said = mistake("relation r(A, A)", r=np.eye(3, dtype=int))
    assert "has 3 × 3 cells, its slots have 2 × 2 members" in said and said.count("error:") == 1


def test_rows_of_zeros_and_ones_stay_rows() -> None:
    assert facts("relation r(L, L)", np.array([[0, 1], [1, 0]])) == {(0, 1), (1, 0)}
    assert facts("relation r(L)", [0, 1]) == {(0,), (1,)}
    assert facts("relation r(L, L)", [(0, 1, 1), (1, 0, 0), (1, 1, 1)]) == {(0, 1), (1, 1)}


# -------------------------------------------------------------- arrays of observations


SETS = {"A": ["a", "b"], "B": ["c", "d", "e"], "L": [0, 1, 2]}


@pytest.mark.parametrize("slots", ["A", "B", "L", "A, B", "B, A", "A, A", "A, L", "L, A", "A, B, L"])
@pytest.mark.parametrize("domain", [": 3..5", ": {u, v}", ""])
@pytest.mark.parametrize("form", ["array", "lists", "objects"])
def test_observed_values_come_as_an_array_with_an_axis_per_slot(slots: str, domain: str, form: str) -> None:
    shape = [len(SETS[name]) for name in slots.split(", ")]
    values = {": 3..5": [3, 4, 5], ": {u, v}": ["u", "v"], "": [True, False]}[domain]
    cells = np.resize(np.array(values, dtype=object if form == "objects" else None), shape)
    text = TYPES + f"random g({slots}){domain}"
    program = compile_text(text, g=cells.tolist() if form == "lists" else cells)
    (seen,) = program.evidence
    found = {
        tuple(program.values[i] for i in row): program.values[v]
        for row, v in zip(seen.index.tolist(), seen.value.tolist(), strict=True)
    }
    keys = np.ndindex(*shape)
    names = [SETS[name] for name in slots.split(", ")]
    assert found == {tuple(names[at][i] for at, i in enumerate(key)): cells[key] for key in keys}


def test_what_was_observed_is_answered() -> None:
    text = "type P = {a, b}\nrandom g(P): 1..3\nrandom s(P)\nquery g(b)\nquery s(a)"
    result = plx.run(text, g=[1, 3], s=[True, False])
    assert result["g(b)"].distribution == {1: 0.0, 2: 0.0, 3: 1.0}
    assert result["s(a)"].probability == 1.0


@pytest.mark.parametrize(
    ("declaration", "given", "said"),
    [
        ("random g(A): 0..2", [0, 1, 2], "has 3 cells, its slots have 2 members"),
        ("random g(A): 0..2", [0, 3], "`3` is no value of `g`, at [1] of the array given for `g`"),
        ("random g(A): 0..2", ["a"], "a column `value` is needed"),
        ("random g(A)", np.array([True]), "has 1 cells, its slots have 2 members"),
        ("random g(L, L): 0..2", np.array([[0, 1, 2]] * 3), "may be rows, or an array with an axis per slot"),
    ],
)
def test_mistakes_in_arrays_of_observations(declaration: str, given: object, said: str) -> None:
    assert said in mistake(declaration, g=given)


@pytest.mark.parametrize("rows", [[(0, 1, 2)], [(0, 1, 2), (1, 1, 0), (2, 0, 0)], np.array([[0, 1, 2]])])
def test_rows_of_observations_stay_rows(rows: Any) -> None:
    program = compile_text(TYPES + "random g(L, L): 0..2", g=rows)
    (seen,) = program.evidence
    found = [
        [program.values[i] for i in (*row, v)]
        for row, v in zip(seen.index.tolist(), seen.value.tolist(), strict=True)
    ]
    assert found == [list(row) for row in rows]
