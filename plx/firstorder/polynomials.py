"""Products of powers of polynomials in one variable, with coefficients ≥ 0 that are kept as logs.

A factor of two terms to a power has binomial coefficients; so has one of three terms whose roots are real,
which is the product of two such. What is left is squared again and again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from plx.deadline import check
from plx.values import FloatArray

Factor = tuple[float, ...]
"""Logs of coefficients; the first is 0."""

_SAME = 1e-15
"""Roots that differ by less, relatively, are one: no more than what is rounded off in finding them."""


@dataclass
class Ring:
    """Polynomials of ``size`` coefficients. Higher degrees are dropped if ``back`` is None; else they count
    as the degree from ``back`` on that is as far from it modulo ``size - back``. ``best``: of all terms of a
    degree the largest is taken, in place of their sum."""

    size: int
    back: int | None
    best: bool = False
    _squares: dict[Factor, list[FloatArray]] = field(default_factory=dict)
    _factors: list[Factor] = field(default_factory=list)

    def one(self) -> FloatArray:
        """The polynomial 1."""
        return self.shifted(np.zeros(1), 0)

    def shifted(self, logs: FloatArray, by: int) -> FloatArray:
        """A polynomial [..., n] times a power of the variable, [..., size]."""
        out = np.full((*logs.shape[:-1], self.size), -np.inf)
        if self.back is None:
            width = max(min(logs.shape[-1], self.size - by), 0)
            out[..., by : by + width] = logs[..., :width]
            return out
        for degree in np.flatnonzero(np.isfinite(logs).any(axis=tuple(range(logs.ndim - 1)))).tolist():
            at = self._place(degree + by)
            if at is not None:
                plus = np.maximum if self.best else np.logaddexp
                out[..., at] = plus(out[..., at], logs[..., degree])
        return out

    def times(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """The product of two polynomials."""
        from plx.infer.kernels.log_convolution import log_convolution

        out = np.empty(self.size)
        log_convolution.sized(2.0 * len(a) * len(b))(
            a, b, -1 if self.back is None else self.back, self.best, out
        )  # fmt: skip
        return out

    def squares(self, factor: Factor, count: int) -> list[FloatArray]:
        """The first powers of a factor, to 1, 2, 4, and so on, so many of them at least."""
        found = self._squares.setdefault(factor, [self.shifted(np.array(factor), 0)])
        while len(found) < count:
            found.append(self.times(found[-1], found[-1]))
        return found

    def power(self, factor: Factor, exponent: int) -> FloatArray:
        """A factor to a power."""
        terms = np.flatnonzero(np.isfinite(factor))
        if self.back is None and len(terms) == 2:
            return self._binomial(factor, int(terms[1]), exponent)
        squares = self.squares(factor, exponent.bit_length())
        out: FloatArray | None = None
        for bit in range(exponent.bit_length()):
            if exponent >> bit & 1:
                out = squares[bit] if out is None else self.times(out, squares[bit])
        return self.one() if out is None else out

    def product(self, powers: Mapping[Factor, int]) -> FloatArray:
        """The product of factors to powers."""
        check()
        found = [self.power(factor, exponent) for factor, exponent in powers.items() if exponent]
        out: FloatArray | None = None
        for one in sorted(found, key=lambda p: int(np.isfinite(p).sum())):
            out = one if out is None else self.times(out, one)
        return self.one() if out is None else out

    def factors(self, logs: FloatArray) -> tuple[float, int, list[Factor]]:
        """A polynomial as a constant, its log, a power of the variable, and factors."""
        terms = np.flatnonzero(np.isfinite(logs))
        low = int(terms[0])
        found = logs[low : int(terms[-1]) + 1] - logs[low]
        step = math.gcd(*(terms - low).tolist())
        if len(found) == 1:
            return float(logs[low]), low, []
        if self.back is None and not self.best and len(found) == 2 * step + 1 and found[step] > -np.inf:
            # 1 + b t + c t² = (1 + r t)(1 + s t): r is the larger, and s = c / r.
            b, c = float(found[step]), float(found[2 * step])
            rest = -math.expm1(min(math.log(4.0) + c - 2 * b, 1.0))
            if rest >= -1e-15:
                r = b + math.log1p(math.sqrt(max(rest, 0.0))) - math.log(2.0)
                linear = [np.full(step + 1, -np.inf) for _ in range(2)]
                for one, root in zip(linear, (r, c - r), strict=True):
                    one[0], one[step] = 0.0, root
                return float(logs[low]), low, [self._known(one) for one in linear]
        return float(logs[low]), low, [self._known(found)]

    def _known(self, logs: FloatArray) -> Factor:
        for factor in self._factors:
            if len(factor) == len(logs) and np.allclose(logs, factor, rtol=_SAME, atol=_SAME):
                return factor
        self._factors.append(tuple(logs.tolist()))
        return self._factors[-1]

    def _place(self, degree: int) -> int | None:
        if degree < self.size:
            return degree
        return None if self.back is None else self.back + (degree - self.back) % (self.size - self.back)

    def _binomial(self, factor: Factor, step: int, exponent: int) -> FloatArray:
        most = min(exponent, (self.size - 1) // step)
        k = np.arange(most)
        ways = np.concatenate([[0.0], np.cumsum(np.log(exponent - k) - np.log(k + 1))])
        ways = np.zeros(most + 1) if self.best else ways
        out = np.full(self.size, -np.inf)
        out[: most * step + 1 : step] = ways + np.arange(most + 1) * factor[step]
        return out
