"""A circuit of sums and products, and one in the making, for kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.growing import longer

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

NOTHING = -1
"""The circuit of what has no world."""


class Circuit(NamedTuple):
    """Sums and products, children before parents. Circuit nodes below L are the L states of all nodes.

    Circuit node ``L + i`` has the children ``child[start[i] : start[i + 1]]``; it is a sum, or a product with
    the log weight ``log[i]``.
    """

    start: Ints  # [n + 1]
    is_sum: Bytes  # [n]
    log: Floats  # [n]
    child: Ints


class Made(NamedTuple):
    """A circuit in the making, in arrays with room to spare; ``used`` [2] counts circuit nodes and edges."""

    used: Ints
    start: Ints
    is_sum: Bytes
    log: Floats
    child: Ints


def empty_circuit() -> Made:
    """No circuit nodes yet."""
    return Made(
        np.zeros(2, dtype=np.int64),
        np.zeros(1024, dtype=np.int64),
        np.empty(1024, dtype=np.uint8),
        np.empty(1024, dtype=np.float64),
        np.empty(4096, dtype=np.int64),
    )


def emitted(made: Made, is_sum: int, log: float, items: Ints, begin: int, end: int) -> Made:
    """The circuit with one more node."""
    n, e = made.used[0], made.used[1]
    made = Made(
        made.used,
        longer(made.start, n + 2),
        longer(made.is_sum, n + 1),
        longer(made.log, n + 1),
        longer(made.child, e + end - begin),
    )
    made.is_sum[n], made.log[n] = is_sum, log
    made.child[e : e + end - begin] = items[begin:end]
    made.used[0] += 1
    made.used[1] += end - begin
    made.start[n + 1] = made.used[1]
    return made


def circuit_of(made: Made) -> Circuit:
    """What was made."""
    used, edges = made.used[0], made.used[1]
    return Circuit(
        made.start[: used + 1].copy(),
        made.is_sum[:used].copy(),
        made.log[:used].copy(),
        made.child[:edges].copy(),
    )
