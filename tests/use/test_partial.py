"""Mistakes of grammar and of meaning are reported together, without those that merely follow."""

from __future__ import annotations

import pytest

import plx


def mistakes(text: str) -> list[int]:
    with pytest.raises(plx.PlxError) as error:
        plx.compile(text)
    return [found.span.line for found in error.value.diagnostics if found.span]


def test_both_kinds_come_at_once() -> None:
    assert mistakes("random a\nweight 1 a\nquery b\nweight log(0): a") == [2, 3, 4]


def test_what_follows_from_an_unread_declaration_is_left_out() -> None:
    assert mistakes("random a(\nquery a\nrandom c\nquery b") == [1, 4]


def test_a_declaration_without_a_name_leaves_only_the_grammar() -> None:
    assert mistakes("random : {x}\nquery a\nquery b") == [1]


def test_comments_declare_nothing() -> None:
    assert mistakes("# random b is declared below\nweight 1 2\nquery b") == [2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "type T = {a, b\nrandom f(T)\nweight 1: f(a) & f(c)\nquery f(x) for x in {a, b}",
        "tpye T = {a, b}\nrandom f(T)\nweight 1: f(a)\nquery f(x) for x in T",
        "type T = s1..s9)\nrandom f(T)\nquery f(s1)\nquery f(x) for x in s1..s4",
        "random f: {lo, hi\nweight 1: f = lo\nquery f in {hi}",
        "type T = {{a}}\nrandom f(T)\nquery f(a)",
        "type T = {}\nrandom f(T)\nquery f(a)",
        "type T\nrandom f(T)\nweight 1: f(x) for x in a1..a3\nquery f(a)",
        'type T from "no file.csv"\nrandom f(T)\nquery f(x) for x in {a}\nquery f("b c") & a < b',
        'type T from "no file.csv"\ntype S(T) = {a: {u}, else: {v}}\nrandom g(t: T): S(t)\nquery g(a) = u',
    ],
)
def test_what_follows_from_unknown_members_is_left_out(text: str) -> None:
    assert mistakes(text) == [1]


def test_what_follows_from_a_missing_relation_is_left_out() -> None:
    text = 'relation r(T, T) from "no file.csv"\ntype T = {a}\nrandom f(T)\n'
    assert mistakes(text + "query f(x) for x in T if (x, a) in r & r(x, x)") == [1]


def test_a_bad_weight_hides_no_unknown_name() -> None:
    assert mistakes("random a\nweight 1 a\nquery zoo") == [2, 3]
