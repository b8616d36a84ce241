"""Exact numbers as expressions of sympy, and back in the simplest form that they have."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from plx import symbolic
from plx.roots import primitive
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
    log_number,
    sum_of_logs,
    tidy,
)

_MOST_TERMS: Final = 2000
"""Symbolic sums of more terms than this are refused."""


def as_expression(a: Number) -> Any:
    """The number as an expression of sympy. Raises WeightError for a number that is still to be learned."""
    if isinstance(a, Affine):
        raise WeightError("a function of a learned number")
    if isinstance(a, Symbolic):
        return a.expression
    if isinstance(a, LogSum):
        sums = (
            as_expression(times) * symbolic.log_of_sum(map(as_expression, terms)) for terms, times in a.parts
        )
        return sum(sums, as_expression(a.rest))
    if isinstance(a, LogNumber):
        log = symbolic.load().log(symbolic.rational(a.base))
        return symbolic.rational(a.rational) + log / a.root
    return symbolic.rational(Fraction(a))


def canonical(expression: Any) -> Number:
    """The canonical form of an expression."""
    return _simplest(symbolic.expanded(expression))


def symbolic_sum(a: Number, b: Number) -> Number:
    """The sum of what is in canonical form, and so is again; WeightError if it is very long."""
    expression = as_expression(a) + as_expression(b)
    if symbolic.term_count(expression) > _MOST_TERMS:
        raise WeightError(f"a sum of more than {_MOST_TERMS:,} irrational numbers")
    return _simplest(expression)


def symbolic_product(a: Number, b: Number) -> Number:
    """The product; WeightError where writing it out is out of all proportion."""
    left, right = as_expression(a), as_expression(b)
    if symbolic.term_count(left) * symbolic.term_count(right) > _MOST_TERMS:
        raise WeightError(f"a product of more than {_MOST_TERMS:,} irrational numbers")
    return canonical(left * right)


def _simplest(expression: Any) -> Number:
    """An expanded expression, back in a simpler form where it has one."""
    try:
        simpler = _from_terms(list(symbolic.linear(expression)))
    except ValueError:
        simpler = None
    if simpler is not None:
        return simpler
    digits = symbolic.digits(expression)
    if digits is None:
        raise WeightError(f"{symbolic.text(expression, 'the result')} is no real number")
    return 0 if digits == "0" else Symbolic(digits, expression)


def _from_terms(terms: Sequence[tuple[Fraction, Fraction | None]]) -> Number | None:
    """Σ times · log(base), or times alone; None where that is out of all proportion."""
    total: Number = 0
    for times, base in terms:
        part: Number = tidy(times)
        if base is not None:
            base, root = primitive(base, times.denominator)
            if bits(base) * abs(times.numerator) > LARGEST_BITS:
                return None
            part = log_number(Fraction(0), base**times.numerator, root)
        found = sum_of_logs(as_log(total), as_log(part))
        if found is None:
            return None
        total = found
    return total
