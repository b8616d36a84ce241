"""Files and Python values: what they become, and what is said when they cannot be read."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plx.check.program import Program
from plx.data import parse_binding
from plx.data.cells import column_of_text, convert, from_text
from plx.errors import PlxError
from plx.values import Value, Values
from tests.compiling import compile_text

PROGRAM = """
type Person
type Level = 0..9
param w(s: Person)
relation friends(x: Person, y: Person)
random smokes(p: Person)
random level(p: Person): Level
"""

PEOPLE = {"Person": ["anna", "bob"], "w": {"anna": 1, "bob": 2}, "friends": []}


def compiled(folder: Path | None = None, **bindings: object) -> Program:
    return compile_text(PROGRAM, folder, **{**PEOPLE, **bindings})


def facts(program: Program, name: str = "friends") -> set[tuple[object, ...]]:
    return {tuple(program.values[i] for i in row) for row in program.relations[name].facts.tolist()}


def table(program: Program, name: str = "w") -> dict[object, object]:
    info, values = program.params[name], program.values
    keys = [tuple(values[i] for i in row) for row in info.index.tolist()]
    return {k if len(k) > 1 else k[0]: values[v] for k, v in zip(keys, info.value.tolist(), strict=True)}


def seen(program: Program, name: str) -> dict[object, object]:
    values = program.values
    return {
        values[key[0]]: values[value]
        for evidence in program.evidence
        if evidence.random == name
        for key, value in zip(evidence.index.tolist(), evidence.value.tolist(), strict=True)
    }


def members(program: Program, name: str = "Person") -> list[object]:
    return [program.values[i] for i in program.types[name].members.tolist()]


def mistakes(**bindings: object) -> str:
    with pytest.raises(PlxError) as caught:
        compiled(**bindings)
    return str(caught.value)


# ------------------------------------------------------------------------------- files


def from_files(folder: Path, program: str, **files: str | bytes) -> Program:
    for name, content in files.items():
        raw = content.encode() if isinstance(content, str) else content
        (folder / f"{name}.csv").write_bytes(raw)
    return compile_text(program, folder)


def file_mistakes(folder: Path, program: str, **files: str | bytes) -> str:
    with pytest.raises(PlxError) as caught:
        from_files(folder, program, **files)
    return str(caught.value)


WEIGHTS = 'type P = {anna, bob}\nparam w(s: P) from "w.csv"\n'
FACTS = 'type P = {anna, bob}\nrelation r(x: P, y: P) from "r.csv"\n'


@pytest.mark.parametrize(
    "content",
    [
        "anna,1.5\nbob,0.70\n",
        "s,value\nanna,1.5\nbob,0.7",
        "value,s\r\n1.5,anna\r\n0.7,bob\r\n",
        '\ufeff"s","value"\n"anna","1.5"\n\nbob,7e-1\n',
        "s, value\nanna, 1.5\nbob, 0.7\n",
    ],
)
def test_a_param_from_a_file(tmp_path: Path, content: str) -> None:
    assert table(from_files(tmp_path, WEIGHTS, w=content)) == {"anna": Fraction(3, 2), "bob": Fraction(7, 10)}


def test_cells_stay_as_they_are(tmp_path: Path) -> None:
    text = '007\n7\n7.50\n-3\n1e3\n"New York"\n"a ""b"", c"\ntrue\n李雷\nNone\n'
    program = from_files(tmp_path, 'type P from "p.csv"\n', p=text)
    assert members(program, "P") == [
        "007", 7, "7.50", -3, "1e3", "New York", 'a "b", c', True, "李雷", "None",
    ]  # fmt: skip


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")).filter(bool))
def test_any_text_is_itself_or_a_number(text: str) -> None:
    value = from_text(text)
    assert value == text or text in ("true", "false") or str(float(text)) == str(float(value))


def test_numbers_in_a_slot_of_numbers(tmp_path: Path) -> None:
    text = 'type L = 0..9\nrelation r(L, L) from "r.csv"\n'
    assert facts(from_files(tmp_path, text, r="007,1.0\n+2,3\n"), "r") == {(7, 1), (2, 3)}


def test_symbols_that_look_like_numbers(tmp_path: Path) -> None:
    text = 'type P = {"1", "true"}\nrelation r(P) from "r.csv"\n'
    assert facts(from_files(tmp_path, text, r="1\ntrue\n"), "r") == {("1",), ("true",)}


def test_a_relation_with_a_value_column(tmp_path: Path) -> None:
    content = "x,y,value\nanna,bob,true\nbob,bob,false\nbob,anna,0\n"
    assert facts(from_files(tmp_path, FACTS, r=content), "r") == {("anna", "bob")}


def test_the_header_orders_the_columns(tmp_path: Path) -> None:
    assert facts(from_files(tmp_path, FACTS, r="y,x\nanna,bob\n"), "r") == {("bob", "anna")}


@pytest.mark.parametrize("header", ["P,P\n", ""])
def test_slots_without_names(tmp_path: Path, header: str) -> None:
    text = 'type P = 1..3\nrelation r(P, P) from "r.csv"\n'
    assert facts(from_files(tmp_path, text, r=header + "1,2\n2,3\n"), "r") == {(1, 2), (2, 3)}


@pytest.mark.parametrize("header", ["P\n", "value\n", ""])
def test_a_type_with_a_header(tmp_path: Path, header: str) -> None:
    program = from_files(tmp_path, 'type P from "p.csv"\n', p=header + "anna\nbob\n")
    assert members(program, "P") == ["anna", "bob"]


def test_a_family_from_a_file(tmp_path: Path) -> None:
    text = 'type A = {t, u, v}\ntype C(a: A) from "c.csv"\n'
    program = from_files(tmp_path, text, c="a,value\nt,x\nu,y\nt,z\n")
    info, values = program.types["C"], program.values
    found = {values[k[0]]: [values[i] for i in ids.tolist()] for k, ids in info.family.items()}
    assert found == {"t": ["x", "z"], "u": ["y"], "v": []}


def test_observations_from_a_file(tmp_path: Path) -> None:
    text = "type P = {anna, bob}\nrandom f(p: P): {1, 2, c}\nrandom g(p: P)\n"
    text += 'observe f from "f.csv"\nobserve g from "g.csv"\n'
    program = from_files(tmp_path, text, f="anna,2\nbob,c\n", g="anna\n")
    assert seen(program, "f") == {"anna": 2, "bob": "c"}
    assert seen(program, "g") == {"anna": True}


@pytest.mark.parametrize(
    ("content", "where", "message"),
    [
        ("anna,1\nbob\n", "w.csv:2:1", "this row has 1 cell, the first row has 2 cells"),
        ("anna,1\nbob,1,2\n", "w.csv:2:1", "this row has 3 cells, the first row has 2 cells"),
        ("anna,1,2\nbob,1,2\n", "w.csv:1:1", "3 columns are given for `w`, which has: s, value"),
        ("s,vale\nanna,1\n", "w.csv:1:3", "`vale` is no column of `w`"),
        ("s,vale\nanna,1\n", "w.csv:1:3", "did you mean `value`?"),
        ("S,Value\nanna,1\n", "w.csv:1:1", "did you mean `s`?"),
        ("value,value\n1,1\n", "w.csv:1:7", "two columns are called `value`"),
        ("s\nanna\n", "w.csv:1:1", "`w` needs a column `value`"),
        ("anna,1\neva,2\n", "w.csv:2:1", "`eva` is no member of P"),
        ("anna,1\nann,2\n", "w.csv:2:1", "did you mean `anna`?"),
        ("anna,1\nbob,\n", "w.csv:2:5", "an empty cell"),
        ("anna,1\nanna,2\nbob,3\n", "w.csv:2:1", "`w` has two entries for anna"),
        ("anna,1\n", "test.plx:2:7", "`w` has no entry for bob"),
        ("", "test.plx:2:15", "`w.csv` is empty"),
        ("\n\n", "test.plx:2:15", "`w.csv` is empty"),
        ('anna,1\n"bob,2\n', "w.csv:2:1", "this quote is not closed"),
        ('anna,1\n"bob" b,2\n', "w.csv:2:1", "a comma is missing after the quotes"),
        (b"anna,1\nb\xf6b,2\n", "w.csv:2:2", "byte 0xf6 is not UTF-8 text"),
        (b"\xef\xbb\xbfanna,1\nb\xf6b,2\n", "w.csv:2:2", "byte 0xf6 is not UTF-8 text"),
        ("anna,1\nb\0b,2\n", "w.csv:2:2", "byte 0x00 stands in no text"),
        ('anna,1\n"bo\nb",2\n', "w.csv:2:1", "is no member of P"),
        ("s,value,x", "w.csv:1:9", "`x` is no column of `w`"),
        ("anna,1\reva,2\r", "w.csv:1:8", "`eva` is no member of P"),
        ('anna,1\r"bob,2\r', "w.csv:1:8", "this quote is not closed"),
    ],
)
def test_mistakes_in_a_file(tmp_path: Path, content: str | bytes, where: str, message: str) -> None:
    said = file_mistakes(tmp_path, WEIGHTS, w=content)
    assert message in said and where in said


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    text = WEIGHTS + 'param v(P) from "missing.csv"\nweight w(x): smoks(x) for x in P\n'
    said = file_mistakes(tmp_path, text, w="anna,1\nbob,oops,2\n")
    assert "this row has 3 cells" in said
    assert "there is no file" in said and "missing.csv" in said
    assert "`smoks` is not declared" in said


def test_many_wrong_rows_are_summed_up(tmp_path: Path) -> None:
    said = file_mistakes(tmp_path, FACTS, r="".join(f"anna,z{i}\n" for i in range(100)))
    assert "`z0` is no member of P" in said and "and 95 more rows like this" in said


def test_a_mistake_in_a_large_file_is_located(tmp_path: Path) -> None:
    rows = "".join("anna,bob\n" for _ in range(5000))
    assert "r.csv:5002:6" in file_mistakes(tmp_path, FACTS, r=f'"x","y"\n{rows}anna,carl\n')


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)] * 2), min_size=1
    ),
    st.sampled_from(",;\t|"),
)
def test_files_are_read_as_the_csv_module_writes_them(rows: list[tuple[str, str]], mark: str) -> None:
    from plx.data.csv_file import _columns
    from plx.data.records import plain_columns
    from plx.source import Source

    out = io.StringIO()
    csv.writer(out, delimiter=mark).writerows(rows)
    text = out.getvalue()
    expected = [list(column) for column in zip(*rows, strict=True)]
    if not any(cell.strip(" \t") != cell or not cell for row in rows for cell in row):
        assert _columns(Source("f.csv", text), mark) == expected
        assert plain_columns(text, mark) in (None, expected)


# -------------------------------------------------------------------------- Python values


@pytest.mark.parametrize(
    "people",
    [
        ["anna", "bob"],
        ("anna", "bob"),
        {"anna": 1, "bob": 2},
        np.array(["anna", "bob"]),
        np.array([["anna"], ["bob"]]),
        pandas.Series(["anna", "bob"]),
        pandas.Series(["anna", "bob"], dtype="category"),
        {"bob", "anna"},
        pandas.DataFrame({"whatever": ["anna", "bob"]}),
        polars.Series(["anna", "bob"]),
        polars.DataFrame({"Person": ["anna", "bob"]}),
        (name for name in ("anna", "bob")),
    ],
    ids=lambda value: type(value).__module__ + type(value).__name__,
)
def test_members(people: object) -> None:
    assert members(compiled(Person=people)) == ["anna", "bob"]


class Arrow:
    """As much of a pyarrow table as is needed."""

    def __init__(self, columns: dict[str, list[object]]) -> None:
        self.column_names = list(columns)
        self._columns = columns

    def __iter__(self) -> object:
        raise AssertionError("a table is no list of rows")

    def column(self, name: str) -> Arrow.Column:
        return Arrow.Column(self._columns[name])

    class Column:
        def __init__(self, cells: list[object]) -> None:
            self.cells = cells

        def to_pylist(self) -> list[object]:
            return self.cells


@pytest.mark.parametrize(
    "weights",
    [
        {"anna": 0.1, "bob": 2},
        [("anna", 0.1), ("bob", 2)],
        [["anna", 0.1], ["bob", 2]],
        np.array([["anna", 0.1], ["bob", 2]], dtype=object),
        pandas.DataFrame({"value": [0.1, 2], "s": ["anna", "bob"]}),
        pandas.DataFrame({"value": ["anna", "bob"], "s": [0.1, 2]}).set_axis([0, 1], axis=1),
        pandas.DataFrame([["anna", 0.1], ["bob", 2]]),
        pandas.Series({"anna": 0.1, "bob": 2}),
        polars.DataFrame({"s": ["anna", "bob"], "value": [0.1, 2]}),
        Arrow({"value": [0.1, 2], "s": ["anna", "bob"]}),
        {"s": ["anna", "bob"], "value": [0.1, 2]},
        {"anna": np.float32(0.1), "bob": np.int8(2)},
        {"anna": Decimal("0.1"), "bob": Fraction(2)},
        np.array([("anna", 0.1), ("bob", 2)], dtype=[("s", "U5"), ("value", "f8")]),
    ],
    ids=lambda value: type(value).__module__ + type(value).__name__,
)
def test_params(weights: object) -> None:
    assert table(compiled(w=weights)) == {"anna": Fraction(1, 10), "bob": 2}


@pytest.mark.parametrize(
    "pairs",
    [
        [("anna", "bob"), ("bob", "bob"), ("anna", "bob")],
        {("anna", "bob"): True, ("bob", "bob"): True, ("anna", "anna"): False},
        np.array([["anna", "bob"], ["bob", "bob"]]),
        pandas.DataFrame({"y": ["bob", "bob"], "x": ["anna", "bob"]}),
        polars.DataFrame({"x": ["anna", "bob"], "y": ["bob", "bob"]}),
        {"x": ["anna", "bob"], "y": ["bob", "bob"]},
        {("anna", "bob"), ("bob", "bob")},
        pandas.DataFrame({"x": ["anna", "bob", "bob"], "y": ["bob", "bob", "anna"], "value": [1, 1, 0]}),
    ],
    ids=lambda value: type(value).__module__ + type(value).__name__,
)
def test_facts(pairs: object) -> None:
    assert facts(compiled(friends=pairs)) == {("anna", "bob"), ("bob", "bob")}


def test_observations() -> None:
    program = compiled(smokes=["anna"], level={"bob": np.int64(3)})
    assert seen(program, "smokes") == {"anna": True}
    assert seen(program, "level") == {"bob": 3}
    program = compiled(smokes={"anna": False, "bob": np.True_})
    assert seen(program, "smokes") == {"anna": False, "bob": True}
    program = compiled(smokes=pandas.DataFrame({"p": ["anna", "bob"], "value": [0, 1.0]}))
    assert seen(program, "smokes") == {"anna": False, "bob": True}


def test_truth_values_and_numbers_are_apart() -> None:
    assert members(compile_text("type P", P=[1, True, 0, False]), "P") == [1, True, 0, False]


def test_nested_dicts() -> None:
    text = "type A = {t, u}\ntype C(A)\ntype D(A, A)\nparam p(A, A)"
    program = compile_text(
        text,
        C={"t": ["x", "y"], "u": []},
        D={"t": {"t": ["z"]}, "u": {"u": ("x",)}},
        p={"t": {"t": 1, "u": 2}, "u": {"t": 3, "u": 4}},
    )
    assert members(program, "C") == ["x", "y"]
    assert len(program.types["D"].family) == 4
    assert table(program, "p")[("u", "t")] == 3


def test_scalars_override_what_the_program_gives() -> None:
    text = "param w = 1\nparam ok = false\nparam c = 2\nrandom z\nweight w: z"
    program = compile_text(text, w=0.1, ok=np.True_, c="red")
    assert program.values[program.rules[0].weight.id] == Fraction(1, 10)
    text = 'type P = {a}\nrelation r(P) from "missing.csv"'
    assert facts(compile_text(text, r=["a"]), "r") == {("a",)}


def test_a_path_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("anna\nbob\n")
    assert members(compiled(Person=tmp_path / "people.csv")) == ["anna", "bob"]


@pytest.mark.parametrize(
    ("bindings", "message"),
    [
        ({"w": {"anna": float("nan"), "bob": 1}}, "nan is not a number"),
        ({"w": {"anna": float("nan"), "bob": 1}}, "in row 1 of what is given for `w`"),
        ({"w": pandas.DataFrame({"s": ["anna", "bob"], "value": [1, np.inf]})}, "an infinite number"),
        ({"w": pandas.DataFrame({"s": ["anna", "bob"], "value": [1, np.inf]})}, "in row 2"),
        ({"w": pandas.DataFrame({"s": ["anna", None], "value": [1, 2]})}, "a value is missing here"),
        ({"w": pandas.DataFrame({"s": ["anna"], "vale": [1]})}, "`vale` is no column of `w`"),
        ({"w": 3}, "what is given for `w` cannot be used: it is the int `3`, not a list"),
        ({"w": [1, 2, 3]}, "the array given for `w` has 3 cells, its slots have 2 members"),
        ({"w": [("anna", 1), ("bob",)]}, "its rows have different lengths, 1 and 2"),
        ({"w": [("anna", 1), "bob"]}, "some of its rows are tuples and some are not"),
        ({"w": {"anna": object(), "bob": 1}}, "a Python `object` is no symbol"),
        ({"w": {"anna": [1], "bob": 1}}, "each cell must be a symbol, a number or a truth value"),
        ({"w": {"anna": 1, "eve": 1}}, "`eve` is no member of Person, in row 2"),
        ({"w": {"anna": 1}}, "`w` has no entry for bob"),
        ({"w": np.zeros((2, 2, 2))}, "it has 3 dimensions"),
        ({"Person": "people.csv"}, "there is no file `people.csv`"),
        ({"Person": "anna"}, "--bind Person=anna, (with a comma)"),
        ({"Person": []}, "the type `Person` is empty"),
        ({"Person": ["anna", "anna"]}, "`Person` has two entries for anna"),
        (
            {"friends": [("anna", "bob", "carl")]},
            "a value is true or false, not `carl`",
        ),
        ({"friends": [("anna", "bob", "3 x")]}, 'a value is true or false, not `"3 x"`'),
        ({"friends": [("anna", "bob", "1")]}, 'a value is true or false, not `"1"`'),
        ({"level": {"anna": 11}}, "`11` is no value of `level`"),
        ({"level": ["anna"]}, "a column `value` is needed"),
        ({"smokes": {"anna": 2}}, "`2` is no value of `smokes`"),
        ({"smokes": {"anna": 2}}, "its values: false, true"),
        ({"Persn": ["anna"]}, "a value is given for `Persn`"),
        ({"Persn": ["anna"]}, "did you mean `Person`?"),
    ],
)
def test_mistakes_in_python_values(bindings: dict[str, object], message: str) -> None:
    assert message in mistakes(**bindings)


def test_a_define_cannot_be_given() -> None:
    with pytest.raises(PlxError, match="is a define"):
        compile_text("random z\ndefine d = z", d=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w=0.7", ("w", Fraction(7, 10))),
        ("n=3", ("n", 3)),
        ("w = -1e-3", ("w", Fraction(-1, 1000))),
        ("w=3/2", ("w", Fraction(3, 2))),
        ("ok=true", ("ok", True)),
        ("c=red", ("c", "red")),
        ('c="7"', ("c", "7")),
        ("Person=anna,bob", ("Person", ["anna", "bob"])),
        ("Person=people.csv", ("Person", Path("people.csv"))),
        ("Person=data/people", ("Person", Path("data/people"))),
        ("p=a=b.csv", ("p", Path("a=b.csv"))),
    ],
)
def test_bindings_on_the_command_line(text: str, expected: tuple[str, object]) -> None:
    assert parse_binding(text) == expected


@pytest.mark.parametrize("text", ["Person", "=3", "w=", ""])
def test_bindings_without_a_value(text: str) -> None:
    with pytest.raises(ValueError, match="--bind NAME=VALUE"):
        parse_binding(text)


@pytest.mark.parametrize(
    "path", ["", ".", "a\0b.csv", "x" * 5000 + ".csv", "w.csv/w.csv", "\\\\?\\C:\\w.csv"]
)
def test_paths_that_are_no_files(tmp_path: Path, path: str) -> None:
    (tmp_path / "w.csv").write_text("anna\n")
    with pytest.raises(PlxError) as caught:
        compile_text(f'type P from "{path}"\nrandom f(P)\nquery f(anna)', folder=tmp_path)
    (found,) = caught.value.diagnostics
    assert found.span is not None and found.span.line == 1


# -------------------------------------------------------------------- many at once

CELLS = [
    "",
    "0",
    "-1",
    "-0",
    "0.5",
    "00",
    "true",
    "false",
    "tru",
    "a",
    "b",
    ":",
    "Ä",
    "-x",
    "1e3",
    " a",
    "9z",
]


@pytest.mark.parametrize("seed", range(20))
def test_many_symbols_have_the_ids_of_one_by_one(seed: int) -> None:
    """Symbols that are known, new, and given twice; also among numbers and truth values."""
    rng = np.random.default_rng(seed)
    pool: list[Value] = [*"abcdef", *((True, 1, Fraction(1, 2)) if seed % 2 else ())]
    together, alone = Values(), Values()
    for _ in range(5):
        some = [pool[i] for i in rng.integers(len(pool), size=rng.integers(0, 8))]
        assert together.ids(some).tolist() == [alone.id(value) for value in some]
        assert [together[i] for i in range(len(together))] == [alone[i] for i in range(len(alone))]
        plain = [isinstance(together[i], str | bool) for i in range(len(together))]
        assert np.isnan(together.floats(np.arange(len(together)))).tolist() == plain


@pytest.mark.parametrize("seed", range(30))
def test_a_column_is_read_as_its_cells_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = [CELLS[i] for i in rng.integers(len(CELLS) if seed % 3 else 3, size=rng.integers(1, 6))]
    cells += ["x", "y"] * (seed % 2)
    column = column_of_text(cells)
    assert [column.distinct[code] for code in column.codes] == cells
    found, mistakes = convert(column, loose=False)
    assert [code for code, _ in mistakes] == [i for i, cell in enumerate(column.distinct) if not cell]
    kept = [i for i, cell in enumerate(column.distinct) if cell]
    expected = [from_text(column.distinct[i]) for i in kept]
    assert [(type(found[i]), found[i]) for i in kept] == [(type(value), value) for value in expected]
