"""Whether draws are as frequent as their probabilities."""

from __future__ import annotations

import math

import numpy as np

_RARE = 5.0
"""Cells that are expected less often are counted as one."""


def agree(states: np.ndarray, p: np.ndarray, z: float = 5.0) -> bool:
    """Pearson's chi-square test of independent draws ``states``, shape (n,), against the distribution ``p``.

    Right draws fail it with the probability that a standard normal is above ``z``, by Wilson and Hilferty's
    approximation (1931) to the quantiles of chi-square.
    """
    counts, expected = np.bincount(states, minlength=len(p)).astype(float), p * len(states)
    if counts[p == 0].any():
        return False
    rare = expected < _RARE
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    free = len(expected) - 1
    if free == 0:
        return True
    bound = free * (1 - 2 / (9 * free) + z * math.sqrt(2 / (9 * free))) ** 3
    # A pooled cell of very few is not normal: one more or less must not decide.
    slack = (np.maximum(np.abs(counts - expected) - 1, 0) ** 2 / np.maximum(expected, 1)).sum()
    return bool(slack <= bound)
