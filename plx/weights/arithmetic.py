"""Sums, products and comparisons of exact numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Final

from plx import symbolic
from plx.roots import primitive
from plx.weights.doubles import to_float
from plx.weights.expressions import as_expression, canonical, symbolic_product, symbolic_sum
from plx.weights.forms import (
    LARGEST_BITS,
    Affine,
    LogNumber,
    LogSum,
    Number,
    Symbolic,
    WeightError,
    as_log,
    bits,
    checked,
    is_rational,
    log_number,
    sum_of_logs,
    tidy,
)
from plx.weights.notation import shown

_LARGEST_RATIO: Final = 1000
"""A quotient of logs is recognised as a fraction of numbers up to this."""


def add(a: Number, b: Number) -> Number:
    """The exact sum. Raises WeightError if it is out of all proportion."""
    if is_rational(a) and is_rational(b):
        return tidy(checked(a + b))
    if isinstance(a, Affine) or isinstance(b, Affine):
        return _affine_sum(a, b)
    if isinstance(a, LogSum) or isinstance(b, LogSum):
        return _merged(a, b)
    if isinstance(a, Symbolic) or isinstance(b, Symbolic):
        return symbolic_sum(a, b)
    found = sum_of_logs(as_log(a), as_log(b))
    return symbolic_sum(a, b) if found is None else found


def _merged(a: Number, b: Number) -> Number:
    """The sum of two numbers, one of them with log sums: equal ones are counted together."""
    times: dict[tuple[Number, ...], Fraction] = {}
    rest: Number = 0
    for number in (a, b):
        rest = add(rest, number.rest if isinstance(number, LogSum) else number)
        for terms, count in number.parts if isinstance(number, LogSum) else ():
            times[terms] = times.get(terms, Fraction(0)) + count
    parts = [(terms, count) for terms, count in times.items() if count]
    parts.sort(key=lambda part: ([to_float(term) for term in part[0]], part[1], repr(part[0])))
    return LogSum(rest, tuple(parts)) if parts else rest  # type: ignore[arg-type]


def _affine(a: Number) -> Affine:
    return a if isinstance(a, Affine) else Affine(a, ())


def _affine_sum(a: Number, b: Number) -> Number:
    left, right = _affine(a), _affine(b)
    coefficients = dict(left.terms)
    for name, coefficient in right.terms:
        coefficients[name] = add(coefficients.get(name, 0), coefficient)
    return affine(add(left.constant, right.constant), coefficients)


def affine(constant: Number, coefficients: Mapping[str, Number]) -> Number:
    """``constant`` + Σ coefficient · learned number, which is a plain number where all coefficients are 0."""
    terms = tuple(sorted((name, k) for name, k in coefficients.items() if k != 0))
    return Affine(constant, terms) if terms else constant  # type: ignore[arg-type]


def _scaled(a: Affine, factor: Number) -> Number:
    if isinstance(factor, Affine):
        raise WeightError("a product of learned numbers")
    return affine(mul(a.constant, factor), {name: mul(k, factor) for name, k in a.terms})


def total(numbers: Sequence[Number]) -> Number:
    """The exact sum of any number of numbers: neighbours first, so that few sums have many digits."""
    if any(isinstance(number, Affine) for number in numbers):
        parts = [_affine(number) for number in numbers]
        coefficients: dict[str, list[Number]] = {}
        for name, k in chain.from_iterable(part.terms for part in parts):
            coefficients.setdefault(name, []).append(k)
        constant = total([part.constant for part in parts])
        return affine(constant, {name: total(found) for name, found in coefficients.items()})
    while len(numbers) > 1:
        pairs = zip(numbers[::2], numbers[1::2], strict=False)
        numbers = [add(a, b) for a, b in pairs] + list(numbers[len(numbers) & ~1 :])
    return numbers[0] if numbers else 0


def neg(a: Number) -> Number:
    """The number with the other sign."""
    if isinstance(a, LogNumber):
        return LogNumber(-a.rational, 1 / a.base, a.root)
    if isinstance(a, LogSum | Affine):
        return mul(a, -1)
    return canonical(-a.expression) if isinstance(a, Symbolic) else -a


def sub(a: Number, b: Number) -> Number:
    """The exact difference."""
    return add(a, neg(b))


def mul(a: Number, b: Number) -> Number:
    """The exact product. Raises WeightError if it is out of all proportion."""
    if is_rational(a) and is_rational(b):
        return tidy(checked(a * b))
    if isinstance(a, Affine):
        return _scaled(a, b)
    if isinstance(b, Affine):
        return _scaled(b, a)
    if is_rational(b):
        a, b = b, a
    if is_rational(a) and isinstance(b, LogSum):
        scaled = tuple((terms, times * Fraction(a)) for terms, times in b.parts)
        return LogSum(mul(a, b.rest), scaled) if a else 0  # type: ignore[arg-type]
    if not (is_rational(a) and isinstance(b, LogNumber)):
        return symbolic_product(a, b)
    factor = Fraction(a)
    if not factor:
        return 0
    power, root = factor.numerator, b.root * factor.denominator
    shared = math.gcd(power, root)
    power, root = power // shared, root // shared
    base, root = primitive(b.base, root)
    if bits(base) * abs(power) > LARGEST_BITS:
        return canonical(as_expression(a) * as_expression(b))
    return log_number(b.rational * factor, base**power, root)


def div(a: Number, b: Number) -> Number:
    """The exact quotient. Raises WeightError for a divisor of 0."""
    if b == 0:
        raise WeightError("division by zero")
    if is_rational(b):
        return mul(a, tidy(1 / Fraction(b)))
    if isinstance(a, LogNumber) and isinstance(b, LogNumber):
        ratio = _ratio(a, b)
        if ratio is not None:
            return ratio
    if isinstance(b, Affine):
        raise WeightError("a division by a learned number")
    if isinstance(a, Affine):
        return _scaled(a, div(1, b))
    return 1 if a == b else canonical(as_expression(a) / as_expression(b))


def _ratio(a: LogNumber, b: LogNumber) -> Number | None:
    """a / b where it is a fraction of small numbers, such as that of log(9/100) and log(10/3)."""
    near = to_float(a) / to_float(b)
    if not abs(near) < _LARGEST_RATIO:
        return None
    ratio = tidy(Fraction(near).limit_denominator(_LARGEST_RATIO))
    return ratio if mul(b, ratio) == a else None


def mod(a: Number, b: Number) -> Number:
    """The remainder with the sign of the divisor, as in Python."""
    if b == 0:
        raise WeightError("remainder of a division by zero")
    if not (is_rational(a) and is_rational(b)):
        raise WeightError("`%` needs rational numbers")
    return tidy(Fraction(a) % Fraction(b))


def floor(a: Number) -> int:
    """The largest integer that is not above a. Raises WeightError for an irrational past 2^53."""
    if is_rational(a):
        return math.floor(a)
    near = to_float(a)
    if abs(near) > 2.0**53:
        raise WeightError(f"floor({shown(a)}): the number is too large")
    whole = math.floor(near)
    return whole - (compare(a, whole) < 0) + (compare(a, whole + 1) >= 0)


def compare(a: Number, b: Number) -> int:
    """-1, 0 or 1 as a is less than, equal to or greater than b; never decided by rounding.

    Sums of learned numbers, which have no value, are put into an order that means nothing.
    """
    if is_rational(a) and is_rational(b):
        return (a > b) - (a < b)
    if a == b:
        return 0
    if isinstance(a, Affine) or isinstance(b, Affine):
        difference = sub(a, b)
        return compare(difference.terms[0][1] if isinstance(difference, Affine) else difference, 0)
    x, y = to_float(a), to_float(b)
    if abs(x - y) > 1e-9 * (abs(x) + abs(y)):
        return 1 if x > y else -1
    difference = sub(a, b)
    if difference == 0:
        return 0
    return symbolic.sign(as_expression(difference))
