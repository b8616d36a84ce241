"""Exact numbers: identity is decided exactly, and doubles follow."""

from __future__ import annotations

import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plx import weights
from plx.operators import OPERATIONS, apply
from plx.values import FALSE, IMPOSSIBLE, TRUE, ZERO, Values
from plx.weights import LogNumber, LogSum, Number, Symbolic, WeightError, parse, text, to_float

half = Fraction(1, 2)
rationals = st.fractions(min_value=-20, max_value=20, max_denominator=30)
positive = st.fractions(min_value=Fraction(1, 30), max_value=30, max_denominator=30)
logs = st.builds(
    lambda r, q, k: weights.add(r, weights.mul(k, weights.log(q))),
    rationals,
    positive,
    st.fractions(min_value=-3, max_value=3, max_denominator=6),
)
numbers = st.one_of(st.integers(-50, 50), rationals, logs)


def of(source: str) -> Number:
    """Evaluates an expression in Python syntax with exact numbers in place of its literals."""
    names = {name: OPERATIONS[name] for name in ("log", "exp", "sqrt", "logit")}
    names |= {"add": weights.add, "mul": weights.mul, "q": parse, "pow": weights.power}
    return eval(source, {"__builtins__": {}}, names)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("add(log(2), log(3))", "log(6)"),
        ("add(q('0.1'), q('0.2'))", "q('0.3')"),
        ("mul(q('0.5'), log(4))", "log(2)"),
        ("log(sqrt(2))", "mul(q('0.5'), log(2))"),
        ("exp(mul(2, log(3)))", "9"),
        ("exp(log(sqrt(2)))", "sqrt(2)"),
        ("mul(sqrt(2), sqrt(3))", "sqrt(6)"),
        ("sqrt(add(3, mul(2, sqrt(2))))", "add(1, sqrt(2))"),
        ("pow(2, q('0.5'))", "sqrt(2)"),
        ("logit(q('0.75'))", "log(3)"),
        ("mul(log(2), log(3))", "mul(log(3), log(2))"),
        ("mul(exp(1), exp(2))", "exp(3)"),
        ("q('1e3')", "1000"),
        ("add(mul(q('0.123456789'), log(2)), mul(q('0.876543211'), log(2)))", "log(2)"),
    ],
)
def test_one_number_however_it_is_written(one: str, other: str) -> None:
    a, b = of(one), of(other)
    values = Values()
    assert a == b
    assert hash(a) == hash(b)
    assert values.id(a) == values.id(b)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("q('0.3')", "q('0.3000000001')"),
        ("log(2)", "q('0.693147180559945309417232121458')"),
        ("add(1, q('1e-30'))", "1"),
        ("sqrt(2)", "q('1.4142135623730950488016887242')"),
        ("log(q('3.3348e-4165'))", "log(q('3.3349e-4165'))"),
    ],
)
def test_different_numbers_stay_apart(one: str, other: str) -> None:
    assert of(one) != of(other)
    assert weights.compare(of(one), of(other)) == -weights.compare(of(other), of(one)) != 0


@given(numbers, numbers, numbers)
def test_addition_is_a_commutative_group(a: Number, b: Number, c: Number) -> None:
    assert weights.add(a, b) == weights.add(b, a)
    assert weights.add(weights.add(a, b), c) == weights.add(a, weights.add(b, c))
    assert weights.add(a, 0) == a
    assert weights.sub(a, a) == 0
    assert weights.sub(weights.add(a, b), b) == a


@given(rationals, numbers, numbers)
def test_rationals_distribute(k: Fraction, a: Number, b: Number) -> None:
    assert weights.mul(k, weights.add(a, b)) == weights.add(weights.mul(k, a), weights.mul(k, b))
    if k:
        assert weights.mul(Fraction(1) / k, weights.mul(k, a)) == a


@given(numbers, numbers)
def test_doubles_follow(a: Number, b: Number) -> None:
    assert to_float(weights.add(a, b)) == pytest.approx(to_float(a) + to_float(b), abs=1e-9)
    order = weights.compare(a, b)
    assert order == -weights.compare(b, a)
    if abs(to_float(a) - to_float(b)) > 1e-9:
        assert order == (1 if to_float(a) > to_float(b) else -1)


