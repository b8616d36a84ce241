"""Whole numbers from Parquet, decoded into narrow cells, against plain ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plx.data import cells as module
from plx.data import parquet_integers
from plx.data.arrange import arrange
from plx.data.arrow_file import read_parquet
from plx.data.shape import Shape
from plx.errors import PlxError
from plx.source import Source, Span
from plx.values import Values
from tests.compiling import compile_text

NOWHERE = Span(Source("p.plx", ""), 0, 0)
KINDS = ["int8", "uint8", "int16", "uint32", "int64", "uint64"]


def _numbers(kind: str) -> st.SearchStrategy[int]:
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    return st.integers(low, high) | st.sampled_from([low, high]) | st.integers(high // 2, high // 2 + 9)


@st.composite
def columns(draw: st.DrawFn) -> dict[str, Any]:
    pa, n = pytest.importorskip("pyarrow"), draw(st.integers(0, 9))
    found = {}
    for name in "ab":
        kind = draw(st.sampled_from(KINDS))
        strategy = draw(st.sampled_from([_numbers(kind), st.integers(0, 3)]))
        found[name] = pa.array(draw(st.lists(strategy, min_size=n, max_size=n)), kind)
    if draw(st.integers(0, 4)) == 0:
        found["b"] = pa.array([f"t{i % 3}" for i in range(n)])
    return found


@settings(max_examples=40)
@given(columns(), st.data())
def test_columns_of_integers_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, Any], data: st.DataObject
) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path_factory.mktemp("p") / "t.parquet"
    statistics, size = data.draw(st.booleans()), data.draw(st.integers(1, 5))
    parquet.write_table(pa.table(table), path, row_group_size=size, write_statistics=statistics)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_integers, "_BATCH", data.draw(st.integers(1, 5)))
        patch.setattr(module, "_PIECE", data.draw(st.integers(1, 5)))
        patch.setattr(module, "_DENSE", data.draw(st.sampled_from([1, 1 << 20])))
        asked, values = Shape("r", "relation", ("a", "b"), "optional", NOWHERE, truth=True), Values()
        raw = read_parquet(path, asked, NOWHERE)
        found = [[column.distinct[code] for code in column.codes] for column in raw.columns]
        assert found == [array.to_pylist() for array in table.values()]
        index = arrange(raw, asked, values).index
    assert [values.take(column) for column in index.T.tolist()] == found


def test_what_is_wrong_with_a_cell_is_told_with_its_row(tmp_path: Path) -> None:
    """In the words for other files: an unknown member, a missing value, a param given twice."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    program = """type P = 1..3
{} from "t.parquet"
random z
query z
"""
    facts, where = "relation r(P, P)", "in row 2, column `b`, of `t.parquet`"
    for declaration, table, message in (
        (facts, {"a": [1, 2, 3], "b": [3, 4, 1]}, f"`4` is no member of P, {where}"),
        (facts, {"a": [1, 2, 3], "b": [3, None, 1]}, f"a value is missing here, {where}"),
        (facts, {"a": [1], "b": [None]}, "a value is missing here, in row 1, column `b`, of `t.parquet`"),
        ("param w(P)", {"P": [1, 2, 1, 3], "value": [3, 4, 1, 0]}, "`w` has two entries for 1, in row 3"),
    ):
        parquet.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=2)
        with pytest.raises(PlxError) as caught:
            compile_text(program.format(declaration), tmp_path)
        assert message in str(caught.value)
