"""Inverse temperatures, placed so that exchanges between all neighbours are refused equally often.

The probability that an exchange is refused adds up to the communication barrier as neighbours come close
(Syed, Bouchard-Côté, Deligiannidis & Doucet 2022, *Non-reversible parallel tempering*, §4 and algorithm 4).
Between neighbours that are not close it is less than its share of the barrier; the log weights are taken to
be normal there, where a share b of the barrier is refused with probability erf(b √π / 2).
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from plx.infer.tempering.limits import FIRST, PER_BARRIER
from plx.values import FloatArray

_SURE = 0.9995
"""Refusals are not told apart beyond this rate."""

_NORMAL = NormalDist()


def first_temperatures() -> FloatArray:
    """Where tuning begins: denser towards 0, where strong weights are already felt."""
    return np.linspace(0.0, 1.0, FIRST) ** 2


def barrier(refused: FloatArray) -> FloatArray:
    """The communication barrier up to each temperature [T], from the rates at which exchanges are refused [T
    - 1]."""
    shares = [_share(rate) for rate in refused.tolist()]
    return np.concatenate([[0.0], np.cumsum(shares)])


def _share(rate: float) -> float:
    """The inverse of erf(b √π / 2)."""
    inverse = _NORMAL.inv_cdf((1.0 + min(max(rate, 0.0), _SURE)) / 2) / math.sqrt(2.0)
    return inverse * 2.0 / math.sqrt(math.pi)


def temperatures(beta: FloatArray, upto: FloatArray, most: int) -> FloatArray:
    """New inverse temperatures, at equal steps of the barrier ``upto`` each old one; ``most``: but so many
    steps."""
    steps = min(most, max(1, math.ceil(PER_BARRIER * float(upto[-1]))))
    rising = upto + np.arange(len(upto)) * 1e-9 * max(float(upto[-1]), 1e-9)
    found = np.interp(np.linspace(0.0, rising[-1], steps + 1), rising, beta)
    found[0], found[-1] = 0.0, 1.0
    return found
