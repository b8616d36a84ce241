"""Exact numbers as doubles."""

from __future__ import annotations

import math
from collections.abc import Sequence

from plx.doubles import log_float, rational_float
from plx.weights.forms import Affine, LogNumber, LogSum, Number, Symbolic


def to_float(number: Number) -> float:
    """The nearest double (up to an ulp or two for irrationals); ±inf past the range of doubles.

    Of a sum of learned numbers it is what is left where these are 0.
    """
    if isinstance(number, Affine):
        return to_float(number.constant)
    if isinstance(number, LogNumber):
        return rational_float(number.rational) + log_float(number.base) / rational_float(number.root)
    if isinstance(number, Symbolic):
        return float(number.digits)
    if isinstance(number, LogSum):
        sums = (rational_float(times) * _log_sum_float(terms) for terms, times in number.parts)
        return sum(sums, to_float(number.rest))
    return rational_float(number)


def _log_sum_float(terms: Sequence[Number]) -> float:
    largest = to_float(terms[-1])
    return largest + math.log(math.fsum(math.exp(to_float(term) - largest) for term in terms))
