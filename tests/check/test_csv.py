"""CSV files as people write them: where their cells stand, and what is said of the usual slips."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import plx
from plx.api import load
from plx.data.records import plain_columns, rows
from plx.errors import PlxError
from plx.source import Source

PROGRAM = """
type P = {a, b}
param w(P) from "w.csv"
random g(P): {lo, hi}
weight w(x): g(x) = lo for x in P
observe g from "seen.csv"
query g(b)
"""
FILES = {"w": "P,value\na,1\nb,0.2\n", "seen": "P,value\na,lo\n"}


def said(folder: Path, program: str = PROGRAM, **files: str) -> str:
    """What is said of the program with these files; nothing where all is well."""
    (folder / "p.plx").write_text(program, encoding="utf-8")
    for name, text in {**FILES, **files}.items():
        (folder / f"{name}.csv").write_bytes(text.encode())
    try:
        assert load(folder / "p.plx").run().converged
    except PlxError as error:
        return str(error)
    return ""


# ----------------------------------------------------------------- cells, places


@given(st.text('",;\n\r \tab1', max_size=30), st.sampled_from(",;\t"))
@example("1\n\n", ",")
def test_every_cell_stands_where_its_row_says(text: str, mark: str) -> None:
    source = Source("f.csv", text)
    try:
        found = list(rows(source, mark=mark))
    except PlxError as error:
        (diagnostic,) = error.diagnostics
        assert diagnostic.span is not None and diagnostic.span.text.startswith('"')
        return
    for row in found:
        assert next(rows(source, row[0].start, mark)) == row
        for cell in row:
            part = text[cell.start : cell.end]
            assert part[1:-1].replace('""', '"') == cell.text if part.startswith('"') else part == cell.text
    columns = plain_columns(text, mark)
    if columns is not None:
        assert columns == [[cell.text for cell in column] for column in zip(*found, strict=True)]


@given(st.text('",\nab', max_size=20))
def test_quotes_are_read_as_the_csv_module_reads_them(text: str) -> None:
    try:
        expected = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        with pytest.raises(PlxError):
            list(rows(Source("f.csv", text)))
        return
    assert [[cell.text for cell in row] for row in rows(Source("f.csv", text))] == expected


@pytest.mark.parametrize("blank", [" ", "\t", "  \t "])
@pytest.mark.parametrize("cell", ["a", '"a"', "P", "lo"])
@pytest.mark.parametrize("side", [1, 2, 3])
def test_blanks_at_either_end_of_a_cell_count_for_nothing(
    tmp_path: Path, blank: str, cell: str, side: int
) -> None:
    padded = blank * (side & 1) + cell + blank * (side >> 1)
    seen = re.sub(rf"(?<![^,\n]){cell}(?![^,\n])", padded, 'P,value\n"a",lo\na,lo\n')
    assert padded in seen
    assert said(tmp_path, seen=seen) == ""
    assert said(tmp_path, seen=seen.replace("\n", f"\n{blank}\r\n")) == ""


def test_blanks_between_quotes_are_kept(tmp_path: Path) -> None:
    assert "seen.csv:2:1" in said(tmp_path, seen='P,value\n"a ",lo\n')


def test_rows_with_quotes_in_them_are_told_by_file_and_row(tmp_path: Path) -> None:
    """The quotes of inches begin no cell, and end none."""
    told = said(tmp_path, seen='P,value\na,5"\nb,6"\na,7,8\n')
    assert "seen.csv:4:1: error: this row has 3 cells, the first row has 2 cells" in told
    assert r'seen.csv:3:3: error: `"6\""` is no value of `g`' in said(tmp_path, seen='a,lo\n\nb,6"\n')


# ------------------------------------------------------------------- usual slips


def test_what_is_observed_twice_is_shown_in_its_rows(tmp_path: Path) -> None:
    told = said(tmp_path, seen="P,value\na,lo\nb,hi\na,hi\n")
    assert told.startswith("seen.csv:4:1: error: `g(a)` is observed twice with different values: lo and hi")
    assert "note: observed as lo here (seen.csv:2:1)" in told
    program = PROGRAM.replace("query", "observe g(a) = hi query")
    told = said(tmp_path, program)
    assert "p.plx:7:1: error: `g(a)` is observed twice" in told
    assert "note: observed as lo here (seen.csv:2:1)" in told
    program = PROGRAM.replace("observe", 'observe g from "more.csv" observe')
    told = said(tmp_path, program, more="b,lo\na,hi")
    assert told.startswith("seen.csv:2:1") and "(more.csv:2:1)" in told
    assert said(tmp_path, program, more="b,lo\na,lo") == ""


def test_an_index_that_does_not_exist_is_shown_in_its_row(tmp_path: Path) -> None:
    program = PROGRAM.replace("g(P): {lo, hi}", "g(x: P): {lo, hi} if x != b").replace(
        "for x in P", "for x in {a}"
    )
    told = said(tmp_path, program.replace("g(b)", "g(a)"), seen="a,lo\nb,lo\n")
    assert told.startswith("seen.csv:2:1: error: there is no `g(b)` to observe")


@pytest.mark.parametrize("cell", ["0,1", "-12,5", "3,0e-2"])
def test_a_decimal_comma_is_named(tmp_path: Path, cell: str) -> None:
    told = said(tmp_path, w=f'P,value\nb,3\na,"{cell}"\n')
    assert told.startswith(f"w.csv:3:3: error: `{cell}` is no number")
    assert cell.replace(",", ".") in told
    told = said(tmp_path, w=f"P,value\nb,3\na,{cell}\n")
    assert told.startswith("w.csv:3:1: error: this row has 3 cells") and "decimal point" in told


def test_what_keeps_a_column_from_being_numbers_is_shown(tmp_path: Path) -> None:
    told = said(tmp_path, w="P,value\na,1\nb,n/a\n")
    assert "p.plx:5:8: error: a weight is a number" in told
    assert 'note: `"n/a"` is no number (w.csv:3:3)' in told
    program = PROGRAM.replace('from "w.csv"', "= {a: 1, b: lo}")
    assert "p.plx:3:24)" in said(tmp_path, program).partition("note: `lo` is no number (")[2]


MARKS = pytest.mark.parametrize("mark", [";", "\t", "|"])


def answered(folder: Path, program: str, **files: str) -> list[float]:
    """The answers of a program with these files."""
    assert said(folder, program, **files) == ""
    return [answer.probability for answer in load(folder / "p.plx").run()]


PLAIN = (
    'type P = {a, b} param w(P) from "w.csv" random s(P) weight w(x): s(x) for x in P query s(x) for x in P'
)


@MARKS
def test_a_first_row_that_names_the_columns_shows_what_parts_them(tmp_path: Path, mark: str) -> None:
    wanted = answered(tmp_path, PLAIN, w="P,value\na,1\nb,0.2\n")
    for w in ("P,value\na,1\nb,0.2\n", "value,P\r\n1,a\r\n0.2,b", '"P" , value\n\n"a","1"\n b,0.2\n'):
        assert answered(tmp_path, PLAIN, w=w.replace(",", mark)) == wanted
    program = PLAIN.replace('"w.csv"', '"w.csv" columns ("the one", points)')
    file = f"no{mark}points{mark}the one\n1{mark}0.2{mark}b\n2{mark}1{mark}a\n"
    assert answered(tmp_path, program, w=file) == wanted
    told = said(tmp_path, PLAIN, w=f"P{mark}value\na{mark}1\nb{mark}0,2\n")
    assert told.startswith("w.csv:3:3: error: `0,2` is no number: write a decimal point, 0.2")
    told = said(tmp_path, PLAIN, w=f"P{mark}value\na{mark}1\nb{mark}0.2{mark}3\n")
    assert told.startswith("w.csv:3:1: error: this row has 3 cells") and "hint" not in told
    assert "is missing after the quotes" in said(tmp_path, PLAIN, w=f'P{mark}value\na{mark}"1"2\n')


@MARKS
def test_what_parts_cells_is_not_guessed(tmp_path: Path, mark: str) -> None:
    told = said(tmp_path, PLAIN, w=f"a{mark}1\nb{mark}0.2\n")
    assert told.startswith("w.csv:1:1: error: the cells of `w.csv` are parted by ")
    assert ("call it `w.tsv`" if mark == "\t" else f"or above it the row `P{mark}value`") in told
    program = 'type P from "p.csv" random f(P) query f(a)'
    assert said(tmp_path, program, p=f"value\na\nb\nx{mark}y") == ""
    told = said(tmp_path, program, p=f"id{mark}value\n1{mark}a\n2{mark}b")
    assert "2 columns are given for `P`" in told and '`from "p.csv" columns (…)` names the one' in told


def test_a_first_row_that_could_be_read_in_two_ways_is_refused(tmp_path: Path) -> None:
    program = 'type P = {a, b} param w(x: P) from "w.csv" query w(a)'
    assert "parted by `;`, and should be by commas" in said(tmp_path, program, w="x;value|x\na;1|a\n")
    assert "`x;y` is no column" in said(tmp_path, program, w="x;y,value\na,1\nb,2\n")


def test_the_suffix_tsv_means_tabs(tmp_path: Path) -> None:
    wanted = answered(tmp_path, PLAIN, w="P,value\na,1\nb,0.2\n")
    program = PLAIN.replace("w.csv", "w.tsv")
    for w in ("a\t1\nb\t0.2\n", '\ufeffvalue\t P \r\n1\ta\r\n"0.2"\tb\r\n', "P,value\na,1\nb,0.2\n"):
        (tmp_path / "w.tsv").write_text(w, encoding="utf-8", newline="")
        assert answered(tmp_path, program) == wanted
    (tmp_path / "w.tsv").write_text("a,1\nb,0.2\n")
    assert "call it `w.csv`" in said(tmp_path, program)
    (tmp_path / "w.tsv").write_text("P\tvalue\na\t\nb\t1\n")
    assert said(tmp_path, program).startswith("w.tsv:2:3: error: an empty cell")
    (tmp_path / "w.tsv").write_text("x, y\t1\nb\t1\n")
    program = program.replace("{a, b}", '{"x, y", b}')
    assert said(tmp_path, program) == ""


# ----------------------------------------------------------------- columns by name

WIDE = "id,to,from,since,note\n1,b,a,3,x\n2,c,b,5,\n3,b,a,3,y\n"


def test_some_columns_of_a_wide_file(tmp_path: Path) -> None:
    program = """type P from "wide.csv" columns ("from")
