"""Rationals as text: exact at any length, and shortened for messages."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Final

_MOST_PLACES: Final = 20
"""A decimal with more places than this is written as a quotient."""

_LONGEST_SHOWN: Final = 60

_LONG_NUMBER: Final = re.compile(rf"\d{{{_LONGEST_SHOWN + 1},}}")


def rational_text(q: Fraction) -> str:
    """The number as plx would write it: ``12``, ``0.3``, ``1/3``."""
    places = decimal_places(q.denominator)
    if places is None or places > _MOST_PLACES:
        return f"{digits(q.numerator)}/{digits(q.denominator)}"
    if not places:
        return digits(q.numerator)
    text = digits(abs(q.numerator) * 10**places // q.denominator).rjust(places + 1, "0")
    return f"{'-' if q < 0 else ''}{text[:-places]}.{text[-places:]}"


def fraction_text(q: Fraction) -> str:
    """The number as a fraction in lowest terms: ``5/12``, ``768``."""
    return digits(q.numerator) if q.denominator == 1 else f"{digits(q.numerator)}/{digits(q.denominator)}"


def decimal_places(denominator: int) -> int | None:
    """How many decimal places a fraction in lowest terms has; None where they never end."""
    twos, rest = _divided_out(denominator, 2)
    fives, rest = _divided_out(rest, 5)
    return max(twos, fives) if rest == 1 else None


def digits(n: int) -> str:
    """The decimal digits of an integer of any length, which ``str`` refuses past 4300."""
    return str(n) if n.bit_length() < 10_000 else format(Decimal(n), "f")


def shortened(text: str) -> str:
    """Text that may be a very long number, cut in the middle to fit a message."""
    if len(text) <= _LONGEST_SHOWN:
        return text
    return f"{text[:20]}…{text[-10:]} ({len(text)} characters)"


def readable(text: str) -> str:
    """Text for people, in which very long numbers are cut in the middle."""
    return _LONG_NUMBER.sub(lambda number: shortened(number[0]), text)


def counted(n: int, noun: str) -> str:
    """``1 query``, ``2 queries``, ``1,200 rules``."""
    plural = f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def _divided_out(n: int, prime: int) -> tuple[int, int]:
    """How often a prime divides n > 0, and what is left; in log many divisions."""
    powers = [prime]
    while n % powers[-1] == 0:
        powers.append(powers[-1] ** 2)
    times = 0
    for at in reversed(range(len(powers) - 1)):
        if n % powers[at] == 0:
            n, times = n // powers[at], times + 2**at
    return times, n
