"""The forms of exact numbers: rationals, logs of rationals, and anything else through sympy.

Equality of weights decides symmetry, so it is decided here and never by rounding. Four forms:

* rational: ``int`` or ``Fraction``;
* ``LogNumber``: r + log(q)/d with rational r, q. The form is unique: e^r is irrational for rational
  r ≠ 0 (Lindemann), so r is determined, and d is the smallest root of which log(q) is made;
* ``Symbolic``: a sympy expression, for what is neither (``sqrt(2)``, ``exp(1)``, ``log(2)*log(3)``).
  Two of these are equal when they agree to 50 significant digits;
* ``LogSum``: with terms log(e^a + e^b + …), which summing out an unknown leaves. Two of these are equal
  when they are written alike: an equality that is not seen costs a symmetry, and never makes one.

Beside the numbers stands ``Affine``: a number that is still to be learned, or a sum of such.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeGuard

from plx.roots import primitive


@dataclass(frozen=True, slots=True)
class LogNumber:
    """``rational + log(base) / root``; base > 0 and ≠ 1, root ≥ 1 as small as it can be."""

    rational: Fraction
    base: Fraction
    root: int


@dataclass(frozen=True, slots=True)
class Symbolic:
    """A real number that sympy holds; ``digits`` (50 significant ones) is its identity."""

    digits: str
    expression: Any = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LogSum:
    """``rest`` + Σ times · log Σ exp(term): ``parts`` are (terms, times), the smallest term of each 0."""

    rest: int | Fraction | LogNumber | Symbolic
    parts: tuple[tuple[tuple[Number, ...], Fraction], ...]


@dataclass(frozen=True, slots=True)
class Affine:
    """``constant`` + Σ coefficient · learned number.

    ``terms`` are (name of the learned number, coefficient), sorted by name, without coefficients of 0.
    """

    constant: int | Fraction | LogNumber | Symbolic | LogSum
    terms: tuple[tuple[str, Number], ...]


Number = int | Fraction | LogNumber | Symbolic | LogSum | Affine


class WeightError(ValueError):
    """Arithmetic that has no real, finite result; the message is in plain words."""


LARGEST_BITS: Final = 1 << 18
"""Rationals of more bits than this are refused: they are typing errors, not weights."""


def is_rational(a: Number) -> TypeGuard[int | Fraction]:
    """Whether a number is an int or a Fraction."""
    return isinstance(a, int | Fraction)


def tidy(q: int | Fraction) -> int | Fraction:
    """A rational, as an int where it is whole."""
    return q.numerator if q.denominator == 1 else q


def checked(q: int | Fraction) -> int | Fraction:
    """The rational itself. Raises WeightError if it is out of all proportion."""
    if bits(q) > LARGEST_BITS:
        raise WeightError("a number is too large")
    return q


def bits(q: int | Fraction) -> int:
    """The bits of numerator and denominator together."""
    return q.numerator.bit_length() + q.denominator.bit_length()


def as_log(a: Number) -> LogNumber:
    """A rational or a LogNumber as r + log(q)/d; of a rational, q is 1."""
    return a if isinstance(a, LogNumber) else LogNumber(Fraction(a), Fraction(1), 1)  # type: ignore[arg-type]


def log_number(rational: Fraction, base: Fraction, root: int) -> Number:
    """rational + log(base)/root in its one form."""
    if base == 1:
        return tidy(rational)
    base, root = primitive(base, root)
    return LogNumber(rational, base, root)


def sum_of_logs(a: LogNumber, b: LogNumber) -> Number | None:
    """The exact sum, None where its one logarithm would be of a number out of all proportion."""
    root = math.lcm(a.root, b.root)
    powers = ((a.base, root // a.root), (b.base, root // b.root))
    if sum(bits(base) * power for base, power in powers) > LARGEST_BITS:
        return None
    base = powers[0][0] ** powers[0][1] * powers[1][0] ** powers[1][1]
    return log_number(a.rational + b.rational, base, root)