type N(P) from "wide.csv" columns ("from", to)
type Q = {a, b, c}
relation r(Q, Q) from "wide.csv" columns ("from", to)
param since(Q, Q) from "years.csv" columns (x, y, since) else 0
random f(Q)
random g(Q): 0..5
observe f from "wide.csv" columns (to)
observe g from "wide.csv" columns (to, since)
query f(a)
query f(b)
query f(c)
query g(b) = 3 & g(c) = 5
query since(a, b) = 3 & since(b, a) = 0
query count(true for (x, y) in r) = 2 & count(true for x in P) = 2 & count(true for x in N(a)) = 1
"""
    years = "y,x,since\nb,a,3\nc,b,5\n"
    assert answered(tmp_path, program, wide=WIDE, years=years) == [0.5, 1, 1, 1, 1, 1]


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    program = 'type Q = {a, b, c} relation r(x: Q, y: Q) from "wide.csv" columns (from_, "to") query r(a, b)'
    told = said(tmp_path, program, wide=WIDE)
    assert "p.plx:1:68: error: `wide.csv` has no column `from_`" in told
    assert "did you mean `from`?" in told and told.count("error") == 1
    told = said(tmp_path, program.replace("from_", "a"), wide=WIDE)
    assert "its first row: id, to, from, since, note" in told
    told = said(tmp_path, program.replace("from_", "id"), wide=WIDE.replace("note", "id"))
    assert "`wide.csv` has two columns `id`" in told
    told = said(tmp_path, program.replace("from_", 'id, since, "from"'), wide=WIDE)
    assert "4 columns are named for `r`, which has: x, y and maybe value" in told
    told = said(tmp_path, program.replace("from_", "id"), wide=WIDE)
    assert told.startswith("wide.csv:2:1: error: `1` is no member of Q"), "a cell keeps its place in the file"


@pytest.mark.parametrize(
    ("wide", "hint"),
    [
        ("x,y,since\na,b,3\n", "columns (x, y)` reads these alone"),
        ("x,value,y,since\na,true,b,3\n", "columns (x, y, value)` reads these alone"),
        ("x,the other\na,b\n", 'columns (x, "the other")` takes them for x, y'),
        (
            "x,z,u,since\na,b,3,4\n",
            "columns (…)` names those that are wanted, in the order x, y and maybe value",
        ),
        ("a,b,3,4\nb,c,5,6\n", "columns (…)` names those that are wanted, in the order x, y and maybe value"),
    ],
)
def test_a_wide_file_says_how_columns_are_named(tmp_path: Path, wide: str, hint: str) -> None:
    program = 'type Q = {a, b, c} relation r(x: Q, y: Q) from "wide.csv" query r(a, b)'
    assert f'hint: `from "wide.csv" {hint}' in said(tmp_path, program, wide=wide)


def test_strings_of_thousands_of_digits_are_symbols_that_fit_nowhere() -> None:
    with pytest.raises(PlxError, match="is no member"):
        plx.compile("type P = 1..3 param w(P) random f(P) query f(1)", w={"7" * 5000: 1})


@pytest.mark.parametrize(
    ("declared", "text", "columns", "slots"),
    [
        ('relation r(x: Q, y: Q) from "wide.csv"', "newt,night\na,b\n", "newt, night", "x, y"),
        ('param r(x: Q, y: Q) from "wide.csv" else 0', "one,two,p\na,b,1\n", "one, two, p", "x, y, value"),
    ],
)
def test_a_first_row_of_no_members_may_name_columns(
    tmp_path: Path, declared: str, text: str, columns: str, slots: str
) -> None:
    told = said(tmp_path, f"type Q = {{a, b, c}} {declared} query true", wide=text)
    assert (
        f'the first row names the columns, `from "wide.csv" columns ({columns})` takes them for {slots}'
        in told
    )


def test_where_another_row_is_wrong_too_members_are_shown(tmp_path: Path) -> None:
    program = 'type Q = {a, b, c} relation r(x: Q, y: Q) from "wide.csv" query true'
    told = said(tmp_path, program, wide="newt,a\na,b\nd,a\n")
    assert "its members: a, b, c" in told and "names the columns" not in told


def test_a_column_value_beside_others_that_are_no_slots_does_not_stand_alone(tmp_path: Path) -> None:
    program = 'type Q = {a, b, c} random r(x: Q) observe r from "wide.csv" query r(a)'
    told = said(tmp_path, program, wide="newt,value\na,true\n")
    assert 'hint: `from "wide.csv" columns (newt, value)` takes them for x, value' in told


# ----------------------------------------------------------------- a heading or a member


@pytest.mark.parametrize(
    ("first", "rest", "told"),
    [("Name", "anna", True), ("year", "1999", True), ("cleo", "anna", False), ("1998", "1999", False)],
)
def test_a_first_member_that_may_be_a_heading_is_told(
    tmp_path: Path, first: str, rest: str, told: bool
) -> None:
    (tmp_path / "t.csv").write_text(f"{first}\n{rest}\n", encoding="utf-8")
    (tmp_path / "t.plx").write_text('type T from "t.csv"\nrandom f(T)\nquery f(x) for x in T\n')
    assert [found.code for found in load(tmp_path / "t.plx").warnings if found.code == "PLX111"] == [
        "PLX111"
    ] * told
