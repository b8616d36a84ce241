"""What was tried to make chains faster, each idea beside what plx does, so that anyone can try again.

The first table is about the kernel: hand-written Ising grids that differ in one thing. The second is
about counting: how often ``lifted`` should record its states.
"""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import numba
import numpy as np

import plx
from plx.answer.comparison import read_truth
from plx.api import compare
from plx.infer.compare.curves import Comparison
from plx.infer.orbits import lifted
from tests.benchmarks import ceiling
from tests.benchmarks.ceiling import fill, scratch
from tests.benchmarks.kernel_models import PAPER
from tests.benchmarks.published import TRIAL, at
from tests.benchmarks.rivals import speed
from tests.benchmarks.table import Settings, Spread, Table, rate, ratio

WEIGHT = 0.4


@numba.njit(cache=True)
def _one_loop(state, rng, table, sweeps):  # type: ignore[no-untyped-def]
    """As `ceiling._ising`, but one loop over lanes draws, adds and looks up."""
    side, lanes = state.shape[0] - 2, state.shape[2]
    for _ in range(sweeps):
        for i in range(1, side + 1):
            for j in range(1, side + 1):
                n = (i > 1) + (i < side) + (j > 1) + (j < side)
                for c in range(lanes):
                    s0, s1, s2, s3 = rng[0, c], rng[1, c], rng[2, c], rng[3, c]
                    x = np.uint32(s0 + s3)
                    x = np.uint32(
                        np.uint32(np.uint32(x << np.uint32(7)) | np.uint32(x >> np.uint32(25))) + s0
                    )
                    t = np.uint32(s1 << np.uint32(9))
                    s2 = np.uint32(s2 ^ s0)
                    s3 = np.uint32(s3 ^ s1)
                    rng[1, c] = np.uint32(s1 ^ s2)
                    rng[0, c] = np.uint32(s0 ^ s3)
                    rng[2, c] = np.uint32(s2 ^ t)
                    rng[3, c] = np.uint32(np.uint32(s3 << np.uint32(11)) | np.uint32(s3 >> np.uint32(21)))
                    ones = np.uint64(state[i - 1, j, c]) + state[i + 1, j, c]
                    ones = ones + state[i, j - 1, c] + state[i, j + 1, c]
                    state[i, j, c] = np.int32(x >> np.uint32(1)) >= table[n, ones]


@numba.njit(cache=True)
def _looked_up(state, rng, table, draw, index, sweeps):  # type: ignore[no-untyped-def]
    """As `ceiling._ising`, but thresholds are read from memory."""
    side, lanes = state.shape[0] - 2, state.shape[2]
    for _ in range(sweeps):
        for i in range(1, side + 1):
            for j in range(1, side + 1):
                n = np.uint64((i > 1) + (i < side) + (j > 1) + (j < side))
                fill(rng, draw)
                for c in range(lanes):
                    index[c] = np.int32(state[i - 1, j, c]) + np.int32(state[i + 1, j, c])
                    index[c] += np.int32(state[i, j - 1, c]) + np.int32(state[i, j + 1, c])
                for c in range(lanes):
                    state[i, j, c] = draw[c] >= table[n, np.uint64(index[c])]


@numba.njit(cache=True)
def _compared(state, rng, table, draw, needed, sweeps):  # type: ignore[no-untyped-def]
    """As `ceiling._ising`, but the draw is compared with all five thresholds, whichever is meant."""
    side, lanes = state.shape[0] - 2, state.shape[2]
    for _ in range(sweeps):
        for i in range(1, side + 1):
            for j in range(1, side + 1):
                n = (i > 1) + (i < side) + (j > 1) + (j < side)
                fill(rng, draw)
                for c in range(lanes):
                    needed[c] = 5
                for k in range(5):
                    cut = table[n, k]
                    for c in range(lanes):
                        needed[c] -= draw[c] >= cut
                for c in range(lanes):
                    ones = state[i - 1, j, c] + state[i + 1, j, c] + state[i, j - 1, c] + state[i, j + 1, c]
                    state[i, j, c] = ones >= needed[c]


@numba.njit(cache=True)
def _word(rng):  # type: ignore[no-untyped-def]
    """64 random bits by xoroshiro128++."""
    s0, s1 = rng[0], rng[1]
    x = np.uint64(s0 + s1)
    x = np.uint64(np.uint64(np.uint64(x << np.uint64(17)) | np.uint64(x >> np.uint64(47))) + s0)
    s1 = np.uint64(s1 ^ s0)
    turned = np.uint64(np.uint64(s0 << np.uint64(49)) | np.uint64(s0 >> np.uint64(15)))
    rng[0] = np.uint64(np.uint64(turned ^ s1) ^ np.uint64(s1 << np.uint64(21)))
    rng[1] = np.uint64(np.uint64(s1 << np.uint64(28)) | np.uint64(s1 >> np.uint64(36)))
    return x


