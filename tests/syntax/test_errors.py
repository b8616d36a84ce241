"""Diagnostics as text: place, excerpt, caret, notes and hints; and the places of a source."""

from __future__ import annotations

import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plx.errors import Diagnostic, Note, PlxError, did_you_mean, excerpt, nearest, render
from plx.source import Source, Span


def marked(text: str, start: int, end: int) -> list[str]:
    return excerpt(Span(Source("p.plx", text), start, end))


def test_a_diagnostic_has_place_excerpt_notes_and_hint():
    source = Source("p.plx", "type A = {a}\ntype A = {b}\n")
    first, second = Span(source, 5, 6), Span(source, 18, 19)
    found = Diagnostic("`A` is declared twice", second, "take another name", (Note("first here", first),))
    assert render(found) == (
        "p.plx:2:6: error: `A` is declared twice\n"
        "  2 | type A = {b}\n"
        "    |      ^\n"
        "  note: first here (p.plx:1:6)\n"
        "  1 | type A = {a}\n"
        "    |      ^\n"
        "  hint: take another name"
    )


def test_a_diagnostic_without_place_is_a_line():
    assert render(Diagnostic("no model")) == "error: no model"


def test_all_diagnostics_of_an_error_are_printed():
    error = PlxError([Diagnostic("one"), Diagnostic("two")])
    assert str(error) == "error: one\n\nerror: two"
    assert pickle.loads(pickle.dumps(error)).diagnostics == error.diagnostics


def test_the_caret_is_as_wide_as_the_span():
    assert marked("abc def", 4, 7) == ["  1 | abc def", "    |     ^^^"]


def test_a_span_over_lines_is_marked_to_the_end_of_its_first():
    assert marked("ab cd\nef", 3, 8) == ["  1 | ab cd", "    |    ^^"]


def test_line_breaks_of_windows_are_not_shown():
    assert marked("ab\r\ncd\r\n", 4, 6) == ["  2 | cd", "    | ^^"]
    assert marked("ab\r\n", 2, 2) == ["  1 | ab", "    |   ^"]


@pytest.mark.parametrize("text", ["", "ab", "ab\n", "\n"])
def test_the_end_of_a_text_has_a_caret(text):
    _, caret = marked(text, len(text), len(text))
    assert caret.endswith("^")
    assert caret.count("^") == 1


def test_tabs_are_shown_as_spaces():
    assert marked("\ta\tb", 3, 4) == ["  1 |     a    b", "    |          ^"]


def test_wide_and_combining_characters_keep_the_caret_in_place():
    assert marked("学生 = x", 5, 6) == ["  1 | 学生 = x", "    |        ^"]
    assert marked("学生 = x", 0, 2) == ["  1 | 学生 = x", "    | ^^^^"]
    assert marked("e\u0301 x", 3, 4) == ["  1 | e\u0301 x", "    |   ^"]


def test_invisible_characters_are_shown():
    assert marked("a\u200bb\x1b[31m", 1, 2) == ["  1 | a�b�[31m", "    |  ^"]


def test_a_long_line_is_cut_around_the_caret():
    text = "a" * 5000 + "WRONG" + "b" * 5000
    line, caret = marked(text, 5000, 5005)
    assert len(line) < 120
    assert line[caret.index("^") : caret.rindex("^") + 1] == "WRONG"
    assert line.startswith("  1 | …")
    assert line.endswith("…")


def test_a_long_span_is_marked_as_far_as_shown():
    line, caret = marked("x" * 300, 0, 300)
    assert caret.count("^") == 100
    assert line == f"  1 | {'x' * 100}…"


@given(st.text(alphabet="ab\n\r\t学\u0301\u200b \ud800", max_size=300), st.data())
def test_any_span_of_any_text_has_one_line_and_carets(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    line, caret = marked(text, start, end)
    assert not set("\n\r\t") & set(line + caret)
    assert set(caret.split("|", 1)[1]) <= {" ", "^"}
    assert "^" in caret
    (line + caret).encode()


@given(st.text(alphabet="ab\n", max_size=60), st.data())
def test_positions_count_lines_and_columns_from_one(text, data):
    offset = data.draw(st.integers(0, len(text)))
    before = text[:offset]
    expected = (before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)
    assert Source("p", text).position(offset) == expected


def test_the_nearest_name_differs_in_case_or_a_little():
    assert nearest("Smokes", ["smoke", "smokes"]) == "smokes"
    assert nearest("smoks", ["friends", "smokes"]) == "smokes"
    assert nearest("x", ["friends", "smokes", "x"]) is None
    assert did_you_mean("smoks", ["smokes"]) == "did you mean `smokes`?"
    assert did_you_mean("x", []) is None


def test_the_nearest_of_many_names_is_found_fast():
    names = [f"person{i}" for i in range(100_000)]
    start = time.process_time()
    assert nearest("Person77", names) == "person77"
    assert nearest("persn77", names) == "person77"
    assert nearest("zzz", names) is None
    assert time.process_time() - start < 20