@given(positive, positive)
def test_log_turns_products_into_sums(a: Fraction, b: Fraction) -> None:
    assert weights.log(a * b) == weights.add(weights.log(a), weights.log(b))
    assert to_float(weights.log(a)) == pytest.approx(math.log(a), abs=1e-14)
    assert weights.exp(weights.log(a)) == a


def test_logs_far_outside_the_range_of_doubles() -> None:
    tiny = weights.log(parse("3.3348e-4165"))
    assert isinstance(tiny, LogNumber)
    assert to_float(tiny) == pytest.approx(math.log(3.3348) - 4165 * math.log(10), rel=1e-15)
    near_one = weights.log(Fraction(10**30 + 1, 10**30))
    assert to_float(near_one) == pytest.approx(1e-30, rel=1e-15)


@pytest.mark.parametrize(
    ("op", "arguments", "words"),
    [
        ("/", (1, 0), "division by zero"),
        ("%", (1, 0), "division by zero"),
        ("^", (0, -1), "division by zero"),
        ("^", (-1, half), "no real number"),
        ("^", (10, 10**9), "too large"),
        ("log", (0,), "not positive"),
        ("log", (-3,), "not positive"),
        ("sqrt", (-1,), "negative"),
        ("logit", (1,), "between 0 and 1"),
        ("exp", (10**9,), "too large"),
    ],
)
def test_impossible_arithmetic_says_so(op: str, arguments: tuple[Number, ...], words: str) -> None:
    with pytest.raises(WeightError, match=words):
        apply(op, *arguments)


@pytest.mark.parametrize("bad", ["", "x", ".", "1e", "nan", "inf", "1e999999999", "1 2"])
def test_what_is_no_number(bad: str) -> None:
    with pytest.raises(WeightError):
        parse(bad)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (3, "3"),
        (Fraction(-3, 10), "-0.3"),
        (Fraction(1, 3), "1/3"),
        (weights.log(6), "log(6)"),
        (weights.log(half), "-log(2)"),
        (weights.add(1, weights.mul(half, weights.log(2))), "1 + log(2)/2"),
        (weights.sqrt(2), "sqrt(2)"),
    ],
)
def test_numbers_are_written_exactly(number: Number, written: str) -> None:
    assert text(number) == written


@pytest.mark.parametrize(
    ("op", "arguments", "result"),
    [
        ("xor", (True, True, True), True),
        ("=>", (True, False), False),
        ("=>", (False, False), True),
        ("<=>", (False, False), True),
        ("=", (1, True), False),
        ("=", ("a", "a"), True),
        ("<", (1, weights.log(3)), True),
        ("%", (-1, 3), 2),
        ("abs", (weights.log(half),), weights.log(2)),
        ("min", (2, weights.log(7), 3), weights.log(7)),
        ("max", (2, weights.log(7), 3), 3),
        ("-", (1, half), half),
    ],
)
def test_operators(op: str, arguments: tuple[object, ...], result: object) -> None:
    assert apply(op, *arguments) == result


def test_values_give_one_id_to_equal_values() -> None:
    values = Values()
    assert (values.id(False), values.id(True), values.id(0)) == (FALSE, TRUE, ZERO)
    assert values.id(1) != TRUE
    assert values.id("1") != values.id(1)
    assert values.id(Fraction(4, 2)) == values.id(2)
    assert values.find("nobody") is None
    floats = values.floats(np.array([ZERO, IMPOSSIBLE, values.id(half), values.id("a")]))
    np.testing.assert_array_equal(floats, [0, -np.inf, 0.5, np.nan])


