"""Numbers as text: significant digits for what is small, no false precision for what is sampled."""

from __future__ import annotations

import math

_SMALL = 1e-4
"""Below this, fixed decimals would hide a probability's digits."""

_DECIMALS = 6

_ROUNDING = 1e-12
"""A log Z below this is that of worlds that add up to 1."""


def probability_text(p: float, mcse: float = 0.0, complement: float | None = None) -> str:
    """A probability to read: ``0.837962``, ``4.25e-18``, ``1 - 4.25e-18``; never ``0.000``.

    ``mcse`` is its standard error (0 if exact): digits that it drowns are left out. ``complement``
    is 1 - p where it is known better than from p, which matters near 1.
    """
    rest = 1.0 - p if complement is None else complement
    if p <= 0.0 or rest <= 0.0:
        return "0" if p <= 0.0 else "1"
    if p < _SMALL:
        return f"{p:.3g}"
    if rest < 0.5 * 10.0**-_DECIMALS:
        return f"1 - {rest:.3g}"
    return f"{p:.{_decimals(mcse)}f}"


def number_text(x: float, error: float = 0.0) -> str:
    """A number to read, six significant digits or as many as its standard error leaves."""
    if math.isinf(x):
        return "-inf" if x < 0 else "inf"
    if error > 0.0 and abs(x) < 1e6:
        return f"{x:.{_decimals(error)}f}"
    return f"{x:.6g}"


def log_z_text(x: float, error: float = 0.0) -> str:
    """A log Z to read: what rounding leaves of the logarithm of 1 is 0."""
    return "0" if abs(x) < _ROUNDING else number_text(x, error)


def error_text(error: float) -> str:
    """A standard error to read: two significant digits; nothing for an exact answer."""
    if error == 0.0 or not math.isfinite(error):
        return "" if error == 0.0 else "?"
    if error < _SMALL or error >= 1e6:
        return f"{error:.1e}"
    return f"{error:.{_decimals(error)}f}"


def count_text(n: float) -> str:
    """A count to read, as everywhere in plx: ``12,345``."""
    return f"{n:,.0f}"


def _decimals(error: float) -> int:
    """Decimals that show an error's first two significant digits, six at most."""
    if error <= 0.0 or not math.isfinite(error):
        return _DECIMALS
    return min(_DECIMALS, max(0, 1 - math.floor(math.log10(error))))
