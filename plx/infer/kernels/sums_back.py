"""Sums of many small numbers taken apart again, in many worlds at once: which each number was, chosen.

Numbers of a part are alike, as are the polynomials of their log weights. The sum of all is first that of
parts, then each of these one of powers of two of alike numbers, and each power two halves.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.log_convolution import _place
from plx.infer.kernels.random import _uniform
from plx.jit import inner, kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Grid = Annotated[npt.NDArray[np.float64], 2]
Places = Annotated[npt.NDArray[np.int64], 2]
Cube = Annotated[npt.NDArray[np.float64], 3]


@inner
def _split(
    a: Floats, b: Floats, width: int, total: int, back: int, best: bool, random: UInt64, world: int
) -> tuple[int, int]:
    """Two numbers, the first below ``width``, that are ``total`` together, by log weights ``a`` and ``b``."""
    size = len(b)
    wraps = back >= 0 and total >= back
    top, first, second = -np.inf, 0, 0
    for i in range(width if wraps else min(width, total + 1)):
        if a[i] == -np.inf:
            continue
        for j in range(0 if wraps else total - i, size if wraps else total - i + 1):
            if (not wraps or _place(i + j, size, back) == total) and a[i] + b[j] > top:
                top, first, second = a[i] + b[j], i, j
    if best:
        return first, second
    sum_ = 0.0
    for again in range(2):
        left = _uniform(random, world) * sum_ if again == 1 else np.inf
        for i in range(width if wraps else min(width, total + 1)):
            if a[i] == -np.inf:
                continue
            for j in range(0 if wraps else total - i, size if wraps else total - i + 1):
                if wraps and _place(i + j, size, back) != total:
                    continue
                x = np.exp(a[i] + b[j] - top)
                if x == 0.0:
                    continue
                if again == 0:
                    sum_ += x
                    continue
                first, second = i, j
                left -= x
                if left < 0.0:
                    return first, second
    return first, second


@kernel
def sums_back(
    single: Grid,
    powers: Cube,
    partial: Cube,
    before: Grid,
    number: Ints,
    back: int,
    best: bool,
    total: Ints,
    random: UInt64,
    out: Places,
) -> None:
    """Fill in ``out`` [W, Σ number], the numbers of each part in turn, in worlds with these ``total`` [W].

    ``single`` [P, J + 1] are the log weights of one number of each part, ``powers`` [P, B, S] those of sums
    of 2^b of them, ``partial`` [P, B, S] of the bits of ``number`` [P] below b, and ``before`` [P, S] of all
    parts before. ``back`` is as in `plx.infer.kernels.log_convolution`, ``random`` [W] are seeds.
    """
    parts, size = len(number), before.shape[1]
    wide = single.shape[1] - 1
    for w in range(len(total)):
        rest, end = total[w], out.shape[1]
        whole = np.empty(size)
        for p in range(parts - 1, -1, -1):
            bits = 0
            while number[p] >> bits > 0:
                bits += 1
            whole[:] = partial[p, bits]
            mine, rest = _split(whole, before[p], size, rest, back, best, random, w)
            for bit in range(bits - 1, -1, -1):
                if number[p] >> bit & 1 == 0:
                    continue
                many = 1 << bit
                begin = end - many
                limit = size if back >= 0 else min(size, wide * many + 1)
                out[w, begin], mine = _split(
                    powers[p, bit], partial[p, bit], limit, mine, back, best, random, w
                )
                half = many >> 1
                level = bit
                while level > 0:
                    level -= 1
                    limit = size if back >= 0 else min(size, wide * half + 1)
                    for at in range(begin, end, 2 * half):
                        out[w, at], out[w, at + half] = _split(
                            powers[p, level], powers[p, level], limit, out[w, at], back, best, random, w
                        )
                    half >>= 1
                for at in range(begin, end):
                    out[w, at] = _single(single[p], size, out[w, at], back, best, random, w)
                end = begin


@inner
def _single(single: Floats, size: int, total: int, back: int, best: bool, random: UInt64, world: int) -> int:
    """A number that is kept as ``total``."""
    top, found = -np.inf, 0
    for j in range(len(single)):
        if _place(j, size, back) == total and single[j] > top:
            top, found = single[j], j
    if best or back < 0:
        return found
    sum_ = 0.0
    for j in range(len(single)):
        if _place(j, size, back) == total:
            sum_ += np.exp(single[j] - top)
    left = _uniform(random, world) * sum_
    for j in range(len(single)):
        if _place(j, size, back) == total and single[j] > -np.inf:
            found = j
            left -= np.exp(single[j] - top)
            if left < 0.0:
                return found
    return found
