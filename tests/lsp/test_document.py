"""What editors are told of a program, without the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plx.lsp.completion import completions
from plx.lsp.document import RenameError, read
from plx.lsp.hover import hover
from plx.lsp.occurrences import occurrences
from plx.lsp.positions import from_editor, to_editor
from plx.source import Source
from plx.syntax import ast
from plx.syntax.parser import parse, split
from plx.syntax.printer import print_module
from tests.syntax.trees import modules

TEXT = """\
type Person = {anna, bob}
type Level = 0..4
relation friends(Person, Person) = {(anna, bob)}
random smokes(Person)
random level(x: Person): Level
define both(x: Person, y: Person) = smokes(x) & smokes(y)
weight 1: both(x, y) for (x, y) in friends
weight 0.5: smokes(x) => exists(level(y) > 2 for y in Person if y != x) for x in Person
observe smokes(anna)
query both(anna, bob) as x
"""


def document(text: str = TEXT):
    return read(Source("test", text), Path())


def place(part: str, text: str = TEXT, after: int = 0) -> int:
    return text.index(part) + after


def lines_of(found) -> list[int]:
    return [one.span.line for one in found]


@pytest.mark.parametrize(
    ("part", "after", "lines", "defined"),
    [
        ("smokes(Person)", 0, [4, 6, 6, 8, 9], 4),
        ("Person = ", 0, [1, 3, 3, 4, 5, 6, 6, 8, 8], 1),
        ("both(x, y) for", 5, [7, 7], 7),
        ("smokes(x) &", 7, [6, 6], 6),
        ("level(y)", 6, [8, 8, 8], 8),
        ("!= x", 3, [8, 8, 8], 8),
        ("anna)\nquery", 0, [1, 3, 9, 10], 1),
    ],
)
def test_names_stand_for_the_same_where_they_are_bound_alike(part, after, lines, defined) -> None:
    here = document()
    one = here.at(place(part, after=after))
    assert lines_of(here.alike(one)) == lines
    assert here.definition(one).span.line == defined


def test_tuples_bind_new_names_and_use_what_is_known() -> None:
    text = TEXT + "query smokes(x) for (x, y) in friends, (y, bob) in friends, (x, _) in friends\n"
    here = document(text)
    assert here.diagnostics == ()
    assert lines_of(here.alike(here.at(place("bob) in", text)))) == [1, 3, 10, 11]
    known = here.at(place("y, bob", text))
    assert not known.defines and len(here.alike(known)) == 2


@settings(max_examples=100, deadline=None)
@given(modules)
def test_all_names_of_random_programs_are_found_once(module) -> None:
    """Every name of the text, but for labels and columns, is one occurrence that spans it."""
    source = Source("printed", print_module(module))
    tree = parse(source)
    found = occurrences(tree)
    spans = [(one.span.start, one.span.end) for one in found]
    assert len(set(spans)) == len(spans)
    named = {(word.start, word.end) for word in split(source) if word.type == "NAME"}
    left_out = {
        (name.span.start, name.span.end)
        for statement in tree.statements
        for name in [
            *([statement.label] if isinstance(statement, ast.Query) and statement.label else []),
            *columns(statement),
        ]
        if isinstance(name, ast.Name)
    }
    anything = {span for span in named if source.text[slice(*span)] == ast.ANYTHING}
    assert named - left_out - anything <= set(spans)
    assert not left_out & set(spans)


def columns(statement) -> tuple:
    file = statement.file if isinstance(statement, ast.ObserveFrom) else getattr(statement, "value", None)
    return file.columns if isinstance(file, ast.File) else ()


def test_renaming_changes_every_place_and_no_other() -> None:
    here = document()
    edits = here.renamed(here.at(place("anna")), "New York")
    text = TEXT
    for one, name in reversed(edits):
        text = text[: one.span.start] + name + text[one.span.end :]
    assert text == TEXT.replace("anna", '"New York"')
    assert document(text).diagnostics == here.diagnostics == ()


@pytest.mark.parametrize("name", ["smokes", "bob", "y", "for", "1"])
def test_a_name_that_would_mean_something_else_is_refused(name) -> None:
    here = document()
    with pytest.raises(RenameError):
        here.renamed(here.at(place("level(x")), name)


def told(part: str, after: int = 0, text: str = TEXT) -> str:
    found = hover(document(text), place(part, text, after))
    return found[1] if found else ""


def test_hovering_tells_domains_instances_and_expansions() -> None:
    assert "random level(x: Person): Level" in told("level(x")
    assert "2 unknowns" in told("level(x") and "5 values each" in told("level(x")
    assert "2 unknowns, 1 of them observed" in told("smokes(Person)")
    assert "smokes(anna) & smokes(bob)" in told("both(anna")
    assert "2 members: anna, bob" in told("Person = ")
    assert "1 fact" in told("friends(P")
    assert "y in Person" in told("level(y)", 6)
    assert "a symbol of `Person`" in told("anna")
    assert told("weight 1", 1).startswith("1 ground instance, ")
    assert told("{anna", 0) == ""


def test_hovering_tells_what_it_can_of_a_program_with_mistakes() -> None:
    text = TEXT + "query nobody(anna)\n"
    assert "random smokes(Person)" in told("smokes(Person)", 0, text)


def test_completion_offers_what_is_declared_and_the_variables_of_the_statement() -> None:
    found = dict(completions(document(), place("level(y)")))
    assert found["smokes"] == "declared" and found["anna"] == "symbol" and found["forall"] == "word"
    assert found["x"] == found["y"] == "variable"
    assert "x" not in dict(completions(document(), place("observe smokes")))


@given(st.text("a𝄞é\n\r#\t", max_size=30), st.data())
def test_places_come_back(text, data) -> None:
    source = Source("test", text)
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] != "\r\n" and text[offset:][:1] != "\n":
        stripped = source.line(source.position(offset)[0])
        if source.position(offset)[1] - 1 <= len(stripped):
            assert from_editor(source, *to_editor(source, offset)) == offset


def test_columns_are_utf_16() -> None:
    source = Source("test", "𝄞a\nb")
    assert to_editor(source, 2) == (0, 3)
    assert from_editor(source, 0, 3) == 2
    assert from_editor(source, 7, 0) == 4