def test_sympy_is_imported_only_where_it_must_be() -> None:
    code = (
        "import sys; from plx.weights import log, add, mul; from fractions import Fraction as F;"
        "mul(F(1,3), add(log(2), log(3))); assert 'sympy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_symbolic_only_where_needed() -> None:
    assert isinstance(weights.sqrt(2), Symbolic)
    assert weights.mul(weights.sqrt(2), weights.sqrt(2)) == 2
    assert isinstance(weights.mul(weights.log(2), Fraction(37, 100)), LogNumber)


@given(numbers)
def test_floor_is_the_whole_part_of_any_number(number: Number) -> None:
    whole = weights.floor(number)
    assert type(whole) is int
    assert weights.compare(whole, number) <= 0 < weights.compare(whole + 1, number)


def test_floor_is_decided_exactly() -> None:
    barely = weights.sub(3, weights.exp(-60))
    assert (to_float(barely), weights.floor(barely)) == (3.0, 2)
    assert weights.floor(-half) == -1
    assert weights.floor(Fraction(10**40 + 1, 3)) == (10**40 + 1) // 3
    with pytest.raises(WeightError, match="too large"):
        weights.floor(weights.exp(50))


@pytest.mark.parametrize("power", [0, 3, 20, 21, 4300, 20_000])
def test_numbers_of_any_length_have_a_text(power: int) -> None:
    big = 10**power + 3
    assert Decimal(text(big)) == Decimal(big)
    over = Fraction(big, 3)
    numerator, denominator = text(over).split("/")
    assert (Decimal(numerator), denominator) == (Decimal(big), "3")
    assert len(weights.shown(big)) < 70


@pytest.mark.parametrize("op", ["log", "sqrt", "logit", "exp"])
def test_mistakes_with_very_long_numbers_are_short(op: str) -> None:
    with pytest.raises(WeightError) as caught:
        apply(op, -(10**6000))
    assert len(str(caught.value)) < 200


@given(st.lists(numbers, min_size=1, max_size=4), numbers)
def test_log_sums_are_exact_and_their_order_does_not_show(terms: list[Number], shift: Number) -> None:
    total = weights.log_sum_exp(terms)
    expected = np.logaddexp.reduce([to_float(term) for term in terms])
    assert to_float(total) == pytest.approx(expected, abs=1e-9)
    assert weights.log_sum_exp(terms[::-1]) == total
    assert weights.log_sum_exp([weights.add(term, shift) for term in terms]) == weights.add(total, shift)
    twice = weights.add(total, total)
    assert twice == weights.mul(2, total)
    assert weights.sub(twice, total) == total
    assert weights.sub(total, total) == 0
    assert weights.compare(twice, weights.add(twice, 1)) == -1


def test_log_sums_become_logs_where_they_can() -> None:
    assert weights.log_sum_exp([half, half]) == weights.add(half, weights.log(2))
    assert weights.log_sum_exp([weights.log(2), weights.log(3), 0]) == weights.log(6)
    left = weights.log_sum_exp([0, 1])
    assert isinstance(left, LogSum)
    assert to_float(weights.log_sum_exp([left, 1])) == pytest.approx(math.log(1 + 2 * math.e), abs=1e-15)
    assert text(left) == "0 + 1*log(exp(0) + exp(1))"
    assert weights.compare(left, weights.log_sum_exp([0, Fraction("1.00000000000000000001")])) == -1


@given(st.lists(numbers, max_size=9))
def test_totals_are_sums(found: list[Number]) -> None:
    one_by_one: Number = 0
    for number in found:
        one_by_one = weights.add(one_by_one, number)
    assert weights.total(found) == one_by_one


@pytest.mark.parametrize("exponent", [5, 200, 3000, 100_000])
def test_powers_of_e_are_never_rounded_to_zero(exponent: int) -> None:
    small, large = weights.exp(-exponent), weights.exp(exponent)
    assert weights.compare(small, 0) == 1
    assert weights.compare(small, weights.exp(-exponent - 1)) == 1
    assert weights.mul(small, large) == 1


def test_what_cancels_is_zero() -> None:
    nested = of("sqrt(add(5, mul(2, sqrt(6))))")
    assert weights.sub(weights.sub(nested, of("sqrt(2)")), of("sqrt(3)")) == 0


@pytest.mark.parametrize("root", [1_000_000_007, 10**18 + 3, (2**61 - 1) ** 2])
def test_roots_of_large_order(root: int) -> None:
    """No prime factor of the order that is larger than the number has bits can be taken out."""
    tiny = weights.div(weights.log(2), root)
    assert tiny == LogNumber(Fraction(0), Fraction(2), root)
    assert weights.mul(tiny, root) == weights.log(2)
    assert to_float(tiny) == pytest.approx(math.log(2) / root)


@pytest.mark.parametrize("size", [309, 5000, 50_000])
def test_numbers_of_any_size_have_a_double(size: int) -> None:
    large, small = weights.power(10, size), weights.power(10, -size)
    assert to_float(weights.add(large, weights.log(2))) == math.inf
    assert to_float(weights.neg(weights.add(large, weights.log(2)))) == -math.inf
    assert to_float(weights.add(small, weights.log(2))) == math.log(2)
    assert to_float(weights.add(large, weights.sqrt(2))) == math.inf
