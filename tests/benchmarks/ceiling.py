"""Hand-written kernels for one model each: how fast Gibbs sampling of a grid can be with such lanes.

The same method as in plx: all chains at once, an xoshiro128++ generator per lane, conditionals looked
up as 31-bit thresholds. But the grid's shape is in the code: no list of neighbours is read, no case is
told apart. Loops over lanes that do one thing each compile to vector instructions; one loop that draws,
adds and looks up does not, and was three times slower.
"""

from __future__ import annotations

import numba
import numpy as np

from tests.benchmarks.table import Settings, Spread, rate


@numba.njit(cache=True)
def fill(rng, out):  # type: ignore[no-untyped-def]
    """One step of xoshiro128++ per lane (rng [4, lanes]); 31 bits into out [lanes]."""
    for c in range(out.shape[0]):
        s0, s1, s2, s3 = rng[0, c], rng[1, c], rng[2, c], rng[3, c]
        x = np.uint32(s0 + s3)
        x = np.uint32(np.uint32(np.uint32(x << np.uint32(7)) | np.uint32(x >> np.uint32(25))) + s0)
        t = np.uint32(s1 << np.uint32(9))
        s2 = np.uint32(s2 ^ s0)
        s3 = np.uint32(s3 ^ s1)
        rng[1, c] = np.uint32(s1 ^ s2)
        rng[0, c] = np.uint32(s0 ^ s3)
        rng[2, c] = np.uint32(s2 ^ t)
        rng[3, c] = np.uint32(np.uint32(s3 << np.uint32(11)) | np.uint32(s3 >> np.uint32(21)))
        out[c] = np.int32(x >> np.uint32(1))


@numba.njit(cache=True)
def _ising(state, rng, table, draw, index, sweeps):  # type: ignore[no-untyped-def]
    """state [side + 2, side + 2, lanes], a border of zeros; table [neighbours, those in state 1]."""
    side, lanes = state.shape[0] - 2, state.shape[2]
    for _ in range(sweeps):
        for i in range(1, side + 1):
            for j in range(1, side + 1):
                base = np.uint64(5 * ((i > 1) + (i < side) + (j > 1) + (j < side)))
                fill(rng, draw)
                for c in range(lanes):
                    index[c] = np.int32(state[i - 1, j, c]) + np.int32(state[i + 1, j, c])
                    index[c] += np.int32(state[i, j - 1, c]) + np.int32(state[i, j + 1, c])
                for c in range(lanes):
                    state[i, j, c] = draw[c] >= table[base + np.uint64(index[c])]


@numba.njit(cache=True)
def _potts(state, rng, table, draw, index, sweeps):  # type: ignore[no-untyped-def]
    """state as in `_ising`, a border of the number of colours; table [colours - 1, (colours + 1)^4]."""
    side, lanes = state.shape[0] - 2, state.shape[2]
    base = np.int32(table.shape[0] + 2)
    for _ in range(sweeps):
        for i in range(1, side + 1):
            for j in range(1, side + 1):
                fill(rng, draw)
                for c in range(lanes):
                    index[c] = np.int32(state[i - 1, j, c]) * base + np.int32(state[i + 1, j, c])
                for c in range(lanes):
                    two = np.int32(state[i, j - 1, c]) * base + np.int32(state[i, j + 1, c])
                    index[c] = index[c] * base * base + two
                    state[i, j, c] = 0
                for k in range(table.shape[0]):
                    row = table[k]
                    for c in range(lanes):
                        state[i, j, c] += draw[c] >= row[np.uint64(index[c])]


def ising(side: int, weight: float, lanes: int, settings: Settings) -> Spread:
    """Updates per second on a grid of two states whose neighbours like to agree."""
    table = ising_table(weight)
    state = np.zeros((side + 2, side + 2, lanes), dtype=np.uint8)
    rng, draw, index = scratch(lanes)
    return rate(lambda n: _ising(state, rng, table, draw, index, n), side**2 * lanes, settings)


def ising_table(weight: float) -> np.ndarray:
    """Thresholds of state 1, [neighbours, those of them in state 1] flattened, 31 bits."""
    ones = np.arange(5)
    p = 1 / (1 + np.exp(-weight * (ones - (np.arange(5)[:, None] - ones))))
    return np.minimum((1 - p) * 2**31, 2**31 - 1).astype(np.int32).ravel()


def potts(side: int, colors: int, weight: float, lanes: int, settings: Settings) -> Spread:
    """Updates per second on a grid of ``colors`` states."""
    neighbours = np.indices((colors + 1,) * 4).reshape(4, -1)
    score = np.exp(weight * (neighbours[:, None] == np.arange(colors)[:, None]).sum(0))
    below = np.cumsum(score, axis=0)[:-1] / score.sum(0)
    table = np.minimum(below * 2**31, 2**31 - 1).astype(np.int32)
    state = np.full((side + 2, side + 2, lanes), colors, dtype=np.uint8)
    state[1:-1, 1:-1] = 0
    rng, draw, index = scratch(lanes)
    return rate(lambda n: _potts(state, rng, table, draw, index, n), side**2 * lanes, settings)


def scratch(lanes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generators [4, lanes], and room for random numbers and indexes."""
    rng = np.random.default_rng(1).integers(1, 2**32, (4, lanes), dtype=np.uint32)
    return rng, np.zeros(lanes, np.int32), np.zeros(lanes, np.int32)
