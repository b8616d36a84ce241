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


@given(st.text('",\n\r \tab1', max_size=30))
@example("1\n\n")
def test_every_cell_stands_where_its_row_says(text: str) -> None:
    source = Source("f.csv", text)
    try:
        found = list(rows(source))
    except PlxError as error:
        (diagnostic,) = error.diagnostics
        assert diagnostic.span is not None and diagnostic.span.text.startswith('"')
        return
    for row in found:
        assert next(rows(source, row[0].start)) == row
        for cell in row:
            part = text[cell.start : cell.end]
            assert part[1:-1].replace('""', '"') == cell.text if part.startswith('"') else part == cell.text
    columns = plain_columns(text)
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


@pytest.mark.parametrize(("mark", "words"), [(";", "`;`"), ("\t", "tabs"), ("|", "`|`")])
def test_other_marks_than_commas_are_seen(tmp_path: Path, mark: str, words: str) -> None:
    for w in ("P,value\na,1\nb,0.2\n", "value,P\n1,a\n0.2,b\n", "a,1\nb,0.2\n", '"P","value"\n'):
        told = said(tmp_path, w=w.replace(",", mark).replace("0.2", "0,2"))
        assert told.startswith(f"w.csv:1:1: error: the cells of `w.csv` are parted by {words}")
        assert "hint: write `" in told
    program = 'type P from "p.csv" random f(P) query f(a)'
    assert said(tmp_path, program, p=f"value\na\nb\nx{mark}y") == ""
    assert words in said(tmp_path, program, p=f"id{mark}value\n1{mark}a\n2{mark}b")


def test_strings_of_thousands_of_digits_are_symbols_that_fit_nowhere() -> None:
    with pytest.raises(PlxError, match="is no member"):
        plx.compile("type P = 1..3 param w(P) random f(P) query f(1)", w={"7" * 5000: 1})
