"""How much of the beginning of a run of ladders does not count: until log weights do not drift any more
(Geweke 1992, *Evaluating the accuracy of sampling-based approaches to the calculation of posterior moments*).

The beginning of what is left is held against its end, chain by chain, of ladders that began hot and of those
that began cold by themselves: their errors have opposite signs, and may cancel in the mean of all.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from plx.infer.chains import Bridges
from plx.values import FloatArray

SHARE = 0.1
"""What does not count is at least this share of all, tuning included."""

CHANCE = 2.0
"""Means that differ by more standard errors than this may drift."""

STEPS = 4
"""The beginning grows by so many steps to the most that may be dropped."""

FEWEST = 8
"""Batches in which a drift can be seen."""


def burn_in(bridges: Bridges, before: int, most: int) -> int:
    """How many batches to drop: an even number less than ``most`` after which nothing drifts, else ``most``.

    ``before``: as how many batches chains moved while they were tuned.
    """
    batches = len(bridges.batches)
    if batches < FEWEST:
        return most
    fewest = max(0, int(np.ceil(SHARE * (batches + before))) - before)
    seen = _looks(bridges)
    for first, after in pairwise(np.linspace(fewest, most, STEPS + 1)):
        drop = -(-int(np.ceil(first)) // 2) * 2
        if drop >= min(most, after + 2) or batches - drop < FEWEST:
            break
        if not _drifts(seen[drop:], bridges.cold):
            return drop
    return most


def _looks(bridges: Bridges) -> FloatArray:
    """Means in each batch of log weights at β = 1 and of their integral over the temperatures [batches, 2,
    chains]."""
    return np.stack([np.stack([one.line[0], one.total[-1]]) / one.rounds for one in bridges.batches])


def _drifts(seen: FloatArray, cold: np.ndarray) -> bool:
    """Whether the first quarter of looks [batches, 2, chains] differs from the last half, or there are two
    kinds of ladders in the first quarter."""
    early, late = seen[: len(seen) // 4].mean(axis=0), seen[len(seen) // 2 :].mean(axis=0)
    kinds = [(early - late)[:, kind] for kind in (~cold, cold)]
    apart = [early[:, kind] for kind in (~cold, cold)]
    if min(kind.shape[1] for kind in kinds) < 2:
        return True
    z = [_z(kind.mean(axis=1), _square(kind)) for kind in kinds]
    z.append(_z(apart[0].mean(axis=1) - apart[1].mean(axis=1), _square(apart[0]) + _square(apart[1])))
    return bool(np.abs(np.stack(z)).max() > CHANCE)


def _square(chains: FloatArray) -> FloatArray:
    """The squared standard error of a mean over chains."""
    found: FloatArray = chains.var(axis=1, ddof=1) / chains.shape[1]
    return found


def _z(difference: FloatArray, square: FloatArray) -> FloatArray:
    """In standard errors; 0 where there is no difference at all but rounding."""
    tiny = np.abs(difference) < 1e-9
    return np.where(tiny, 0.0, difference / np.sqrt(np.maximum(square, 1e-30)))
