"""Symmetric groups that act on more than blocks: people are permuted, and pairs of people with them.

If telling all blocks of one kind apart tells every vertex apart, a permutation of the blocks extends
to the whole graph in one way at most. Colour refinement of several copies of the graph, whose blocks are
numbered differently, finds that way; comparing edges says whether it is an automorphism. An exchange
of two blocks and a rotation of all generate all permutations, so two of them decide.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.graph.model import Int32Array
from plx.graph.ragged import owners
from plx.graph.rows import unique_rows
from plx.lift.limits import VERTICES
from plx.lift.refine import Subgraph, refine
from plx.lift.twins import families
from plx.values import IntArray

_FAMILIES = 3
"""Kinds of blocks that are tried."""


class Action(NamedTuple):
    """All permutations of ``blocks`` [k, width] are automorphisms; ``generators`` [2, n] generate them."""

    blocks: IntArray
    generators: Int32Array


def symmetric_action(part: Subgraph, is_pair: npt.NDArray[np.bool_]) -> Action | None:
    """A kind of blocks, with pairs among them, that can be permuted in all ways; None if none is found."""
    if len(part.color) > VERTICES:
        return None
    degree = int(np.diff(part.start).max(initial=0))
    tried = 0
    for blocks in sorted(families(part), key=len, reverse=True):
        k = len(blocks)
        # What ties blocks to each other has k(k-1)/2 places or more, or sees all blocks but one.
        enough = k * (k - 1) // 2 <= len(part.color) or degree >= k - 1
        if k < 3 or not enough or not is_pair[blocks[0]].any():
            continue
        generators = _extend(part, blocks)
        if generators is not None:
            return Action(blocks, generators)
        tried += 1
        if tried == _FAMILIES:
            break
    return None


def _extend(part: Subgraph, blocks: IntArray) -> Int32Array | None:
    """An exchange of two blocks and a rotation of all, extended to all vertices."""
    k, n = len(blocks), len(part.color)
    identity = np.arange(k)
    exchange = np.concatenate([[1, 0], identity[2:]])
    numbers = [identity, exchange, np.roll(identity, 1)]
    mark = np.zeros((3, n), dtype=np.int64)
    for copy, number in enumerate(numbers):
        mark[copy, blocks[number]] = 1 + identity[:, None]
    rows = np.stack([np.tile(part.color, 3), mark.ravel()], axis=1)
    _, color = unique_rows(rows)
    edges = len(part.neighbor)
    start = np.concatenate([part.start[:-1], part.start[:-1] + edges, part.start + 2 * edges])
    neighbor = np.concatenate([part.neighbor, part.neighbor + n, part.neighbor + 2 * n]).astype(np.int32)
    cell = refine(start, neighbor, color)
    order = np.argsort(cell, kind="stable")
    if int(cell.max()) + 1 != n or not (order.reshape(n, 3) // n == np.arange(3)).all():
        return None
    matched = order.reshape(n, 3) % n
    images = np.empty((2, n), dtype=np.int32)
    for i in (0, 1):
        images[i, matched[:, 0]] = matched[:, i + 1]
        if not _keeps_edges(part, images[i]):
            return None
    return images


def _keeps_edges(part: Subgraph, image: Int32Array) -> bool:
    n = len(image)
    source = owners(part.start)
    before = np.sort(source * n + part.neighbor)
    after = np.sort(image[source].astype(np.int64) * n + image[part.neighbor])
    return bool((part.color[image] == part.color).all() and np.array_equal(before, after))
