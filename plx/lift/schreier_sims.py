"""Stabiliser chains: exactly uniform elements of a permutation group (Schreier & Sims)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx.graph.model import Int32Array
from plx.lift.kernels import schreier_tree, sift
from plx.lift.limits import CELLS
from plx.values import IntArray

_EXTRA = 12
"""Random elements added to every level, so that Schreier trees are shallow."""

_TRIES = 40
"""Random elements that must sift through before a chain of unknown order counts as complete."""


class GroupTooLargeError(Exception):
    """A stabiliser chain would not fit in memory."""


@dataclass(frozen=True)
class StabiliserChain:
    """A base and, per level, the orbit of its point under what fixes the points before.

    Every element is u₀∘u₁∘…, with one u from each level, in exactly one way; u is read off the tree:
    ``via[level, x]`` is the last element on the way from the base point to x and ``parent[level, x]``
    the point before (``via`` is -2 at the base point, -1 outside the orbit).
    """

    elements: Int32Array  # [r, n]
    base: IntArray  # [levels]
    via: Int32Array  # [levels, n]
    parent: Int32Array  # [levels, n]
    orbit: IntArray  # [levels, n], the first `size[level]` of each row
    size: IntArray  # [levels]

    @property
    def order(self) -> int:
        """The number of elements, exactly."""
        order = 1
        for size in self.size.tolist():
            order *= size
        return order

    def random(self, rng: np.random.Generator) -> Int32Array:
        """A uniform element, as images of the points."""
        image = np.arange(self.elements.shape[1], dtype=np.int32)
        for level in range(len(self.base) - 1, -1, -1):
            point = int(self.orbit[level, rng.integers(self.size[level])])
            word = []
            while self.via[level, point] >= 0:
                word.append(self.via[level, point])
                point = int(self.parent[level, point])
            for r in reversed(word):
                image = self.elements[r][image]
        return image

    @property
    def longest_word(self) -> int:
        """The most elements that a uniform one is composed of."""
        return sum(int(_depths(self, level).max()) for level in range(len(self.base)))


def flat(chain: StabiliserChain, cells: int) -> StabiliserChain:
    """The chain with an element for every point of every orbit, so that no tree is deeper than one step.

    The chain as it is, if that takes more than so many entries.
    """
    n = chain.elements.shape[1]
    if int((chain.size - 1).sum()) * n > cells:
        return chain
    elements, via, parent = [], chain.via.copy(), chain.parent.copy()
    count = 0
    for level, size in enumerate(chain.size.tolist()):
        points = chain.orbit[level, :size]
        rank = np.empty(n, dtype=np.int64)
        rank[points] = np.arange(size)
        reach = np.tile(np.arange(n, dtype=np.int32), (size, 1))
        depth = _depths(chain, level)
        for d in range(1, int(depth.max()) + 1):
            at = np.flatnonzero(depth == d)
            last, before = chain.via[level, points[at]], chain.parent[level, points[at]]
            reach[at] = np.take_along_axis(chain.elements[last], reach[rank[before]], axis=1)
        elements.append(reach[1:])
        via[level, points[1:]] = np.arange(count, count + size - 1)
        parent[level, points[1:]] = points[0]
        count += size - 1
    return StabiliserChain(np.concatenate(elements), chain.base, via, parent, chain.orbit, chain.size)


def _depths(chain: StabiliserChain, level: int) -> IntArray:
    """How many elements take the base point of a level to each point of its orbit."""
    point = chain.orbit[level, : chain.size[level]].copy()
    depth = np.zeros(len(point), dtype=np.int64)
    while (far := chain.via[level, point] >= 0).any():
        depth += far
        point[far] = chain.parent[level, point[far]]
    return depth


def stabiliser_chain(generators: Int32Array, order: int | None = None, seed: int = 0) -> StabiliserChain:
    """The chain of the group that generators [g, n] generate.

    With the exact ``order`` the chain is certain to be complete: random elements are sifted until the
    product of the orbit lengths is the order. Without it, until ``_TRIES`` in a row sift through.
    Raises GroupTooLarge past memory.
    """
    build = _SchreierSims(generators, np.random.default_rng(seed))
    trivial = 0
    while build.order() != order if order is not None else trivial < _TRIES:
        trivial = 0 if build.extend(build.random()) else trivial + 1
    return build.chain()


class _SchreierSims:
    """A chain in the making. Strong generators are few, so levels are grown again as they come."""

    def __init__(self, generators: Int32Array, rng: np.random.Generator) -> None:
        self.rng = rng
        self.n = generators.shape[1]
        self.identity = np.arange(self.n, dtype=np.int32)
        moving = [g.astype(np.int32) for g in generators if (g != self.identity).any()]
        self.slots = [moving[i % len(moving)] for i in range(max(10, len(moving)))]
        self.count = 0
        self.elements = np.empty((16, self.n), dtype=np.int32)
        self.inverses = np.empty((16, self.n), dtype=np.int32)
        self.rows: list[list[int]] = []  # per level, elements that fix the base points before
        self.base = np.empty(0, dtype=np.int64)
        self.size = np.empty(0, dtype=np.int64)
        self.via = np.empty((0, self.n), dtype=np.int32)
        self.parent = np.empty((0, self.n), dtype=np.int32)
        self.orbit = np.empty((0, self.n), dtype=np.int64)
        # Exponents double about every ten steps; they must pass the length of the longest cycle.
        for _ in range(100 + 4 * len(moving) + 25 * self.n.bit_length()):
            self.random()
        self._new_level(int(np.flatnonzero(moving[0] != self.identity)[0]))
        self.rows[0] = [self._store(g) for g in (*moving, *(self.random() for _ in range(_EXTRA)))]
        self._grow(0)

    def order(self) -> int:
        order = 1
        for size in self.size.tolist():
            order *= size
        return order

    def random(self) -> Int32Array:
        """The next element of product replacement."""
        i, j = self.rng.choice(len(self.slots), size=2, replace=False)
        other = self.slots[j] if self.rng.random() < 0.5 else _inverse(self.slots[j])
        product: Int32Array = self.slots[i][other] if self.rng.random() < 0.5 else other[self.slots[i]]
        self.slots[i] = product
        return product

    def extend(self, element: Int32Array) -> bool:
        """Sift an element; whether what is left of it made the chain longer."""
        image = element.copy()
        level = sift(image, self.inverses[: self.count], self.base, self.via, self.parent)
        if (image == self.identity).all():
            return False
        if level == len(self.base):
            self._new_level(int(np.flatnonzero(image != self.identity)[0]))
        number = self._store(image)
        for at in range(level, -1, -1):
            inside = self.orbit[at, : self.size[at]]
            if at == level or (self.via[at, image[inside]] == -1).any():
                self.rows[at].append(number)
                self._grow(at)
        return True

    def _store(self, element: Int32Array) -> int:
        if self.count == len(self.elements):
            if (2 * self.count + len(self.base)) * self.n > CELLS:
                raise GroupTooLargeError
            self.elements = np.concatenate([self.elements, np.empty_like(self.elements)])
            self.inverses = np.concatenate([self.inverses, np.empty_like(self.inverses)])
        self.elements[self.count] = element
        self.inverses[self.count] = _inverse(element)
        self.count += 1
        return self.count - 1

    def _new_level(self, point: int) -> None:
        if (self.count + len(self.base)) * self.n > CELLS:
            raise GroupTooLargeError
        blank = np.full((1, self.n), -1)
        self.base = np.append(self.base, point)
        self.size = np.append(self.size, 1)
        self.rows.append([])
        self.via = np.concatenate([self.via, blank.astype(np.int32)])
        self.parent = np.concatenate([self.parent, blank.astype(np.int32)])
        self.orbit = np.concatenate([self.orbit, blank])

    def _grow(self, level: int) -> None:
        rows = np.array(self.rows[level], dtype=np.int64)
        self.size[level] = schreier_tree(
            self.elements[: self.count],
            rows,
            self.base[level],
            self.orbit[level],
            self.via[level],
            self.parent[level],
        )

    def chain(self) -> StabiliserChain:
        return StabiliserChain(
            self.elements[: self.count].copy(), self.base, self.via, self.parent, self.orbit, self.size
        )


def _inverse(image: Int32Array) -> Int32Array:
    inverse = np.empty_like(image)
    inverse[image] = np.arange(len(image), dtype=image.dtype)
    return inverse
