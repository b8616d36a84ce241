"""Coloured graphs made smaller before a solver sees them: stable colours, stripped edges, components."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.components import component_numbers
from plx.graph.model import Int32Array
from plx.graph.ragged import owners
from plx.graph.rows import unique_keys
from plx.lift.kernels import Partition, adjacency, refine_some
from plx.lift.limits import REFINED_AT_ONCE
from plx.values import IntArray


class Subgraph(NamedTuple):
    """A coloured graph on some vertices of a larger one; ``origin[v]`` is the old number of v."""

    start: IntArray
    neighbor: Int32Array
    color: IntArray
    origin: IntArray


def refine(start: IntArray, neighbor: Int32Array, color: IntArray) -> IntArray:
    """The coarsest equitable partition of a graph (1-WL) that is finer than its colours.

    ``color`` is a dense colouring from 0. Returns a dense colouring whose classes are the cells, in an order
    that refines the given one. Raises OutOfTimeError at the deadline.
    """
    partition = _by_color(color)
    while not refine_some(start, neighbor, partition, REFINED_AT_ONCE):
        deadline.check()
    dense = np.empty(len(color), dtype=np.int64)
    first = partition.cell[partition.element] == np.arange(len(color))
    dense[partition.element] = np.cumsum(first) - 1
    return dense


def _by_color(color: IntArray) -> Partition:
    """Cells of one colour each, all of which wait."""
    n = len(color)
    element = np.argsort(color, kind="stable")
    position = np.empty(n, dtype=np.int64)
    position[element] = np.arange(n)
    first = np.flatnonzero(np.diff(color[element], prepend=-1))
    size = np.diff(np.append(first, n))
    length, waiting, queue = (np.zeros(n + 1, dtype=np.int64) for _ in range(3))
    length[first], waiting[first], queue[: len(first)] = size, 1, first
    cell = np.empty(n, dtype=np.int64)
    cell[element] = np.repeat(first, size)
    ring = np.array([0, len(first)])
    count, touched, cells, spare = (np.zeros(n, dtype=np.int64) for _ in range(4))
    moved = np.zeros(n + 1, dtype=np.int64)
    return Partition(
        element, position, cell, length, queue, waiting, ring, count, moved, touched, cells, spare
    )


def stable(part: Subgraph) -> Subgraph:
    """The part with stable colours and without the edges between cells that are completely joined.

    Such edges (all those of a cell of one vertex, for example) exclude no automorphism that keeps
    the cells, so what is left has the same automorphisms and falls apart into components.
    """
    color = refine(part.start, part.neighbor, part.color)
    left = owners(part.start)
    deadline.check()
    once = left < part.neighbor
    left, right = left[once], part.neighbor[once].astype(np.int64)
    size = np.bincount(color)
    low = np.minimum(color[left], color[right])
    high = np.maximum(color[left], color[right])
    _, pair = unique_keys(low * len(size) + high)
    full = np.where(low == high, size[low] * (size[low] - 1) // 2, size[low] * size[high])
    kept = np.bincount(pair)[pair] < full if len(pair) else np.empty(0, dtype=bool)
    start, neighbor = adjacency(len(color), left[kept], right[kept])
    return Subgraph(start, neighbor, color, part.origin)


def split(part: Subgraph) -> list[IntArray]:
    """The components, by size: per size the vertices [components, size], ordered by colour."""
    component = component_numbers(len(part.color), owners(part.start), part.neighbor)
    order = np.lexsort((part.color, component))
    size = np.bincount(component)
    begin = np.cumsum(size) - size
    return [order[begin[size == s][:, None] + np.arange(s)] for s in np.unique(size)]


def induced(part: Subgraph, vertices: IntArray) -> Subgraph:
    """The part on these vertices, in this order, with dense colours."""
    place = np.full(len(part.color), -1, dtype=np.int64)
    place[vertices] = np.arange(len(vertices))
    left, right = inner_edges(part, place)
    start, neighbor = adjacency(len(vertices), left, right)
    _, color = unique_keys(part.color[vertices])
    return Subgraph(start, neighbor, color, part.origin[vertices])


def inner_edges(part: Subgraph, place: IntArray) -> tuple[IntArray, IntArray]:
    """Edges between the vertices that have a place ≥ 0, each once, as places."""
    left = owners(part.start)
    once: npt.NDArray[np.bool_] = (left < part.neighbor) & (place[left] >= 0) & (place[part.neighbor] >= 0)
    return place[left[once]], place[part.neighbor[once]]
