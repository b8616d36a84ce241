"""Random numbers from generators side by side: one of each for all lanes at once, or one of a lane's own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.jit import inner

Int32 = npt.NDArray[np.int32]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
Number = int | np.int64

BITS = 31
"""Random integers are uniform on 0 … 2^31 - 1."""

_TOP = 2**BITS - 2


@inner(inline=True)
def _random(rng: UInt32, out: Int32) -> None:
    """One step of xoshiro128++ per lane (Blackman and Vigna 2021), to 31 bits; the last value is merged."""
    for c in range(out.shape[0]):
        s0, s1, s2, s3 = rng[0, c], rng[1, c], rng[2, c], rng[3, c]
        x = np.uint32(s0 + s3)
        x = np.uint32(np.uint32(x << np.uint32(7)) | np.uint32(x >> np.uint32(25)))
        x = np.uint32(x + s0)
        t = np.uint32(s1 << np.uint32(9))
        s2 = np.uint32(s2 ^ s0)
        s3 = np.uint32(s3 ^ s1)
        rng[1, c] = np.uint32(s1 ^ s2)
        rng[0, c] = np.uint32(s0 ^ s3)
        rng[2, c] = np.uint32(s2 ^ t)
        rng[3, c] = np.uint32(np.uint32(s3 << np.uint32(11)) | np.uint32(s3 >> np.uint32(21)))
        out[c] = min(np.int32(x >> np.uint32(1)), np.int32(_TOP))


@inner
def _next(random: UInt64, lane: Number) -> np.uint64:
    """The next word of a lane's splitmix64 generator."""
    random[lane] += np.uint64(0x9E3779B97F4A7C15)
    z = random[lane]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


@inner
def _below(random: UInt64, lane: Number, n: Number) -> np.int64:
    """A uniform integer in 0 … n-1, exactly, for n < 2³² (Lemire 2019: divides in one of 2³²/n draws)."""
    bound, low = np.uint64(n), np.uint64(0xFFFFFFFF)
    product = (_next(random, lane) >> np.uint64(32)) * bound
    if (product & low) < bound:
        least = (np.uint64(0x100000000) - bound) % bound
        while (product & low) < least:
            product = (_next(random, lane) >> np.uint64(32)) * bound
    return np.int64(product >> np.uint64(32))


@inner
def _uniform(random: UInt64, lane: Number) -> float:
    return float(np.float64(np.int64(_next(random, lane) >> np.uint64(11))) * 2.0**-53)
