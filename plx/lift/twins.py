"""Interchangeable blocks of a coloured graph, found without a solver.

A block is what belongs to one variable, person or place: vertices matched one to one by the edges
between cells of stable colours. Two blocks are interchangeable iff exchanging them, place by place,
maps the graph to itself. That is an equivalence, so a block is compared with one of each class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.ground.rows import segments, starts, unique_keys, unique_rows
from plx.lift.kernels import adjacency, components, interchangeable
from plx.lift.refine import Part, inner_edges
from plx.values import IntArray

_TRIES = 64
"""Classes beside a block that it is compared with."""


def twin_classes(part: Part, is_pair: npt.NDArray[np.bool_]) -> list[IntArray]:
    """Classes of interchangeable blocks, each as [blocks, width] vertices matched place by place.

    ``is_pair`` says which vertices are pairs; only blocks that hold one count. All classes that are
    returned consist of blocks of one kind. Every exchange is verified edge by edge.
    """
    for blocks in _families(part):
        if is_pair[blocks[0]].any():
            classes = [c for c in _classes(part, blocks) if _is_symmetric(part, is_pair, c)]
            if classes:
                return classes
    return []


def _families(part: Part) -> Iterator[IntArray]:
    """Blocks of one kind [k, width], k ≥ 2, places by colour."""
    n = len(part.color)
    left, right = inner_edges(part, np.arange(n))
    size = np.bincount(part.color)
    low = np.minimum(part.color[left], part.color[right])
    high = np.maximum(part.color[left], part.color[right])
    _, pair = unique_keys(low * len(size) + high)
    count = np.bincount(pair)[pair] if len(pair) else np.empty(0, dtype=np.int64)
    matched = (low != high) & (size[low] == size[high]) & (count == size[low])
    block = components(*adjacency(n, left[matched], right[matched]))
    order = np.lexsort((part.color, block))
    width = np.bincount(block)
    begin = starts(width)
    cells = part.color[order]
    kind = cells[begin[:-1]]  # the first colour of a block names its family
    for first in np.unique(kind):
        mine = np.flatnonzero(kind == first)
        if len(mine) == size[first] > 1 and (width[mine] == width[mine[0]]).all():
            blocks = order[begin[mine][:, None] + np.arange(width[mine[0]])]
            if (part.color[blocks] == part.color[blocks[0]]).all():
                yield blocks


class _Touch(NamedTuple):
    """Which features (vertices outside the blocks) touch which blocks; see the kernel."""

    start: IntArray
    feature: IntArray
    around: npt.NDArray[np.uint64]
    inside: npt.NDArray[np.uint64]


def _classes(part: Part, blocks: IntArray) -> Iterator[IntArray]:
    """Blocks that look interchangeable, by hash: rows of ``blocks``."""
    n = len(part.color)
    words = np.random.default_rng(20170420).integers(1, 2**63, size=(2, n), dtype=np.uint64)
    block = np.full(n, -1, dtype=np.int64)
    block[blocks] = np.arange(len(blocks))[:, None]
    touch = _touch(part, block, words)
    total = _sum_by(np.repeat(np.arange(n), np.diff(part.start)), words[0][part.neighbor], n)
    reader = np.argsort(touch.feature, kind="stable")
    owner = np.repeat(np.arange(len(blocks)), np.diff(touch.start))
    reader_start = starts(np.bincount(touch.feature, minlength=n))
    color = part.color.astype(np.uint64)
    twin = interchangeable(*touch, total, color, reader_start, owner[reader], _TRIES)
    for first in np.flatnonzero(np.bincount(twin, minlength=len(blocks)) > 1):
        yield blocks[twin == first]


def _touch(part: Part, block: IntArray, words: npt.NDArray[np.uint64]) -> _Touch:
    source = np.repeat(np.arange(len(block)), np.diff(part.start))
    outward = (block[source] >= 0) & (block[part.neighbor] < 0)
    source, feature = source[outward], part.neighbor[outward].astype(np.int64)
    first, item = unique_keys(block[source] * len(block) + feature)
    around = _sum_by(item, words[0][source], len(first))
    inside = _sum_by(item, words[1][part.color[source]], len(first))
    start = starts(np.bincount(block[source[first]], minlength=int(block.max()) + 1))
    return _Touch(start, feature[first], around, inside)


def _sum_by(owner: IntArray, words: npt.NDArray[np.uint64], n: int) -> npt.NDArray[np.uint64]:
    """Sums modulo 2⁶⁴ of the words of each owner."""
    out = np.zeros(n, dtype=np.uint64)
    np.add.at(out, owner, words)
    return out


def _is_symmetric(part: Part, is_pair: npt.NDArray[np.bool_], blocks: IntArray) -> bool:
    """Whether all permutations of the blocks extend to automorphisms: two generators are tried."""
    swapped = np.concatenate([blocks[1::-1], blocks[2:]])
    rolled = np.roll(blocks, 1, axis=0)
    return _extends(part, is_pair, blocks, swapped) and _extends(part, is_pair, blocks, rolled)


def _extends(part: Part, is_pair: npt.NDArray[np.bool_], blocks: IntArray, images: IntArray) -> bool:
    """Whether moving the blocks, and the features beside them in the only way left, keeps the graph.

    Pairs outside the blocks have to stay where they are.
    """
    image = np.arange(len(part.color))
    name = np.where(is_pair, len(part.color) + image, part.color)
    image[blocks] = images
    inside = np.zeros(len(image), dtype=bool)
    inside[blocks] = True
    degree = np.diff(part.start)
    moved = blocks.ravel()
    edge = segments(part.start[moved], degree[moved])
    source, target = np.repeat(moved, degree[moved]), part.neighbor[edge].astype(np.int64)
    within = inside[target]
    n = len(image)
    kept = np.sort(source[within] * n + target[within])
    if not np.array_equal(kept, np.sort(image[source[within]] * n + image[target[within]])):
        return False
    features = np.unique(target[~within])
    for d in np.unique(degree[features]):
        mine = features[degree[features] == d]
        around = part.neighbor[part.start[mine][:, None] + np.arange(d)].astype(np.int64)
        color = name[mine][:, None]
        before = np.concatenate([color, np.sort(around, axis=1)], axis=1)
        after = np.concatenate([color, np.sort(image[around], axis=1)], axis=1)
        _, number = unique_rows(np.concatenate([before, after]))
        half = len(mine)
        counts = [np.bincount(part_, minlength=2 * half) for part_ in (number[:half], number[half:])]
        if not np.array_equal(*counts):
            return False
    return not np.isin(part.neighbor[segments(part.start[features], degree[features])], features).any()
