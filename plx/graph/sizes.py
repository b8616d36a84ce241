"""How many joint states some nodes have, without overflow, and sizes in words."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def joint_states(cards: npt.ArrayLike) -> float:
    """The product of numbers of states: exact up to 2^53, infinite past the range of doubles."""
    with np.errstate(over="ignore"):
        return float(np.prod(np.asarray(cards, dtype=np.float64)))


def joint_bits(cards: npt.ArrayLike) -> float:
    """log₂ of the product of numbers of states."""
    return float(np.log2(cards).sum())


def from_bits(bits: float) -> float:
    """A size by its log₂; infinite past the range of doubles."""
    return math.inf if bits >= 1024 else math.pow(2.0, bits)


def size_text(bits: float) -> str:
    """A size by its log₂: ``1,024`` or ``about 10^57``."""
    digits = bits * math.log10(2)
    return f"{2.0**bits:,.0f}" if digits < 9 else f"about 10^{digits:.0f}"
