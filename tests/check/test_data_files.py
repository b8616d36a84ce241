"""Parquet, Feather, JSON Lines, SQLite and DuckDB: the same rows give the same model as CSV, and what is
wrong with a file is told with its row and column."""

from __future__ import annotations

import builtins
import datetime
import json
import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plx
from plx.data import Database, Else, column_builder, load, parse_binding
from plx.data.database import quoted_name
from plx.errors import CallError, PlxError
from plx.source import Source
from plx.syntax.parser import parse
from plx.values import Value, Values
from tests.docs.blocks import call

Columns = Mapping[str, Sequence[Any]]


# -------------------------------------------------------------------- writers of each form


def _csv(path: Path, columns: Columns) -> None:
    rows = [",".join(columns), *(",".join(map(_as_text, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n")


def _as_text(cell: Any) -> str:
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def _jsonl(path: Path, columns: Columns) -> None:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _sqlite(path: Path, columns: Columns, table: str = "t") -> None:
    kinds = {str: "text", int: "integer", float: "real", bool: "boolean"}
    declared = ", ".join(
        f'"{name}" {kinds[type(cells[0])] if cells else ""}' for name, cells in columns.items()
    )
    with closing(sqlite3.connect(path)) as base:
        base.execute(f"create table {quoted_name(table)} ({declared})")
        marks = ", ".join("?" * len(columns))
        base.executemany(
            f"insert into {quoted_name(table)} values ({marks})", zip(*columns.values(), strict=True)
        )
        base.commit()


def _duckdb(path: Path, columns: Columns, table: str = "t") -> None:
    duckdb, arrow = pytest.importorskip("duckdb"), _arrow(columns)
    with closing(duckdb.connect(str(path))) as base:
        base.register("given", arrow)
        base.execute(f"create table {quoted_name(table)} as select * from given")


def _parquet(path: Path, columns: Columns) -> None:
    pytest.importorskip("pyarrow.parquet").write_table(_arrow(columns), path)


def _feather(path: Path, columns: Columns) -> None:
    pytest.importorskip("pyarrow.feather").write_feather(_arrow(columns), path)


def _stream(path: Path, columns: Columns) -> None:
    table = _arrow(columns)
    with pytest.importorskip("pyarrow.ipc").new_stream(path, table.schema) as writer:
        writer.write_table(table)


def _arrow(columns: Columns) -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({name: pyarrow.array(cells) for name, cells in columns.items()})


WRITERS: dict[str, Callable[[Path, Columns], None]] = {
    "jsonl": _jsonl,
    "db": _sqlite,
    "parquet": _parquet,
    "feather": _feather,
    "arrow": _stream,
    "duckdb": _duckdb,
}
FORMS = sorted(WRITERS)


# ------------------------------------------------------------------------- the same model

PROGRAM = """
type S from "s.{form}"
type N = 0..3
relation r(S, n: N) from "r.{form}"
param w(s: S, n: N) from "w.{form}" columns (name, level, score) else 0
param flag(S) from "flag.{form}"
random f(S): N
random g(s: S)
weight w(s, n): f(s) = n    for (s, n) in r
weight 1: g(s) <=> flag(s)  for s in S
weight 0.5: g(s) & f(s) > 1 for s in S
observe f from "f.{form}"
observe g from "g.{form}" else false
query f(s) for s in S
query logz
"""

symbols = st.lists(st.sampled_from(["a", "b", "c3", "New York", "x-1"]), unique=True, min_size=1)
numbers = st.integers(-3, 3) | st.sampled_from([0.1, 2.5, -0.75, 1e-3, 1 / 3])


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Columns]:
    names = draw(symbols)
    pairs = st.lists(st.tuples(st.sampled_from(names), st.integers(0, 3)), unique=True, min_size=1)
    r, w = draw(pairs), draw(pairs)
    score = [float(draw(numbers)) for _ in w]
    some = st.lists(st.sampled_from(names), unique=True, min_size=1)
    f, g = draw(some), draw(some)
    return {
        "s": {"value": names},
        "r": {"S": [s for s, _ in r], "n": [n for _, n in r]},
        "w": {"extra": ["?"] * len(w), "score": score, "level": [n for _, n in w], "name": [s for s, _ in w]},
        "flag": {"S": names, "value": [draw(st.booleans()) for _ in names]},
        "f": {"value": [draw(st.integers(0, 3)) for _ in f], "S": f},
        "g": {"s": g, "value": [draw(st.booleans()) for _ in g]},
    }


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=15)
@given(world=worlds())
def test_the_same_rows_give_the_same_answers(
    form: str, world: dict[str, Columns], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("world")
    for name, columns in world.items():
        _csv(folder / f"{name}.csv", columns)
        WRITERS[form](folder / f"{name}.{form}", columns)
    answers = []
    for suffix in ("csv", form):
        (folder / "p.plx").write_text(PROGRAM.replace("{form}", suffix))
        result = plx.load(folder / "p.plx").run(method="exact")
        answers.append(
            [answer.log_z if answer.log_z is not None else answer.distribution for answer in result]
        )
    assert answers[0] == answers[1]


def members(file: str, folder: Path, declaration: str = "type T") -> list[Value]:
    """The members of a type, or the cells of a relation, in a file."""
    values = Values()
    data = load(parse(Source("p.plx", f"{declaration} from {file}")), {}, folder, values)
    if data.problems:
        raise PlxError(data.problems)
    table = data.tables["T"]
    ids = table.index.reshape(-1) if table.value is None else table.value
    return [values[int(at)] for at in ids]


def told(file: str, folder: Path, declaration: str = "type T") -> str:
    with pytest.raises(PlxError) as caught:
        members(file, folder, declaration)
    return str(caught.value)


CELLS: list[tuple[list[Any], list[Value]]] = [
    (["1", "true", "a b", ""], ["1", "true", "a b", ""]),
    ([3, 1, 3], [3, 1, 3]),
    ([2**62, -(2**62)], [2**62, -(2**62)]),
    ([0.5, 3.0, 1e22], [Decimal("0.5"), 3, 10**22]),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("cells", "expected"), CELLS, ids=["strings", "integers", "large", "floats"])
def test_cells_keep_their_types(form: str, cells: list[Any], expected: list[Value], tmp_path: Path) -> None:
    WRITERS[form](tmp_path / f"t.{form}", {"c": cells})
    assert members(f'"t.{form}"', tmp_path) == expected


@pytest.mark.parametrize("form", FORMS)
def test_truth_values_are_no_numbers(form: str, tmp_path: Path) -> None:
    WRITERS[form](tmp_path / f"t.{form}", {"c": [True, False]})
    found = members(f'"t.{form}"', tmp_path)
    assert found == [True, False] and all(type(value) is bool for value in found)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_missing_is_told_with_its_row_and_column(form: str, tmp_path: Path) -> None:
    WRITERS[form](tmp_path / f"t.{form}", {"x": ["a", "b", None], "y": ["a", None, "b"]})
    message = told(f'"t.{form}"', tmp_path, "type P = {a, b} relation T(P, P)")
    assert message.count("a value is missing here") == 2
    assert "hint: give it a value, or leave the row out" in message
    if form == "jsonl":
        assert "t.jsonl:3:7: error" in message and "t.jsonl:2:17: error" in message
    else:
        assert "in row 3, column `x`, of" in message and "in row 2, column `y`, of" in message
        assert f"`t.{form}`" in message


@pytest.mark.parametrize("form", FORMS)
def test_columns_that_are_not_there_get_the_nearest_name(form: str, tmp_path: Path) -> None:
    WRITERS[form](tmp_path / f"t.{form}", {"caller": ["a"], "callee": ["b"], "day": ["mon"], "n": [1]})
    declaration = "type P = {a, b} relation T(x: P, y: P)"
    message = told(f'"t.{form}" columns (caller, calee)', tmp_path, declaration)
    assert "has no column `calee`" in message and "did you mean `callee`?" in message
    assert "columns (…)` names those that are wanted" in told(f'"t.{form}"', tmp_path, declaration)
    assert members(f'"t.{form}" columns (callee, caller)', tmp_path, declaration) == ["b", "a"]


@pytest.mark.parametrize("form", FORMS)
def test_a_value_outside_its_set_is_told_with_its_row(form: str, tmp_path: Path) -> None:
    WRITERS[form](tmp_path / f"t.{form}", {"x": ["a", "c"]})
    with pytest.raises(PlxError) as caught:
        plx.compile("type P = {a, b} relation r(x: P) random f(P) query f(a)", r=tmp_path / f"t.{form}")
    assert "`c` is no member of" in str(caught.value)
    assert ("t.jsonl:2:7" if form == "jsonl" else "in row 2, column `x`, of") in str(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_file_is_told_in_words(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"t.{form}"
    WRITERS[form](file, {"x": [f"name{i}" for i in range(3000)]})
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2].rstrip(b"}\n"), b"junk" * 99, whole[:9]):
        file.write_bytes(damaged)
        assert f"t.{form}" in told(f'"t.{form}"', tmp_path)
    file.unlink()
    assert "there is no file" in told(f'"t.{form}"', tmp_path)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------ Arrow


def _arrow_cells(array: Any, folder: Path) -> list[Value]:
    table = pytest.importorskip("pyarrow").table({"c": array})
    pytest.importorskip("pyarrow.parquet").write_table(table, folder / "t.parquet")
    pytest.importorskip("pyarrow.feather").write_feather(table, folder / "t.feather")
    found = members('"t.parquet"', folder)
    assert members('"t.feather"', folder) == found
    return found


def test_cells_of_arrow_are_exact(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    tenth = Decimal("0.1")
    assert _arrow_cells(pa.array([0.1, 2.5], pa.float32()), tmp_path) == [tenth, Decimal("2.5")]
    assert _arrow_cells(pa.array([Decimal("1.50"), Decimal("-7.25")]), tmp_path) == [
        Decimal("1.5"),
        Decimal("-7.25"),
    ]
    assert _arrow_cells(pa.array([2**64 - 1], pa.uint64()), tmp_path) == [2**64 - 1]
    assert _arrow_cells(pa.array(["b", "a", "b"]).dictionary_encode(), tmp_path) == ["b", "a", "b"]
    assert _arrow_cells(pa.array([7, 5, 7]).dictionary_encode(), tmp_path) == [7, 5, 7]
    assert _arrow_cells(pa.chunked_array([["a", "b"], ["c", "a"]]), tmp_path) == ["a", "b", "c", "a"]
    assert _arrow_cells(pa.chunked_array([], pa.string()), tmp_path) == []


def test_dates_are_symbols_in_iso_form(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    moment = datetime.datetime(2024, 5, 1, 8, 30, 0, 500)
    assert _arrow_cells(pa.array([moment.date()]), tmp_path) == ["2024-05-01"]
    assert _arrow_cells(pa.array([moment]), tmp_path) == [moment.isoformat().rstrip("0")]
    assert _arrow_cells(pa.array([moment.replace(microsecond=0)]), tmp_path) == ["2024-05-01T08:30:00"]
    assert _arrow_cells(pa.array([datetime.time(8, 30)]), tmp_path) == ["08:30:00"]
    zone = pa.timestamp("s", "Europe/Paris")
    assert _arrow_cells(pa.array([moment], zone), tmp_path) == ["2024-05-01T10:30:00+02:00"]


def test_columns_without_values_are_refused_by_name(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    for cells in (pa.array([[1]]), pa.array([{"a": 1}]), pa.array([b"x"]), pa.array([datetime.timedelta(1)])):
        with pytest.raises(PlxError, match=r"the column `c` of `t\.parquet` holds no symbols"):
            _arrow_cells(cells, tmp_path)
    with pytest.raises(PlxError, match="an infinite number is no value, in row 1, column `c`"):
        _arrow_cells(pa.array([float("inf")]), tmp_path)


def test_values_of_a_dictionary_that_no_row_has_do_not_count(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    unused = pa.DictionaryArray.from_arrays([0, 0], pa.array(["a", "b"]))
    table = pa.table({"c": unused})
    pytest.importorskip("pyarrow.feather").write_feather(table, tmp_path / "t.feather")
    values = Values()
    load(parse(Source("p.plx", 'type T from "t.feather"')), {}, tmp_path, values)
    assert values.find("a") is not None and values.find("b") is None


@pytest.mark.parametrize(("form", "missing", "extra"), [("parquet", "pyarrow", "parquet"), ("duckdb",) * 3])
def test_a_missing_library_is_named_with_its_extra(
    form: str, missing: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    WRITERS[form](tmp_path / f"t.{form}", {"c": ["a"]})
    imported = builtins.__import__
    monkeypatch.setattr("plx.extras.import_module", lambda name: imported(_refuse(name, missing)))
    message = told(f'"t.{form}"', tmp_path)
    assert f"need {missing}, which is not installed" in message and f"plx[{extra}]" in message
    assert "p.plx:1:8" in message


def _refuse(name: str, missing: str) -> str:
    if name.partition(".")[0] == missing:
        raise ImportError(name)
    return name


# ------------------------------------------------------------------------------- JSON Lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":1}\n\n  {"a":"1"}\r\n{"a":true}', [1, "1", True]),
        ('{"a":0.1000000000000000055511151231257827}', [Decimal("0.1000000000000000055511151231257827")]),
        ('"x"\n"y"\n', ["x", "y"]),
        ('["x"]\n["y"]\n', ["x", "y"]),
        ('\ufeff{"a":"é"}\n', ["é"]),
        ("", []),
    ],
)
def test_lines_are_objects_lists_or_cells(text: str, expected: list[Value], tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(text, encoding="utf-8", newline="")
    assert members('"t.jsonl"', tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a":1}\n{"a":1', "t.jsonl:2:6: error: this line is no JSON: Expecting ',' delimiter"),
        ('{"a":1}\n["b"]', "t.jsonl:2:1: error: this line is no object, the first is one"),
        ('["a","b"]\n["b"]', "t.jsonl:2:1: error: this line is a list of length 1, the first of length 2"),
        ('{"a":[1]}', "t.jsonl:1:6: error: a list is no symbol, number or truth value, in the column `a`"),
        ('{"a":"x"}\n{"a":{}}', "t.jsonl:2:6: error: an object is no symbol"),
        ('{"a":NaN}', "t.jsonl:1:6: error: nan is not a number"),
        ("[" * 100_000, "t.jsonl:1:1: error: this line cannot be read"),
        ('{\n"a":1\n}', "t.jsonl:1:1: error: this line is no JSON"),
        ('{"a":"x"}\n{"a":1,"a":2}', "t.jsonl:2:1: error: the key `a` stands twice in one object"),
        ('[{"a":1},{"a":2}]', "t.jsonl:1:1: error: this line is a list of objects"),
        ('{"a":1}{"a":2}', "t.jsonl:1:8: error: this line is no JSON: Extra data"),
    ],
)
def test_lines_that_are_no_rows(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(text)
    assert message in told('"t.jsonl"', tmp_path)


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(b'{"a":"x"}\n{"a":"\xff"}\n')
    assert "t.jsonl:2:7: error: byte 0xff is not UTF-8 text" in told('"t.jsonl"', tmp_path)


def test_columns_that_come_late_in_many_lines(tmp_path: Path) -> None:
    """The lines are decoded a portion at a time; a key that the first portions lack is missing in them."""
    lines = [json.dumps({"a": f"name{i}", "pad": "x" * 500}) for i in range(3000)]
    (tmp_path / "t.jsonl").write_text("\n".join([*lines, json.dumps({"a": "last", "b": 1})]))
    assert members('"t.jsonl" columns (a)', tmp_path)[-1] == "last"
    assert "t.jsonl:1:1: error: a value is missing here, in the column `b`" in told(
        '"t.jsonl" columns (b)', tmp_path
    )


# -------------------------------------------------------------------------------- databases

BASES = ["db", "duckdb"]


def _people(form: str, folder: Path) -> None:
    writer = {"db": _sqlite, "duckdb": _duckdb}[form]
    writer(folder / f"farm.{form}", {"name": ["anna", "bob"], "age": [31, 7]}, 'the "people"')


@pytest.mark.parametrize("form", BASES)
def test_tables_and_queries(form: str, tmp_path: Path) -> None:
    _people(form, tmp_path)
    file, table = f'"farm.{form}"', r'table "THE \"people\""'
    query = r"select name from \"the \"\"people\"\"\" where age > 10"
    assert members(f"{file} columns (name)", tmp_path) == ["anna", "bob"]
    assert members(f"{file} {table} columns (age)", tmp_path) == [31, 7]
    assert members(f'{file} sql "{query};"', tmp_path) == ["anna"]
    assert members(f'{file} sql "{query} -- adults"', tmp_path) == ["anna"]
    assert members(f'{file} sql "select 2 as n union all select 1 order by n"', tmp_path) == [1, 2]


@pytest.mark.parametrize("form", BASES)
def test_what_is_wrong_with_a_table_or_query(form: str, tmp_path: Path) -> None:
    _people(form, tmp_path)
    before, file = (tmp_path / f"farm.{form}").read_bytes(), f'"farm.{form}"'
    assert r"has no table `peple`" in told(f'{file} table "peple"', tmp_path)
    assert 'hint: did you mean `the "people"`?' in told(f'{file} table "the people"', tmp_path)
    for sql in ("selec", "select nmae from x", "", "drop table x", "select 1; select 2", "copy x to 'y.csv'"):
        assert f"`farm.{form}` does not answer this query: " in told(f'{file} sql "{sql}"', tmp_path)
    assert "in row 1, column `n`, of the answer of" in told(f'{file} sql "select null as n"', tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"farm.{form}"]
    assert (tmp_path / f"farm.{form}").read_bytes() == before


@pytest.mark.parametrize("form", BASES)
def test_which_of_several_tables_must_be_said(form: str, tmp_path: Path) -> None:
    _people(form, tmp_path)
    {"db": _sqlite, "duckdb": _duckdb}[form](tmp_path / f"farm.{form}", {"x": [1]}, "other")
    message = told(f'"farm.{form}"', tmp_path)
    assert "has 2 tables: which one is missing" in message and "other" in message


def test_other_files_have_no_tables(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n")
    (tmp_path / "t.db").write_text("Smokes(Anna)\n")
    assert "`t.csv` is no database: only one has `table`" in told('"t.csv" table "t"', tmp_path)
    assert "`t.db` is no database of SQLite or DuckDB" in told('"t.db"', tmp_path)
    (tmp_path / "t.db").write_bytes(b"")
    assert "`t.db` has no tables" in told('"t.db"', tmp_path)


def test_sqlite_has_bits_for_truth_values(tmp_path: Path) -> None:
    """Where a truth value is expected, and in columns that are declared to hold them."""
    with closing(sqlite3.connect(tmp_path / "t.db")) as base:
        base.execute("create table seen (p text, value integer, ok bool)")
        base.executemany("insert into seen values (?, ?, ?)", [("a", 1, 0), ("b", 0, 1)])
        base.commit()
    text = "type P = {a, b} random f(P) observe f = {a: true, b: false} query f(a) query f(b)"
    given = text.replace("= {a: true, b: false}", 'from "t.db" columns (p, value)')
    (tmp_path / "p.plx").write_text(given)
    found, expected = plx.load(tmp_path / "p.plx").run(), plx.compile(text).run()
    assert [answer.probability for answer in found] == [answer.probability for answer in expected] == [1, 0]
    assert members('"t.db" columns (p, value)', tmp_path, "type P = {a, b} relation T(P)") == ["a"]
    assert members('"t.db" columns (value)', tmp_path) == [1, 0]
    assert members('"t.db" sql "select ok from seen"', tmp_path) == [False, True]


def test_blobs_and_infinities_of_sqlite_are_refused(tmp_path: Path) -> None:
    _people("db", tmp_path)
    assert "a blob is no symbol" in told('"farm.db" sql "select x\'00\'"', tmp_path)
    assert "an infinite number is no value" in told('"farm.db" sql "select 9e999"', tmp_path)


def test_no_log_is_made_beside_a_file_that_had_one(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "w.db")) as base:
        base.execute("pragma journal_mode = wal")
        base.execute("create table t (a)")
        base.execute("insert into t values (4)")
        base.commit()
    assert [path.name for path in tmp_path.iterdir()] == ["w.db"]
    assert members('"w.db"', tmp_path) == [4]
    assert [path.name for path in tmp_path.iterdir()] == ["w.db"]


def test_rows_that_are_still_in_the_log_are_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "w.db")) as base:
        base.execute("pragma journal_mode = wal")
        base.execute("create table t (a)")
        base.execute("insert into t values (4)")
        base.commit()
        assert (tmp_path / "w.db-wal").exists() and members('"w.db"', tmp_path) == [4]


def test_tables_of_other_schemas(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect(str(tmp_path / "t.duckdb"))) as base:
        base.execute("create schema s; create table s.q as select 8::hugeint as h")
        base.execute("create table t as select 'x'::enum('x', 'y') as e")
    assert members('"t.duckdb" table "s.q"', tmp_path) == [8]
    assert members('"t.duckdb" table "t"', tmp_path) == ["x"]


# ------------------------------------------------------------------------------- the caller

ASKS = "type P random f(P) query count(f(x) for x in P) as n"


@pytest.mark.parametrize("form", FORMS)
def test_the_caller_gives_paths(form: str, tmp_path: Path) -> None:
    WRITERS[form](tmp_path / f"p.{form}", {"who": ["anna", "bob", "cleo"]})
    for value in (tmp_path / f"p.{form}", str(tmp_path / f"p.{form}")):
        assert plx.run(ASKS, P=value)["n"].mean == 1.5
    name, bound = parse_binding(f"P={tmp_path / f'p.{form}'}")
    assert plx.run(ASKS, **{name: bound})["n"].mean == 1.5


@pytest.mark.parametrize("form", BASES)
def test_the_caller_names_a_table_or_query(form: str, tmp_path: Path) -> None:
    _people(form, tmp_path)
    file = tmp_path / f"farm.{form}"
    query = 'select name from "the ""people""" where age > 10'
    assert plx.run(ASKS, P=Database(file, sql=query))["n"].mean == 0.5
    text = ASKS.replace("type P", 'type P from "none.db" table "the \\"people\\"" columns (name)')
    assert plx.run(text, P=file)["n"].mean == plx.run(text, P=Database(file))["n"].mean == 1
    with pytest.raises(PlxError, match="has no table `folk`"):
        plx.run(text, P=Database(file, "folk"))
    with pytest.raises(CallError, match="not both"):
        Database(file, "folk", "select 1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p=a.db", Path("a.db")),
        ("p=a.db table people", Database(Path("a.db"), "people")),
        ('p=in/a b.duckdb table "the people"', Database(Path("in/a b.duckdb"), "the people")),
        ('p=a.db sql "select 1"', Database(Path("a.db"), sql="select 1")),
        ('p=a.db sql "select "x y" from t"', Database(Path("a.db"), sql='select "x y" from t')),
        (
            'p=a.db sql "select case when a then 1 else 0 end"',
            Database(Path("a.db"), sql="select case when a then 1 else 0 end"),
        ),
    ],
)
def test_bindings_name_tables(text: str, expected: object) -> None:
    assert parse_binding(text) == ("p", expected)


def test_a_binding_of_a_table_may_have_an_else() -> None:
    _, found = parse_binding("p=a.db table people else false")
    assert isinstance(found, Else) and (found.rows, found.value) == (Database(Path("a.db"), "people"), False)


def test_the_command_line_reads_tables(tmp_path: Path) -> None:
    _sqlite(tmp_path / "farm.db", {"name": ["anna", "bob"], "age": [31, 7]}, "people")
    (tmp_path / "p.plx").write_text(ASKS)
    run = ["run", str(tmp_path / "p.plx"), "--format", "json", "--bind"]
    status, printed = call([*run, f'P={tmp_path}/farm.db sql "select name from people where age > 10"'])
    assert status == 0 and json.loads(printed)["queries"][0]["mean"] == 0.5
    status, printed = call([*run, f"P={tmp_path}/none.db table people"])
    assert status == 2 and "there is no file" in printed


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("wakes", [True, False])
@pytest.mark.parametrize("seconds", [0.02, 0.1, 0.3])
@pytest.mark.parametrize(
    ("kind", "query"),
    [
        (
            "db",
            "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n",
        ),
        (
            "duckdb",
            "select count(*) from range(9000000) a, range(9000000) b where (a.range * b.range) % 7 = 3",
        ),
    ],
)
def test_ctrl_c_ends_a_long_query(tmp_path: Path, kind: str, query: str, seconds: float, wakes: bool) -> None:
    """Even where the handler is one that lets waiting go on, as that of polars does."""
    path = tmp_path / f"a.{kind}"
    connect = sqlite3.connect if kind == "db" else pytest.importorskip("duckdb").connect
    with closing(connect(str(path))) as base:
        base.execute("create table t as select 'a' as x")
        base.commit()
    plx.compile(f'type T from "{path}" table "t"\nrandom f(T)\nquery map')  # imports take no part
    press = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    signal.siginterrupt(signal.SIGINT, wakes)
    with pytest.raises(KeyboardInterrupt):
        press.start()
        plx.compile(f'type T from "{path}" sql "{query}"\nrandom f(T)\nquery map')
    press.join()


@pytest.mark.parametrize("many", [0, 10**9])
@given(
    portions=st.lists(
        st.lists(st.one_of(st.integers(0, 3), st.sampled_from(["a", "b", "\ud800", "0"]), st.just(2**70)))
    )
)
@settings(max_examples=40)
def test_portions_of_a_column_are_the_column(many: int, portions: list[list[Any]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_builder, "_MANY", many)
        builder = column_builder.ColumnBuilder()
        for portion in [*portions, [cell for cells in portions for cell in cells if type(cell) is str]]:
            builder.add(portion)
        column = builder.column()
    cells = [cell for portion in portions for cell in portion]
    cells += [cell for cell in cells if type(cell) is str]
    assert [column.distinct[code] for code in column.codes] == cells
    assert len(set(column.distinct)) == len(column.distinct)
