"""Dense arrays for params and relations: an axis per slot, in the order of the types."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pandas
import polars
import pytest

from plx.check.program import Program
from plx.errors import PlxError
from tests.compiling import compile_text

TYPES = "type A = {a, b}\ntype B = {c, d, e}\ntype L = 0..2\ntype S(A) = {a: {u}, b: {v, w}}\nrandom f\n"


def compiled(declaration: str, given: object) -> Program:
    name = declaration.split("(")[0].split()[1]
    return compile_text(TYPES + declaration, **{name: given})


def entries(program: Program) -> dict[tuple[object, ...], object]:
    (info,) = program.params.values()
    keys = [tuple(program.values[i] for i in row) for row in info.index.tolist()]
    return dict(zip(keys, (program.values[i] for i in info.value.tolist()), strict=True))


def mistake(declaration: str, given: object) -> str:
    with pytest.raises(PlxError) as caught:
        compiled(declaration, given)
    return str(caught.value)


@pytest.mark.parametrize(
    "wrap", [np.array, list, tuple, polars.Series, lambda cells: np.array(cells, dtype=object)]
)
def test_one_axis(wrap: object) -> None:
    assert entries(compiled("param w(B)", wrap([1.0, 2.5, 4.0]))) == {  # type: ignore[operator]
        ("c",): 1,
        ("d",): Fraction(5, 2),
        ("e",): 4,
    }


@pytest.mark.parametrize(
    "slots", ["A, B", "B, A", "B, B", "L, L", "A, L", "L, A", "B, A, L", "L, L, L", "A, A, A, A"]
)
@pytest.mark.parametrize("nested", [False, True])
def test_every_shape(slots: str, nested: bool) -> None:
    sets = {"A": ["a", "b"], "B": ["c", "d", "e"], "L": [0, 1, 2]}
    axes = [sets[name] for name in slots.split(", ")]
    array = np.arange(np.prod([len(axis) for axis in axes])).reshape([len(axis) for axis in axes]) / 2
    given = array.tolist() if nested else array
    keys = list(product(*axes))
    assert entries(compiled(f"param w({slots})", given)) == dict(
        zip(keys, array.ravel().tolist(), strict=True)
    )


@pytest.mark.parametrize(
    "rows", [list, lambda rows: np.array(rows, dtype=object), lambda rows: pandas.DataFrame(rows)]
)
def test_rows_of_three_cells_stay_rows(rows: object) -> None:
    listed = [(x, y, 1) for x in (0, 1, 2) for y in (2, 1, 0)]
    assert entries(compiled("param w(L, L)", rows(listed))) == {row[:2]: 1 for row in listed}  # type: ignore[operator]


def test_symbols_and_truth_values() -> None:
    assert entries(compiled("param w(A)", ["u", "v"])) == {("a",): "u", ("b",): "v"}
    assert entries(compiled("param w(A)", [True, False])) == {("a",): True, ("b",): False}


@pytest.mark.parametrize("nested", [False, True])
def test_a_relation_as_a_matrix(nested: bool) -> None:
    matrix = np.array([[True, False, False], [False, True, True]])
    program = compiled("relation r(A, B)", matrix.tolist() if nested else matrix)
    found = {tuple(program.values[i] for i in row) for row in program.relations["r"].facts.tolist()}
    assert found == {("a", "c"), ("b", "d"), ("b", "e")}


@pytest.mark.parametrize(
    "empty", [[], np.array([]), np.zeros((0, 2)), pandas.DataFrame(), polars.DataFrame(), {}]
)
def test_a_relation_without_facts(empty: object) -> None:
    assert compiled("relation r(A, A)", empty).relations["r"].facts.shape == (0, 2)


@pytest.mark.parametrize(
    "empty", [[], np.array([]), np.array([], dtype=object), np.array([], dtype=bool), {}]
)
def test_a_relation_of_one_slot_without_facts(empty: object) -> None:
    assert compiled("relation r(A)", empty).relations["r"].facts.shape == (0, 1)


@pytest.mark.parametrize("empty", [[], (), {}, np.array([]), np.zeros((0, 2)), pandas.DataFrame()])
@pytest.mark.parametrize("slots", ["A", "A, B", "x: A, S(x)"])
@pytest.mark.parametrize("domain", ["", ": 0..2"])
def test_nothing_was_observed(domain: str, slots: str, empty: object) -> None:
    program = compiled(f"random g({slots}){domain}", empty)
    assert all(len(evidence.index) == 0 for evidence in program.evidence)


def test_columns_that_no_slot_is_called_by_are_read_by_position() -> None:
    frame = pandas.DataFrame({"A": ["a"], "other": ["b"]})
    assert compiled("relation r(A, A)", frame).relations["r"].facts.shape == (1, 2)


@pytest.mark.parametrize(
    ("declaration", "given", "message"),
    [
        ("param w(A, B)", np.ones((3, 2)), "has 3 × 2 cells, its slots have 2 × 3 members"),
        ("param w(A, B)", np.ones((2, 4)), "has 2 × 4 cells, its slots have 2 × 3 members"),
        ("param w(A)", [1, 2, 3], "has 3 cells, its slots have 2 members"),
        ("relation r(A, B)", np.ones((3, 2), dtype=bool), "has 3 × 2 cells, its slots have 2 × 3 members"),
        ("param w(x: A, S(x))", np.ones((2, 2)), "whose slots depend on each other"),
        ("param w(A)", [1, None], "a value is missing here, at [1] of the array given for `w`"),
        ("param w(B, A)", np.array([[1, 2], [3, np.nan], [5, 6]]), "at [1, 1] of the array given for `w`"),
    ],
)
def test_mistakes(declaration: str, given: object, message: str) -> None:
    assert message in mistake(declaration, given)
