"""Uniform elements of groups, as the images of places."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.random import _below
from plx.jit import inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Number = int | np.int64


@inner
def _draw_word(
    chain: Number, degree: Number, element_first: Int64, level_first: Int64, level_size: Int64,
    level_base: Int64, orbit: Int32, via: Int32, parent: Int32, word: Int64, random: UInt64, lane: Number,
) -> int:  # fmt: skip
    """A uniform element of a chain as a product: where the images of its factors begin, the first to apply
    first. Returns how many there are."""
    length = 0
    for level in range(level_first[chain + 1] - 1, level_first[chain] - 1, -1):
        base = level_base[level]
        point = np.int64(orbit[base + _below(random, lane, level_size[level])])
        begin = length
        while via[base + point] >= 0:
            word[length] = element_first[chain] + np.int64(via[base + point]) * degree
            length += 1
            point = np.int64(parent[base + point])
        for i in range((length - begin) // 2):
            word[begin + i], word[length - 1 - i] = word[length - 1 - i], word[begin + i]
    return length


@inner
def _apply_word(
    word: Int64, length: Number, element: Int32, begin: Number, end: Number, place: Int64
) -> None:
    """The images of ``place[begin:end]`` under a product, in place; -1 stays."""
    for w in range(length):
        row = word[w]
        for i in range(begin, end):
            if place[i] >= 0:
                place[i] = element[np.uint64(row + place[i])]


@inner
def _shuffle_blocks(
    k: Number, width: Number, target: Int64, image: Int64, random: UInt64, lane: Number
) -> None:
    """The images of the places of k blocks under a uniform permutation of the blocks."""
    for j in range(k):
        target[j] = j
    for j in range(k - 1, 0, -1):
        other = _below(random, lane, j + 1)
        target[j], target[other] = target[other], target[j]
    for j in range(k):
        for i in range(width):
            image[j * width + i] = target[j] * width + i
