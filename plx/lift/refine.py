"""Coloured graphs made smaller before a solver sees them: stable colours, stripped edges, components."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.graph.components import component_numbers
from plx.graph.model import Int32Array
from plx.graph.ragged import owners
from plx.graph.rows import unique_keys
from plx.lift.kernels import adjacency, refine
from plx.values import IntArray


class Subgraph(NamedTuple):
    """A coloured graph on some vertices of a larger one; ``origin[v]`` is the old number of v."""

    start: IntArray
    neighbor: Int32Array
    color: IntArray
    origin: IntArray


def stable(part: Subgraph) -> Subgraph:
    """The part with stable colours and without the edges between cells that are completely joined.

    Such edges (all those of a cell of one vertex, for example) exclude no automorphism that keeps
    the cells, so what is left has the same automorphisms and falls apart into components.
    """
    color = refine(part.start, part.neighbor, part.color)
    left = owners(part.start)
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
