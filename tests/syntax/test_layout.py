"""Formatting: the same words and comments, in a layout that formatting again does not change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plx.errors import PlxError, width
from plx.formatting import formatted
from plx.source import Source
from plx.syntax.comments import gaps
from plx.syntax.layout import WIDTH
from plx.syntax.parser import parse, split
from plx.syntax.printer import print_module
from tests.syntax.trees import modules

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted([*ROOT.glob("examples/**/*.plx"), *ROOT.glob("tests/**/good/*.plx")])


def layout(text: str) -> str:
    return formatted(Source("test", text))


def words(text: str) -> list[str]:
    return [word.text for word in split(Source("test", text))]


def comments(text: str) -> list[str]:
    source = Source("test", text)
    return [comment.text for gap in gaps(source, split(source)) for comment in gap.comments]


def holds(text: str) -> None:
    """What formatting promises of any program."""
    found = layout(text)
    assert words(found) == words(text)
    assert comments(found) == comments(text)
    assert parse(Source("test", found)) == parse(Source("test", text))
    assert layout(found) == found
    assert not re.search(r"[ \t]$|\n\n\n|\A\n|\n\n\Z", found, re.MULTILINE if "#" not in text else 0)


_separators = st.sampled_from(
    [" ", " ", " ", "\n", "\n\n\n", "  # why\n", "\n# so\n", " #a\n#b\n\n  # c\n", "\r\n"]
)


@st.composite
def commented(draw) -> str:
    """A random program with comments and line breaks between any two words, and at both ends."""
    listed = words(print_module(draw(modules)))
    parts = [draw(_separators)]
    for word in listed:
        parts += [word, draw(_separators)]
    return "".join(parts)


@settings(max_examples=120, deadline=None)
@given(commented())
def test_random_programs_with_comments_anywhere(text):
    holds(text)


@settings(max_examples=100, deadline=None)
@given(modules)
def test_blanks_stand_where_the_printer_puts_them(module):
    def plain(text: str) -> str:
        return re.sub(r"(?<=\d) / (?=\d)", "/", text)

    for statement in module.statements:
        printed = print_module(type(module)((statement,), module.source))
        if width(printed.rstrip()) <= WIDTH:
            assert plain(layout(printed)) == plain(printed)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_whole_programs(path):
    holds(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/**/*.plx")), ids=lambda path: path.name)
def test_the_examples_are_formatted(path):
    text = path.read_text(encoding="utf-8")
    assert layout(text) == text


def test_a_line_a_statement_and_one_blank_line_at_most():
    text = "\n\n  type T={a,b}   random f(T)\n\n\n\nweight 1:f(x)for x in T\n\n"
    assert layout(text) == "type T = {a, b}\nrandom f(T)\n\nweight 1: f(x) for x in T\n"


def test_rules_on_adjacent_lines_have_their_for_in_a_column():
    text = """\
weight 1: f(x) for x in T
weight 2: f(x) & g(x) for x in T  # both
require !h

weight 12: f(x) for x in T
"""
    assert (
        layout(text)
        == """\
weight 1: f(x)        for x in T
weight 2: f(x) & g(x) for x in T  # both
require !h

weight 12: f(x) for x in T
"""
    )


def test_comments_after_adjacent_lines_stand_in_a_column():
    assert layout("param a = 1 # one\nparam long = 2   # two\n# end") == (
        "param a = 1     # one\nparam long = 2  # two\n# end\n"
    )


def test_long_statements_break_at_clauses_then_operators_then_brackets():
    text = (
        "weight 1.25: " + " & ".join(f"neighbour(x, y, place{i})" for i in range(8))
        + " => infected(y) for x, y in Person, p in Place if x != y\n"
        + "define long(x: T) = count(" + " | ".join(f"seen(x, y, place{i})" for i in range(8))
        + " for y in T) > 2\n"
        + "param cost(City) = {" + ", ".join(f"city{i}: {i}.5" for i in range(14)) + "}"
    )  # fmt: skip
    assert (
        layout(text)
        == """\
weight 1.25: neighbour(x, y, place0) & neighbour(x, y, place1) & neighbour(x, y, place2)
            & neighbour(x, y, place3) & neighbour(x, y, place4) & neighbour(x, y, place5)
            & neighbour(x, y, place6) & neighbour(x, y, place7) => infected(y)
    for x, y in Person, p in Place if x != y
define long(x: T) = count(
    seen(x, y, place0) | seen(x, y, place1) | seen(x, y, place2) | seen(x, y, place3)
        | seen(x, y, place4) | seen(x, y, place5) | seen(x, y, place6) | seen(x, y, place7)
    for y in T
) > 2
param cost(City) = {
    city0: 0.5, city1: 1.5, city2: 2.5, city3: 3.5, city4: 4.5, city5: 5.5, city6: 6.5, city7: 7.5,
    city8: 8.5, city9: 9.5, city10: 10.5, city11: 11.5, city12: 12.5, city13: 13.5
}
"""
    )


def test_braces_that_a_line_break_follows_keep_their_rows():
    text = """\
param p(A, B) = {  # a table
  (a, b): 0.25,(a, c): 0.75,

    # rarely
  (b, b): 1  # always
  , else: 0}
"""
    assert (
        layout(text)
        == """\
param p(A, B) = {  # a table
    (a, b): 0.25, (a, c): 0.75,
    # rarely
    (b, b): 1,  # always
    else: 0
}
"""
    )


def test_words_are_kept_as_they_are_written():
    text = "query not (f == (0.50)) and g | !h | -x^-2 < 3/2 | 1e3 * 2 / 3 + .5 in {1. ..3, 1. + x}\n"
    assert layout(text) == text


def test_line_breaks_of_windows_are_kept():
    assert layout("type T = {a}\r\n\r\n\r\n# b\r\n") == "type T = {a}\r\n\r\n# b\r\n"


def test_nothing_but_comments_and_nothing_at_all():
    assert layout("") == ""
    assert layout("  # a\n\n\n#b") == "# a\n\n#b\n"


def test_a_program_with_mistakes_is_refused():
    with pytest.raises(PlxError, match="a `:` is missing"):
        layout("weight 1 f")


def test_long_tables_fill_lines():
    text = "relation r(T, T) = {" + ", ".join(f"(a{i}, a{i + 1})" for i in range(2000)) + "}"
    found = layout(text)
    assert words(found) == words(text)
    lines = found.splitlines()
    assert all(WIDTH - 20 < len(line) <= WIDTH for line in lines[1:-2])


@pytest.mark.parametrize(
    "inner", ["({})", "(!(a & b | (c + {} * 2 < 3)))", "{{a, {}}} = b", "count({} for x in T) > 1"]
)
def test_deeply_nested_programs(inner):
    text = "x"
    for _ in range(30):
        text = inner.format(text)
    holds(f"query {text}\n")
    holds(f"query {text}\n".replace("x", "x # why\n"))
