"""What joint states of blocks are made of, as the kernel of exchanges reads it."""

from __future__ import annotations

import numpy as np

from plx.graph.ragged import starts
from plx.infer.gibbs.block_arrays import VariableBlock
from plx.infer.kernels.exchanges import Held
from plx.values import IntArray


def held_rows(blocks: list[VariableBlock]) -> Held:
    """The sources, guards and proposals of blocks that are all exchanges."""
    guards = [guard for block in blocks for guard in (block.guards or ((),) * len(block.states))]
    proposals = [block.proposal for block in blocks]
    none = np.full((1, 1), -1, dtype=np.int64)
    between, at = _shared([none if one is None else one.between for one in proposals])
    most = max(
        len(block.members) * (1 + (block.proposal is not None)) + len(block.sources) for block in blocks
    )
    return Held(
        most=most,
        source_start=starts([len(block.sources) for block in blocks]),
        source=_i32(np.concatenate([block.sources for block in blocks])),
        guard_base=starts([len(block.states) for block in blocks])[:-1],
        guard_start=starts([len(guard) for guard in guards]),
        guard=_i32(np.array([row for guard in guards for row in guard], dtype=np.int64)),
        elements=np.array([0 if one is None else len(one.between) for one in proposals], dtype=np.int64),
        one=np.array([0 if one is None else one.one for one in proposals], dtype=np.int64),
        other=np.array([0 if one is None else one.other for one in proposals], dtype=np.int64),
        between=_i32(between),
        between_start=at,
    )


def _shared(parts: list[IntArray]) -> tuple[IntArray, IntArray]:
    """All parts, one after the other, each stored once; and where each begins."""
    place: dict[int, int] = {}
    kept: list[IntArray] = []
    at, size = [], 0
    for part in parts:
        if id(part) not in place:
            place[id(part)] = size
            kept.append(part.ravel())
            size += part.size
        at.append(place[id(part)])
    return np.concatenate(kept), np.array(at, dtype=np.int64)


def _i32(values: IntArray) -> np.ndarray:
    return np.require(values, np.int32, ("C", "W"))
