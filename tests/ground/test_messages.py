"""Mistakes that only the ground instances show: each names the place, the instance and what to change."""

from __future__ import annotations

import pytest

from plx.errors import NoWorldError, PlxError
from plx.ground.condition import condition
from tests.ground.programs import grounded

HEADER = """
type T = t1..t4
type L = 0..3
relation e(T, T) = {(t1, t2)}
random b(T)
random m(x: T, y: T) if x < y
random n(T): L
"""

MISTAKES = [
    ("weight 1: m(x, y) for x, y in T", ["`m(t1, t1)`", "its guard excludes it", "x = t1, y = t1"]),
    ("weight 1: b(x) & m(x, t1) for x in T if x = t2", ["`m(t2, t1)`", "x = t2"]),
    ("weight 1: exists(m(x, y) for y in T) for x in T", ["`m(t1, t1)`", "y = t1"]),
    ("observe m(t2, t1)", ["`m(t2, t1)`"]),
    ("observe m(x, t1) for x in T", ["`m(t1, t1)`", "x = t1"]),
    ("observe b(t1)\nobserve !b(t1)", ["`b(t1)` is observed twice", "true and false", "program.plx:8:1"]),
    ("observe n(t1) = 1\nobserve n(x) = 2 for x in T", ["`n(t1)`", "1 and 2", "program.plx:8:1"]),
    ("observe n(x) = y for x in T, y in L", ["`n(t1)` is observed twice", "0 and 1"]),
    ("observe n(x) = y + 3 for x in T, y in 1..1", ["`n(t1)` cannot be 4", "0, 1, 2, 3"]),
    ("observe b(x) for x in T\nrequire !b(x) for x in T if x > t2", ["no world", "x = t3", "program.plx:9"]),
    ("require b(t1)\nrequire b(t2)\nrequire !b(t1)", ["no world", "program.plx:10:1"]),
    ("require n(t1) = n(t2)\nrequire n(t1) = 0\nrequire n(t2) = 1\nrequire n(t1) != n(t2)", ["no world"]),
    ("weight log(i - 1): b(t1) for i in 0..1", ["log(-1)", "not positive"]),
    ("factor n(t1) / n(t2)", ["division by zero"]),
]


@pytest.mark.parametrize(("text", "words"), MISTAKES)
def test_mistake(text: str, words: list[str]) -> None:
    with pytest.raises(PlxError) as caught:
        grounded(HEADER + text)
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert caught.value.diagnostics[0].span is not None


@pytest.mark.parametrize(
    "given",
    [
        "b(t1) & !b(t1)",
        "n(t1) = 1, n(t1) = 2",
        "false",
        "b(t1), b(t1) xor b(t1)",
        "b(t4)",
        "exists(b(x) & b(t4) for x in T)",
    ],
)
def test_a_given_that_cannot_hold(given: str) -> None:
    model = grounded(HEADER + f"observe !b(t4)\nquery b(t2) given {given}")
    with pytest.raises(NoWorldError, match="probability 0"):
        condition(model, model.queries[0].given)


def test_formulas_protect_terms_that_do_not_exist() -> None:
    model = grounded(
        HEADER
        + "weight 1: x < y & m(x, y) for x, y in T\n"
        + "weight 1: m(x, y) & x < y for x, y in T\n"
        + "weight 1: x < y => m(x, y) for x, y in T\n"
        + "weight 1: exists(m(x, y) for y in T if y > x) for x in T\n"
        + "weight 1: !(x < y & m(x, y)) | b(x) for x, y in T\n"
    )
    assert model.graph.n_factors > 0


@pytest.mark.parametrize(
    ("declaration", "size"),
    [
        ("random f(T, T, T)", "has 125,000,000,000 indexes (about 18,000.0 GB)"),
        ("random f(x: T, y: T, z: T) if x < y", "has up to 125,000,000,000 indexes (about 18,000.0 GB)"),
        ("random f(x: T, y: T, z: 1..x)", "has up to "),
    ],
)
def test_a_random_function_that_is_too_large_says_how_large(declaration: str, size: str) -> None:
    with pytest.raises(PlxError) as caught:
        grounded(f"type T = 1..5000\n{declaration}")
    assert size in str(caught.value)
