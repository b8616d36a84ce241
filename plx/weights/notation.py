"""Exact numbers as text, read and written."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from plx import symbolic
from plx.numerals import rational_text, shortened
from plx.weights.forms import Affine, LogNumber, LogSum, Number, Symbolic, WeightError, tidy

LARGEST_EXPONENT: Final = 50_000
"""The largest exponent of a decimal literal, up or down."""


LONGEST_LITERAL: Final = 1000
"""Literals of more digits are slow to work with, and beyond the precision of any double."""


_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?")


def parse(text: str) -> int | Fraction:
    """The exact value of a decimal literal (``12``, ``.5``, ``3.3e-4165``).

    Raises WeightError if it is no number, or its digits or its exponent are out of all proportion.
    """
    match = _NUMBER.fullmatch(text)
    if not match or not (match[2] or match[3]):
        raise WeightError(f"`{shortened(text)}` is not a number")
    if len(match[2]) + len(match[3] or "") > LONGEST_LITERAL:
        raise WeightError(f"`{shortened(text)}` has more than {LONGEST_LITERAL:,} digits")
    if len(match[4] or "") > 6 or abs(int(match[4] or 0)) > LARGEST_EXPONENT:
        raise WeightError(f"the exponent of `{shortened(text)}` is too large")
    whole, after = match[2] or "", match[3] or ""
    digits, exponent = int(f"{match[1]}{whole}{after}"), int(match[4] or 0) - len(after)
    return digits * 10**exponent if exponent >= 0 else tidy(Fraction(digits, 10**-exponent))


def text(number: Number) -> str:
    """The number as plx would write it: ``0.3``, ``1/3``, ``log(6)``, ``1 + log(2)/2``."""
    if isinstance(number, LogNumber):
        return _log_text(number)
    if isinstance(number, Symbolic):
        return symbolic.text(number.expression, number.digits)
    if isinstance(number, LogSum):
        sums = (
            f"{rational_text(n)}*log({' + '.join(f'exp({text(t)})' for t in terms)})"
            for terms, n in number.parts
        )
        return " + ".join([text(number.rest), *sums])
    if isinstance(number, Affine):
        terms = [name if k == 1 else f"{text(k)}*{name}" for name, k in number.terms]
        return " + ".join([*terms, *([text(number.constant)] if number.constant != 0 else [])])
    return rational_text(Fraction(number))


def shown(number: Number) -> str:
    """The number for a message: as `text`, cut in the middle where it is very long."""
    return shortened(text(number))


def _log_text(number: LogNumber) -> str:
    negative = number.base < 1
    base = 1 / number.base if negative else number.base
    log = f"log({rational_text(base)})" + (f"/{number.root}" if number.root > 1 else "")
    if not number.rational:
        return f"-{log}" if negative else log
    return f"{rational_text(number.rational)} {'-' if negative else '+'} {log}"
