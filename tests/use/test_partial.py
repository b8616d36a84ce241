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
