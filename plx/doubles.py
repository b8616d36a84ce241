"""Rationals of any size → doubles."""

from __future__ import annotations

import math
from fractions import Fraction


def rational_float(q: int | Fraction) -> float:
    """The nearest double; ±inf past the range of doubles."""
    try:
        return float(q)
    except OverflowError:
        return math.inf if q > 0 else -math.inf


def log_float(q: Fraction) -> float:
    """The logarithm of q > 0."""
    n, d = q.numerator, q.denominator
    excess = Fraction(n - d, d)
    if abs(excess) < Fraction(1, 2):
        return math.log1p(float(excess))
    if abs(n.bit_length() - d.bit_length()) < 1000:
        return math.log(n / d)
    return math.log(n) - math.log(d)