@numba.njit(cache=True)
def _bits(state, rng, table, sweeps):  # type: ignore[no-untyped-def]
    """64 lanes are the bits of one word, state [side + 2, side + 2]; draws are compared bit by bit."""
    side, zero, all_ones = state.shape[0] - 2, np.uint64(0), ~np.uint64(0)
    reached = np.empty(5, dtype=np.uint64)
    level = np.empty(5, dtype=np.uint64)
    for _ in range(sweeps):
        for i in range(1, side + 1):
            for j in range(1, side + 1):
                n = (i > 1) + (i < side) + (j > 1) + (j < side)
                reached[:], level[:] = zero, all_ones
                open_lanes, bit = all_ones, 30
                while open_lanes != zero and bit >= 0:
                    word, open_lanes = _word(rng), zero
                    for k in range(5):
                        if (table[n, k] >> bit) & 1:
                            level[k] &= word
                        else:
                            reached[k] |= level[k] & word
                            level[k] &= ~word
                        open_lanes |= level[k]
                    bit -= 1
                a, b, c, d = state[i - 1, j], state[i + 1, j], state[i, j - 1], state[i, j + 1]
                low, high, low_2, high_2 = a ^ b, a & b, c ^ d, c & d
                one, carry = low ^ low_2, low & low_2
                two, four = high ^ high_2 ^ carry, (high & high_2) | (carry & (high ^ high_2))
                count_3, count_2, count_1 = one & two, two & ~one, one & ~two
                count_0 = ~(one | two | four)
                state[i, j] = (
                    (count_0 & (reached[0] | level[0]))
                    | (count_1 & (reached[1] | level[1]))
                    | (count_2 & (reached[2] | level[2]))
                    | (count_3 & (reached[3] | level[3]))
                    | (four & (reached[4] | level[4]))
                )


def measure(settings: Settings) -> list[Table]:
    """Kernels by hand, then recording."""
    return [_kernels(settings), _recording(settings)]


def ising_variants(side: int, settings: Settings) -> Iterator[tuple[str, Spread]]:
    """Updates per second of kernels by hand on an Ising grid."""
    for lanes in (64, 16, 32, 128, 256):
        found = speed(ceiling.ising(side, WEIGHT, lanes), settings)
        yield f"{lanes} lanes, loops that do one thing each", found
    rng, draw, index = scratch(64)
    needed = np.zeros(64, np.uint8)
    table, updates = ceiling.ising_table(WEIGHT), 64.0 * side**2
    grid = np.zeros((side + 2, side + 2, 64), dtype=np.uint8)
    one = rate(lambda n: _one_loop(grid, rng, table, n), updates, settings)
    yield "64 lanes, one loop that does all", one
    looked_up = rate(lambda n: _looked_up(grid, rng, table, draw, index, n), updates, settings)
    yield "64 lanes, a look-up for a choice of five", looked_up
    compared = rate(lambda n: _compared(grid, rng, table, draw, needed, n), updates, settings)
    yield "64 lanes, five comparisons for a choice of five", compared
    words, seeds = np.zeros((side + 2, side + 2), np.uint64), np.array([1, 2], dtype=np.uint64)
    yield "64 lanes as the bits of one word", rate(lambda n: _bits(words, seeds, table, n), updates, settings)


def _kernels(settings: Settings) -> Table:
    side = 6 if settings.quick else 50
    found = list(ising_variants(side, settings))
    rows: list[tuple[object, ...]] = [(name, speed, ratio(speed, found[0][1])) for name, speed in found]
    return Table(f"Kernels by hand, Ising grid {side}×{side}", ("kernel", "updates/s", "÷ the first"), rows)


def _recording(settings: Settings) -> Table:
    rows: list[tuple[object, ...]] = []
    for every in (1, 2, 4, 8):
        with mock.patch.object(lifted, "_thinning", lambda found, every=every: every):
            curve = _lifted(settings).curves[0]
        rows.append(
            (every, at(curve, 1.0) or float(curve.mean[-1]), float(curve.samples[-1] / curve.seconds[-1]))
        )
    columns = ("sweeps per record", "KL after 1 s", "updates/s")
    return Table("How often lifted records, sc_20_10", columns, rows)


def _lifted(settings: Settings) -> Comparison:
    path = PAPER / "sc_20_10.json"
    if settings.quick or not path.exists():
        return compare(plx.compile(TRIAL), ["lifted"], seconds=0.01, chains=1, lanes=2, seed=1)
    return compare(plx.load(path), ["lifted"], seconds=1.1, chains=3, truth=read_truth(path), seed=1)
