"""Roots of rationals, decided exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache


def primitive(base: Fraction, root: int) -> tuple[Fraction, int]:
    """The same log(base)/root with the smallest root."""
    for p in _prime_factors(root, max(base.numerator, base.denominator).bit_length()):
        while root % p == 0 and (found := rational_root(base, p)) is not None:
            base, root = found, root // p
    return base, root


@lru_cache(maxsize=1024)
def _prime_factors(n: int, most: int) -> tuple[int, ...]:
    """Those up to ``most``, and perhaps more: of a number of so many bits only these are roots."""
    found, p = [], 2
    while p * p <= n and p <= most:
        if n % p == 0:
            found.append(p)
            while n % p == 0:
                n //= p
        p += 1
    return (*found, n) if 1 < n <= most else tuple(found)


def rational_root(q: Fraction, k: int) -> Fraction | None:
    """The k-th root of q ≥ 0 if it is rational."""
    n, d = _integer_root(q.numerator, k), _integer_root(q.denominator, k)
    return Fraction(n, d) if n**k == q.numerator and d**k == q.denominator else None


def _integer_root(n: int, k: int) -> int:
    """The floor of the k-th root of n ≥ 0, by Newton's method from above."""
    if n < 2:
        return n
    x = 1 << -(-n.bit_length() // k)
    while True:
        y = ((k - 1) * x + n // x ** (k - 1)) // k
        if y >= x:
            return x
        x = y
