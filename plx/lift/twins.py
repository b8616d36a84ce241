"""Interchangeable blocks of a coloured graph, found without a solver.

A block is what belongs to one variable, person or place: vertices matched one to one by the edges
between cells of stable colours. Two blocks are interchangeable iff exchanging them, place by place,
maps the graph to itself. That is an equivalence, so a block is compared with one of each class.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from plx.graph.components import component_numbers
from plx.graph.ragged import segments, starts
from plx.graph.rows import row_keys, unique_keys
from plx.lift.kernels import interchangeable
from plx.lift.refine import Subgraph, inner_edges
from plx.values import IntArray

_TRIES = 64
"""Classes beside a block that it is compared with."""


def twin_classes(part: Subgraph, is_pair: npt.NDArray[np.bool_]) -> list[IntArray]:
    """Classes of interchangeable blocks, each as [blocks, width] vertices matched place by place.

    ``is_pair`` says which vertices are pairs; only blocks that hold one count. All classes that are
    returned consist of blocks of one kind. Every exchange is verified edge by edge.
    """
    words = np.random.default_rng(20170420).integers(1, 2**63, size=(2, len(part.color)), dtype=np.uint64)
    for blocks in families(part):
        if is_pair[blocks[0]].any():
            classes = _verified(part, is_pair, list(_classes(part, is_pair, blocks, words)))
            if classes:
                return classes
    return []


def families(part: Subgraph) -> Iterator[IntArray]:
    """Blocks of one kind [k, width], k ≥ 2, places by colour."""
    n = len(part.color)
    left, right = inner_edges(part, np.arange(n))
    size = np.bincount(part.color)
    low = np.minimum(part.color[left], part.color[right])
    high = np.maximum(part.color[left], part.color[right])
    _, pair = unique_keys(low * len(size) + high)
    count = np.bincount(pair)[pair] if len(pair) else np.empty(0, dtype=np.int64)
    matched = (low != high) & (size[low] == size[high]) & (count == size[low])
    block = component_numbers(n, left[matched], right[matched])
    order = np.lexsort((part.color, block))
    width = np.bincount(block)
    begin = starts(width)
    cells = part.color[order]
    kind = cells[begin[:-1]]  # the first colour of a block names its family
    for first in np.flatnonzero(np.bincount(kind)):
        mine = np.flatnonzero(kind == first)
        if len(mine) == size[first] > 1 and (width[mine] == width[mine[0]]).all():
            blocks = order[begin[mine][:, None] + np.arange(width[mine[0]])]
            if (part.color[blocks] == part.color[blocks[0]]).all():
                yield blocks


def _classes(
    part: Subgraph, is_pair: npt.NDArray[np.bool_], blocks: IntArray, words: npt.NDArray[np.uint64]
) -> Iterator[IntArray]:
    """Blocks that look interchangeable, by hash: rows of ``blocks``."""
    source, target = _edges_of(part, blocks.ravel())
    inside = np.zeros(len(part.color), dtype=bool)
    inside[blocks] = True
    outward = ~inside[target]
    source, target = source[outward], target[outward]
    block = np.full(len(part.color), -1, dtype=np.int64)
    block[blocks] = np.arange(len(blocks))[:, None]
    features = _distinct(target, len(part.color))
    number = np.full(len(part.color), -1, dtype=np.int64)
    number[features] = np.arange(len(features))
    owner, reader = block[source], number[target]
    first, item = unique_keys(owner * len(features) + reader)
    around = _sum_by(item, words[0][source], len(first))
    place = _sum_by(item, words[1][part.color[source]], len(first))
    edge_owner, edge_target = _edges_of(part, features)
    total = _sum_by(number[edge_owner], words[0][edge_target], len(features))
    owner, reader = owner[first], reader[first]
    by_feature = np.argsort(reader, kind="stable")
    # Pairs outside the blocks have to stay, so blocks beside different ones differ.
    stays = is_pair[features[reader]]
    kept = _sum_by(owner[stays], words[0][features[reader[stays]]], len(blocks))
    with np.errstate(over="ignore"):  # hashes wrap around
        twin = interchangeable(
            starts(np.bincount(owner, minlength=len(blocks))),
            reader,
            around,
            place,
            total,
            np.where(is_pair[features], len(is_pair) + features, part.color[features]).astype(np.uint64),
            kept,
            starts(np.bincount(reader, minlength=len(features))),
            owner[by_feature],
            _TRIES,
        )
    for first_block in np.flatnonzero(np.bincount(twin, minlength=len(blocks)) > 1):
        yield blocks[twin == first_block]


def _edges_of(part: Subgraph, vertices: IntArray) -> tuple[IntArray, IntArray]:
    """The edges at some vertices: their ends there, and their other ends."""
    degree = part.start[vertices + 1] - part.start[vertices]
    edge = segments(part.start[vertices], degree)
    return np.repeat(vertices, degree), part.neighbor[edge].astype(np.int64)


def _distinct(vertices: IntArray, n: int) -> IntArray:
    seen = np.zeros(n, dtype=bool)
    seen[vertices] = True
    return np.flatnonzero(seen)


def _sum_by(owner: IntArray, words: npt.NDArray[np.uint64], n: int) -> npt.NDArray[np.uint64]:
    """Sums modulo 2⁶⁴ of the words of each owner."""
    out = np.zeros(n, dtype=np.uint64)
    np.add.at(out, owner, words)
    return out


def _verified(part: Subgraph, is_pair: npt.NDArray[np.bool_], classes: list[IntArray]) -> list[IntArray]:
    """The classes whose permutations all extend to automorphisms.

    Classes that no feature touches together are tried together: then each of them must hold.
    """
    n = len(part.color)
    touched = [_distinct(np.append(c.ravel(), _edges_of(part, c.ravel())[1]), n) for c in classes]
    apart = len(classes) > 1 and np.bincount(np.concatenate(touched)).max() == 1
    if apart and _are_symmetric(part, is_pair, classes):
        return classes
    return [c for c in classes if _are_symmetric(part, is_pair, [c])]


def _are_symmetric(part: Subgraph, is_pair: npt.NDArray[np.bool_], classes: list[IntArray]) -> bool:
    """Whether exchanging two blocks in each class and rotating each class are automorphisms."""
    blocks = np.concatenate(classes)
    swapped = np.concatenate([np.concatenate([c[1::-1], c[2:]]) for c in classes])
    if not _extends(part, is_pair, blocks, swapped):
        return False
    rolled = np.concatenate([np.roll(c, 1, axis=0) for c in classes])
    return max(map(len, classes)) == 2 or _extends(part, is_pair, blocks, rolled)


def _extends(part: Subgraph, is_pair: npt.NDArray[np.bool_], blocks: IntArray, images: IntArray) -> bool:
    """Whether moving the blocks, and the features beside them in the only way left, keeps the graph.

    Pairs outside the blocks have to stay where they are.
    """
    image = np.arange(len(part.color))
    name = np.where(is_pair, len(part.color) + image, part.color)
    image[blocks] = images
    inside = np.zeros(len(image), dtype=bool)
    inside[blocks] = True
    source, target = _edges_of(part, blocks.ravel())
    within = inside[target]
    n = len(image)
    kept = np.sort(source[within] * n + target[within])
    if not np.array_equal(kept, np.sort(image[source[within]] * n + image[target[within]])):
        return False
    features = _distinct(target[~within], n)
    beside = np.zeros(n, dtype=bool)
    beside[features] = True
    degree = part.start[features + 1] - part.start[features]
    for d in np.unique(degree):
        mine = features[degree == d]
        around = part.neighbor[part.start[mine][:, None] + np.arange(d)].astype(np.int64)
        if beside[around].any():
            return False
        color = name[mine][:, None]
        before = np.concatenate([color, np.sort(around, axis=1)], axis=1)
        after = np.concatenate([color, np.sort(image[around], axis=1)], axis=1)
        keys = row_keys(np.concatenate([before, after]))
        if not np.array_equal(np.sort(keys[: len(mine)]), np.sort(keys[len(mine) :])):
            return False
    return True
