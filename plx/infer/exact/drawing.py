"""Draws from distributions over states, given by the logs of their weights."""

from __future__ import annotations

import numpy as np

from plx.values import FloatArray, IntArray


def drawn(logs: FloatArray, count: int, random: np.random.Generator) -> IntArray:
    """Independent states, shape (count,), of which one at least is possible."""
    total = np.cumsum(np.exp(logs - logs.max()))
    below = np.minimum(random.random(count) * total[-1], np.nextafter(total[-1], 0.0))
    states: IntArray = np.searchsorted(total, below, side="right")
    return states


def drawn_by_row(logs: FloatArray, uniform: FloatArray) -> IntArray:
    """A state of each row of ``logs``, shape (n, states), by a number in [0, 1) of each."""
    total = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
    below = np.minimum(uniform * total[:, -1], np.nextafter(total[:, -1], 0.0))
    states: IntArray = (total > below[:, None]).argmax(axis=1)
    return states
