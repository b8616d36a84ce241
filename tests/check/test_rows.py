"""Columns and rows of data against plain Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plx.check import rows
from plx.check.rows import _all_inside, repeats, without
from plx.data.cells import column_of_array
from plx.errors import PlxError
from tests.compiling import compile_text


def test_gaps_are_filled_where_the_table_stands(tmp_path: Path) -> None:
    """What a program writes may have an `else`, and so may a file and what the caller gives."""
    (tmp_path / "w.csv").write_text("a,b,2\n")
    written = "add them, or `else: …` for all others"
    given = (
        "add a row for each, or say what all others are: `… else 0` after a file, `plx.Else(w, 0)` in Python"
    )
    for value, bindings, hint in (
        (" = {(a, b): 2}", {}, written),
        (' from "w.csv"', {}, given),
        ("", {"w": [("a", "b", 2)]}, given),
    ):
        program = f"type T = {{a, b}}\nparam w(T, T){value}\nrandom z\nweight w(a, b): z\nquery z\n"
        with pytest.raises(PlxError, match="`w` has no entry for a, a; b, a; b, b") as caught:
            compile_text(program, tmp_path, **bindings)
        assert caught.value.diagnostics[0].hint == hint


cells = st.one_of(st.integers(0, 3), st.integers(0, 2**31), st.integers(2**30, 2**31 + 3))


@given(st.integers(1, 3).flatmap(lambda k: st.lists(st.tuples(*[cells] * k), max_size=12)))
def test_rows_that_repeat_earlier_ones(facts: list[tuple[int, ...]]) -> None:
    array = np.array(facts, dtype=np.int64).reshape(len(facts), len(facts[0]) if facts else 2)
    again = [i for i, row in enumerate(facts) if row in facts[:i]]
    assert repeats(array).tolist() == again
    once = [row for i, row in enumerate(facts) if i not in again]
    assert [tuple(row) for row in without(array, repeats(array)).tolist()] == once


@given(st.sampled_from([(2, 30), (30, 2), (9, 9), (1, 1)]), st.integers(0, 99), st.integers(1, 9))
def test_many_rows_are_looked_at_in_parts(ends: tuple[int, int], seed: int, part: int) -> None:
    array = np.random.default_rng(seed).integers(0, ends, (60, 2)).astype(np.int32)
    again = [i for i, row in enumerate(array.tolist()) if row in array[:i].tolist()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_SORTED", part)
        patch.setattr(rows, "_PIECE", 2 * part)
        assert repeats(np.asfortranarray(array)).tolist() == again
        assert without(array, np.array(again, dtype=np.int64)).tolist() == np.delete(array, again, 0).tolist()


@pytest.mark.parametrize(("n", "again"), [(0, []), (1, []), (5, [1, 2, 3, 4])])
def test_rows_without_columns_are_all_alike(n: int, again: list[int]) -> None:
    assert repeats(np.zeros((n, 0), dtype=np.int64)).tolist() == again


@given(st.lists(st.integers(0, 12), min_size=1, unique=True), st.lists(st.integers(0, 15)))
def test_cells_inside_members(members: list[int], column: list[int]) -> None:
    given_, among = np.array(column, dtype=np.int32), np.array(members, dtype=np.int64)
    assert _all_inside(given_, among) == (set(column) <= set(members))


@pytest.mark.parametrize("kind", ["i1", "u1", "i8", "u8", "f8", "f4", "?"])
@given(data=st.data())
def test_columns_of_arrays(kind: str, data: st.DataObject) -> None:
    dtype = np.dtype(kind)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = st.one_of(st.integers(info.min, info.max), st.integers(0, 5))
    else:
        values = st.sampled_from([0, 1, 0.5, 2**20]) if dtype.kind == "f" else st.booleans()  # type: ignore[assignment]
    array = np.array(data.draw(st.lists(values, max_size=12)), dtype=dtype)
    column = column_of_array(array)
    assert [column.distinct[code] for code in column.codes] == list(array)
    assert len(set(column.distinct)) == len(column.distinct)
    assert len(column) == len(array)
    if dtype.kind in "iu":
        assert set(map(type, column.distinct)) <= {int}
