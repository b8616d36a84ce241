"""Integer numbers of any size: of python-flint where it is installed, which multiplies large ones sooner."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

Integer = Any
"""An int, or a ``flint.fmpz``."""


def _maker() -> Callable[[int], Integer]:
    try:
        found: Callable[[int], Integer] = import_module("flint").fmpz
    except ImportError:
        return int
    return found


integer: Callable[[int], Integer] = _maker()
"""A whole number from an int."""


def low_bits(number: Integer, limit: int | None) -> Integer:
    """The last bits of a number >= 0; None: all of them."""
    return number if limit is None else number & (1 << limit) - 1


def power(number: Integer, exponent: int, bits: int, limit: int | None) -> Integer:
    """The last bits of a power; None: all of them. With ``bits``: of a polynomial in 2 to that power."""
    if not bits:
        return number**exponent
    digits = _digits(int(number), bits)
    if len(digits) < 3:
        return _binomial(digits, exponent, bits, limit)
    found = integer(1)
    while exponent:
        if exponent & 1:
            found = low_bits(found * number, limit)
        exponent >>= 1
        if exponent:
            number = low_bits(number * number, limit)
    return found


def _digits(number: int, bits: int) -> dict[int, int]:
    """The coefficients of a polynomial that are not 0, by their degrees."""
    found, degree = {}, 0
    while number:
        if digit := number & (1 << bits) - 1:
            found[degree] = digit
        number >>= bits
        degree += 1
    return found


def _binomial(digits: dict[int, int], exponent: int, bits: int, limit: int | None) -> Integer:
    """The power of a polynomial of at most two terms."""
    if not digits:
        return integer(0 if exponent else 1)
    low, high = min(digits), max(digits)
    a, b = integer(digits[low]), integer(digits[high] if high > low else 0)
    step, first = high - low, low * exponent
    most = exponent if step else 0
    if limit is not None:
        most = min(most, (limit // bits - 1 - first) // step if step else 0)
    if most < 0:
        return integer(0)
    firsts = [a ** (exponent - most)]
    for _ in range(most):
        firsts.append(firsts[-1] * a)
    found, ways, second = integer(0), 1, integer(1)
    for k in range(most + 1):
        found += firsts[most - k] * second * ways << bits * step * k
        second, ways = second * b, ways * (exponent - k) // (k + 1)
    return low_bits(found << bits * first, limit)
