"""Layers: a group as an ordered product of subgroups in which every element has one factorisation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from plx.graph.model import Int32Array
from plx.values import IntArray


@dataclass(frozen=True)
class Layer:
    """The same group acting on each of several disjoint sets of points.

    ``points`` has shape [copies, blocks, width]. Without generators, the group of a copy permutes its
    blocks in all ways, place by place: it is symmetric. With generators [g, width] (images of the
    places) there is one block, and ``order`` is the order of what they generate.
    """

    points: IntArray
    generators: Int32Array = field(default_factory=lambda: np.empty((0, 0), dtype=np.int32))
    order: int = 1

    @property
    def is_symmetric(self) -> bool:
        return len(self.generators) == 0

    @property
    def total_order(self) -> int:
        """The exact order over all copies."""
        copies, blocks, _ = self.points.shape
        return int((math.factorial(blocks) if self.is_symmetric else self.order) ** copies)

    def on(self, place: IntArray) -> Layer:
        """The layer with points renamed: point p is ``place[..., p]``, one copy of all for each row."""
        moved = place[..., self.points].reshape(-1, *self.points.shape[1:])
        return Layer(moved, self.generators, self.order)


def symmetric(blocks: IntArray) -> Layer:
    """All permutations of blocks [k, width]."""
    return Layer(np.asarray(blocks, dtype=np.int64)[None])


def generated(points: IntArray, generators: Int32Array, order: int) -> Layer:
    """The group that permutations of ``points`` [width] generate."""
    return Layer(np.asarray(points, dtype=np.int64)[None, None], generators, order)
