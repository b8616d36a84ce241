"""Powers, roots, logarithms and exponentials of exact numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cmp_to_key
from typing import Final

from plx import symbolic
from plx.roots import rational_root
from plx.weights.arithmetic import add, compare, div, mul, sub
from plx.weights.doubles import to_float
from plx.weights.expressions import as_expression, canonical
from plx.weights.forms import (
    LARGEST_BITS,
    LogNumber,
    LogSum,
    Number,
    WeightError,
    bits,
    is_rational,
    log_number,
    tidy,
)
from plx.weights.notation import shown

_LARGEST_POWER: Final = 120_000
"""The largest power of e: it has about as many digits as the largest rationals."""


_LARGEST_ROOT: Final = 4096
"""Roots of rationals of more bits than this are refused."""


def power(a: Number, b: Number) -> Number:
    """a to the power of b. Raises WeightError where that is no real number, or far too large."""
    if a == 0 and compare(b, 0) < 0:
        raise WeightError("division by zero: 0 to a negative power")
    if is_rational(b) and Fraction(b).denominator == 1 and is_rational(a):
        if bits(Fraction(a)) * abs(int(b)) > LARGEST_BITS:
            raise WeightError(f"{shown(a)} ^ {shown(b)} is too large")
        return tidy(Fraction(a) ** int(b))
    whole = is_rational(b) and Fraction(b).denominator == 1
    if compare(a, 0) < 0 and not whole:
        raise WeightError(f"{shown(a)} ^ {shown(b)} is no real number")
    if a == 0:
        return 0
    if _size(a) * abs(to_float(b)) > LARGEST_BITS:
        raise WeightError(f"{shown(a)} ^ {shown(b)} is too large")
    if not whole:
        _check_root(a)
    return _whole_power(a, int(b)) if whole else canonical(as_expression(a) ** as_expression(b))  # type: ignore[arg-type]


def _check_root(a: Number) -> None:
    """sympy looks for the prime factors of what it takes a root of."""
    if is_rational(a) and bits(Fraction(a)) > _LARGEST_ROOT:
        raise WeightError(f"{shown(a)} has too many digits for an exact root")


def _whole_power(a: Number, n: int) -> Number:
    """By squares, so that every step can be refused."""
    if n < 0:
        return div(1, _whole_power(a, -n))
    root: Number = 1 if n < 2 else _whole_power(a, n // 2)
    square = mul(root, root)
    return mul(square, a) if n % 2 else square


def _size(a: Number) -> float:
    """How many bits a number has before and after the point, at least 1."""
    if is_rational(a):
        return bits(Fraction(a))
    size = abs(to_float(a))
    return max(1.0, abs(math.log2(size))) if 0 < size < math.inf else float(LARGEST_BITS)


def log(a: Number) -> Number:
    """The natural logarithm. Raises WeightError for a ≤ 0."""
    if compare(a, 0) <= 0:
        raise WeightError(f"log({shown(a)}): the logarithm of a number that is not positive")
    if is_rational(a):
        return log_number(Fraction(0), Fraction(a), 1)
    return canonical(symbolic.load().log(as_expression(a)))


def exp(a: Number) -> Number:
    """e to the power of a. Raises WeightError when it is far too large."""
    if a == 0:
        return 1
    if isinstance(a, LogNumber) and not a.rational and a.root == 1:
        return tidy(a.base)
    if abs(to_float(a)) > _LARGEST_POWER:
        raise WeightError(f"exp({shown(a)}) is too {'large' if compare(a, 0) > 0 else 'small'}")
    return canonical(symbolic.load().exp(as_expression(a)))


def sqrt(a: Number) -> Number:
    """The square root. Raises WeightError for a < 0."""
    if compare(a, 0) < 0:
        raise WeightError(f"sqrt({shown(a)}): the square root of a negative number")
    if is_rational(a):
        root = rational_root(Fraction(a), 2)
        if root is not None:
            return tidy(root)
        _check_root(a)
    return canonical(symbolic.load().sqrt(as_expression(a)))


def logit(a: Number) -> Number:
    """log(a / (1 - a)). Raises WeightError unless 0 < a < 1."""
    if compare(a, 0) <= 0 or compare(a, 1) >= 0:
        raise WeightError(f"logit({shown(a)}): the argument must lie between 0 and 1")
    return log(div(a, sub(1, a)))


def log_sum_exp(numbers: Sequence[Number]) -> Number:
    """log Σ exp(number), of one number or more."""
    ordered = sorted(numbers, key=cmp_to_key(compare))
    least = ordered[0]
    terms = [sub(number, least) for number in ordered]
    powers = [_rational_power(term) for term in terms]
    if all(powers):
        return add(least, log(tidy(sum(filter(None, powers), Fraction(0)))))
    return add(least, LogSum(0, ((tuple(terms), Fraction(1)),)))


def count_terms(number: object) -> int:
    """Of how many terms the sums in a number are, those of sums in sums too; of other numbers 1."""
    if not isinstance(number, LogSum):
        return 1
    return sum((count_terms(term) for terms, _ in number.parts for term in terms), count_terms(number.rest))


def _rational_power(a: Number) -> Fraction | None:
    """exp(a) where that is rational."""
    if a == 0:
        return Fraction(1)
    return a.base if isinstance(a, LogNumber) and not a.rational and a.root == 1 else None
