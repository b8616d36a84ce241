"""Weighted sums of counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.jit import Kernel, array

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


def add_pools(counts: Any, source: Int64, weight: Float64, start: Int64, pools: Float64) -> None:
    """pools[k] = Σ weight[e] · counts[source[e]] over e from start[k] to start[k + 1], lane by lane.

    ``counts`` [rows, lanes] are int32 or float64.
    """
    _adder(counts.dtype.name)(counts, source, weight, start, pools)


@cache
def _adder(counts: str) -> Callable[..., None]:
    """`_add_pools` compiled for one type of counts."""
    signature = [array(counts, 2), array("int64"), array("float64"), array("int64"), array("float64", 2)]
    return Kernel(_add_pools, signature).compiled


def _add_pools(counts: Any, source: Int64, weight: Float64, start: Int64, pools: Float64) -> None:
    for k in range(len(start) - 1):
        pools[k] = 0.0
        for e in range(start[k], start[k + 1]):
            row, by = source[e], weight[e]
            for c in range(pools.shape[1]):
                pools[k, c] += by * counts[row, c]
