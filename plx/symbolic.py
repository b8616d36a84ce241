"""Irrational numbers that are no logarithms of rationals: expressions of sympy, expanded."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

DIGITS: Final = 50
"""Two numbers that agree to so many significant digits are equal."""

_GUARD: Final = 10
_BITS: Final = 150
"""Of so many bits sympy is sure at least, unless all digits of a sum cancel."""

_MOST_DIGITS: Final = 10_000


def load() -> Any:
    """The library, imported when it is first needed."""
    import sympy

    return sympy


def rational(q: Fraction) -> Any:
    """A rational as an expression."""
    return load().Rational(q.numerator, q.denominator)


def log_of_sum(exponents: Iterator[Any]) -> Any:
    """log Σ exp(exponent)."""
    sympy = load()
    return sympy.log(sum(sympy.exp(exponent) for exponent in exponents))


def expanded(expression: Any) -> Any:
    """The sum of products that an expression comes to."""
    sympy = load()
    return sympy.expand_log(sympy.expand(sympy.radsimp(expression)), force=True)


def term_count(expression: Any) -> int:
    """How many terms a sum has."""
    return len(load().Add.make_args(expression))


def sign(expression: Any) -> int:
    """1 for what is positive, else -1."""
    return 1 if expression.evalf(DIGITS, maxn=_MOST_DIGITS) > 0 else -1


def digits(expression: Any) -> str | None:
    """The significant digits, ``0`` where all cancel; None for what is no finite real number."""
    value = expression.evalf(DIGITS + _GUARD, maxn=_MOST_DIGITS)
    if not value.is_real or not value.is_finite:
        return None
    if not value or value._prec < _BITS:
        return "0"
    return str(load().Float(value, DIGITS))


def text(expression: Any, otherwise: str) -> str:
    """An expression as plx would write it, or the other text where it has too many digits."""
    try:
        return str(expression).replace("**", "^").replace("E", "exp(1)")
    except ValueError:  # Python refuses to write whole numbers of more than 4300 digits
        return otherwise


def linear(expression: Any) -> Iterator[tuple[Fraction, Fraction | None]]:
    """The terms of a sum of rationals (q, None) and multiples of logarithms of rationals (times, base).

    Raises ValueError at any other term.
    """
    sympy = load()
    for term in sympy.Add.make_args(expression):
        coefficient, rest = term.as_coeff_Mul(rational=True)
        factor = Fraction(int(coefficient.p), int(coefficient.q))
        if rest == 1:
            yield factor, None
        elif isinstance(rest, sympy.log) and rest.args[0].is_Rational and rest.args[0] > 0:
            yield factor, Fraction(int(rest.args[0].p), int(rest.args[0].q))
        else:
            raise ValueError("no logarithm of a rational")
