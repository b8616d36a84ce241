"""Columns and rows of data against plain Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plx.check import rows
from plx.check.rows import first_of_each
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
def test_first_of_each_row(facts: list[tuple[int, ...]]) -> None:
    array = np.array(facts, dtype=np.int64).reshape(len(facts), len(facts[0]) if facts else 2)
    wanted = [i for i, row in enumerate(facts) if row not in facts[:i]]
    found = first_of_each(array)
    assert found is None if len(wanted) == len(facts) else found is not None and found.tolist() == wanted


@pytest.mark.parametrize("n", [2, 7, 1000])
def test_first_of_each_row_sorted_in_halves(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    array = np.random.default_rng(n).integers(0, 20, (n, 2))
    whole = first_of_each(array)
    monkeypatch.setattr(rows, "_HALF", 1)
    halves = first_of_each(array)
    assert (whole is None) == (halves is None) and (whole is None or (whole == halves).all())


@pytest.mark.parametrize(("n", "first"), [(0, None), (1, None), (5, [0])])
def test_rows_without_columns_are_all_alike(n: int, first: list[int] | None) -> None:
    found = first_of_each(np.zeros((n, 0), dtype=np.int64))
    assert first == (None if found is None else found.tolist())


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
    if dtype.kind in "iu":
        assert set(map(type, column.distinct)) <= {int}
