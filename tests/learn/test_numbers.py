"""Arithmetic of numbers that are still to be learned, and graphs that hold them."""

from __future__ import annotations

from fractions import Fraction

import pytest

import plx
from plx.weights import (
    Affine,
    WeightError,
    add,
    affine,
    compare,
    div,
    exp,
    log,
    mul,
    neg,
    sub,
    text,
    to_float,
)

A, B = affine(0, {"a": 1}), affine(0, {"b": 1})


def test_sums_and_multiples_are_exact() -> None:
    both = add(mul(A, Fraction(1, 3)), mul(log(2), B))
    assert both == Affine(0, (("a", Fraction(1, 3)), ("b", log(2))))
    assert sub(both, both) == 0
    assert add(both, 1) == Affine(1, both.terms)
    assert div(A, 2) == mul(A, Fraction(1, 2)) and neg(A) == mul(A, -1) and mul(A, 0) == 0
    assert hash(add(A, B)) == hash(add(B, A)) and add(A, B) == add(B, A)
    assert text(add(mul(A, 2), 1)) == "2*a + 1"
    assert to_float(add(A, 3)) == 3


@pytest.mark.parametrize("wrong", [lambda: mul(A, B), lambda: div(1, A), lambda: exp(A)])
def test_what_is_not_affine_is_refused(wrong) -> None:
    with pytest.raises(WeightError):
        wrong()


def test_they_have_an_order() -> None:
    numbers = [A, B, add(A, B), add(A, 1), neg(A), 0, 1]
    for x in numbers:
        for y in numbers:
            assert compare(x, y) == -compare(y, x)
            assert (compare(x, y) == 0) == (x == y)
            for z in numbers:
                assert not (compare(x, y) <= 0 and compare(y, z) <= 0) or compare(x, z) <= 0


def test_a_number_that_makes_tables_equal_makes_them_one() -> None:
    text_ = "type T = 1..3 random f(T) learn a = {} learn b = 1 weight a: f(1) weight b: f(2) query f(3)"
    assert plx.compile(text_.format(1)).ground.graph.n_tables == 1
    assert plx.compile(text_.format(2)).ground.graph.n_tables == 2
    assert plx.compile(text_.format(0)).ground.graph.n_factors == 1


def test_symmetries_are_those_of_the_values() -> None:
    text_ = "type T = 1..4 random f(T) learn a(T) = {} weight a(x): f(x) for x in T query f(1)"
    assert plx.compile(text_.format("1")).symmetries().order == 24
    assert plx.compile(text_.format("{1: 2, else: 1}")).symmetries().order == 6
