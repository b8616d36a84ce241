"""Wrong programs: each gets its message, and nothing but PlxError is ever raised."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plx.errors import PlxError
from plx.source import Source
from plx.syntax import ast
from plx.syntax.grammars import grammar_path
from plx.syntax.parser import parse, recover
from plx.syntax.words import RESERVED, STATEMENTS
from tests.syntax.trees import modules

HERE = Path(__file__).parent
BLOCKS = (HERE / "mistakes.txt").read_text(encoding="utf-8").split("\n\n")[1:]
TERMINALS = re.findall(r"^([A-Z]+)(?:\.-?\d)?:", grammar_path().read_text(encoding="utf-8"), re.MULTILINE)
TERMINAL_TEXTS = re.findall(r'"([^\w\s"]+)"', grammar_path().read_text(encoding="utf-8"))
INTERNAL = re.compile(rf"\b({'|'.join(TERMINALS)})\b|\$END|__|Traceback|Token|None")


def split(block: str) -> tuple[list[str], str]:
    lines = block.strip("\n").split("\n")
    head = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    return head, "\n".join(line for line in lines if not line.startswith("### ")) + "\n"


def mistakes(text: str):
    return recover(Source("wrong.plx", text))[1]


def in_words(diagnostic) -> bool:
    """True where a message shows no name of the grammar outside what it quotes."""
    return not INTERNAL.search(re.sub("`[^`]*`", "", f"{diagnostic.message} {diagnostic.hint or ''}"))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: split(block)[1].strip())
def test_a_broken_statement_gets_its_message(block):
    head, program = split(block)
    (found,) = mistakes(program)
    assert [f"{found.span.column}: {found.message}", *([found.hint] if found.hint else [])] == head
    assert in_words(found)


def test_all_broken_statements_of_one_program_are_reported():
    programs = [split(block)[1] for block in BLOCKS]
    programs = [program for program in programs if program.split()[0].rstrip(":") in STATEMENTS]
    text = "query good\n".join(programs)
    found = mistakes(text)
    assert [d.span.line for d in found] == list(range(1, 2 * len(programs), 2))


def test_the_statements_after_a_mistake_are_read():
    module, found = recover(Source("p", "type A = {a b}\nrandom f(A)\nweight 1 f(a)\nquery f(a)\n"))
    assert [type(s) for s in module.statements] == [ast.RandomDecl, ast.Query]
    assert [d.span.line for d in found] == [1, 3]
    with pytest.raises(PlxError) as caught:
        parse(Source("p", "type A = {a b}\nweight 1 f(a)\n"))
    assert len(caught.value.diagnostics) == 2


def test_mistakes_on_one_line_are_told_apart():
    found = mistakes("type A = {a b} random f(A) weight 1 f(a) query f(a,) query f(a)")
    assert [d.span.column for d in found] == [13, 37, 51]


def test_a_reserved_word_as_name_is_one_mistake():
    (found,) = mistakes("random weight(Person): {low, high}\nquery a\n")
    assert found.message == "`weight` is a reserved word and cannot be a name"


def test_free_text_is_one_mistake():
    (found,) = mistakes("This is what I want to query:\nthe factor of each type, for all.\nquery a\n")
    assert found.span.line == 1


def test_a_mistake_at_the_end_of_a_line_is_shown_there():
    (found,) = mistakes("weight 1.5\n\nquery a\n")
    assert (found.span.line, found.span.column) == (1, 11)
    (found,) = mistakes("type A = {a, b\nrandom f(A)\n")
    assert found.message == "this `{` is never closed"
    assert found.hint == "put a `}` before `random`"


def test_brackets_that_do_not_match_name_both():
    (found,) = mistakes("type A = {\n  a, b\n)\n")
    assert (found.span.line, found.notes[0].span.line) == (3, 1)


# ------------------------------------------------------------- nothing but PlxError

_WORDS = [
    *sorted(RESERVED),
    *TERMINAL_TEXTS,
    *("[", "]", ";", ".", "'", '"', "@", "->", ":=", "&&", "\n", "~", "\u200b"),
    *(
        "x",
        "f",
        "T",
        "None",
        "1",
        "2.5",
        "1e3",
        "3x",
        '"New York"',
        '"open',
        "# comment \n",
        "é",
        "学生",
        "x'",
    ),
    *("Weight", "FOR", "Exists", "implies", "where"),
    *("x ~ flip(0.3)", "0.3::a.", "a :- b, c(x, y).", "P(a | b) = 0.3", "x := 5", "sum_{i}", "A -> B"),
    *("if a then b else c", "a ? b : c", "data {", "EXIST x f(x)", "lambda x: x", "-- a"),
]


def _sound(text: str) -> None:
    """Parses, or gives diagnostics in words that lie inside the text."""
    source = Source("random.plx", text)
    module, found = recover(source)
    assert len(found) > 0 or isinstance(module, ast.Module)
    for diagnostic in found:
        assert in_words(diagnostic)
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)
        assert str(diagnostic)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(_WORDS), max_size=25).map(" ".join))
def test_any_words_in_any_order_are_read_or_refused(text):
    _sound(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_characters_are_read_or_refused(text):
    _sound(text)


GOOD = Path(__file__).parent / "every_statement.plx"


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_a_mutated_program_is_read_or_refused(data):
    text = GOOD.read_text(encoding="utf-8")
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 8)))
        text = text[:start] + data.draw(st.sampled_from(_WORDS) | st.text(max_size=3)) + text[end:]
    _sound(text)


@settings(max_examples=150, deadline=None)
@given(modules, st.data())
def test_a_statement_cut_off_anywhere_is_read_or_refused(module, data):
    from plx.syntax.printer import print_module

    text = print_module(module)
    _sound(text[: data.draw(st.integers(0, len(text)))])
