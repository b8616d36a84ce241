"""The exponential of an exact number, where that is a rational number."""

from __future__ import annotations

from fractions import Fraction

from plx.weights.forms import LogNumber, LogSum, Number
from plx.weights.notation import shown


class NotRationalError(Exception):
    """A log weight whose exponential is no rational number; the message is how it is written."""


def exponential(number: Number) -> Fraction:
    """e to a number: 3 of log(3). Raises NotRationalError where that is no rational number."""
    if number == 0:
        return Fraction(1)
    if isinstance(number, LogNumber) and number.rational == 0 and number.root == 1:
        return number.base
    if isinstance(number, LogSum) and all(times.denominator == 1 for _, times in number.parts):
        found = exponential(number.rest)
        for terms, times in number.parts:
            found *= sum(map(exponential, terms), Fraction(0)) ** times.numerator
        return found
    raise NotRationalError(shown(number))
