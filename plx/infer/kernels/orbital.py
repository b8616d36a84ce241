"""Moves along orbits: uniform elements of a group applied to the states of lanes, between sweeps.

All lanes are moved by the same elements. That keeps them as good as independent: given the elements,
lanes are independent chains that all leave the distribution π alone, so E[f(lane) | elements] = π(f)
whatever the elements are, and two lanes that have settled are uncorrelated. Standard errors from the
spread between lanes stay right. Where weights matter an element g only leaves π alone if g and g⁻¹ are
proposed equally often, so there every lane chooses between them by its own coin, and accepts by itself.
What is drawn from the shared generator depends on no state, so blocks of lanes draw the same.

The arrays and lanes are those of `plx.infer.kernels.gibbs`, and states are the same with NUMBA_DISABLE_JIT=1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.derived import _LESS, _MORE, _shift
from plx.infer.kernels.gibbs import Compiled, _keep, _record, _sweep
from plx.infer.kernels.metropolis import _choose, _exchange, _propose
from plx.infer.kernels.pieces import EVEN, PROPOSED, UNKNOWNS, VALUES, Moves
from plx.infer.kernels.rejection_free import _move_even, _rotate_values, _shuffle_unknowns
from plx.jit import Kernel, array, inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
States = npt.NDArray[np.integer]


def _signature(state: str) -> list[object]:
    lanes, seeds, states = array("int32", 2), array("uint32", 2), array(state, 2)
    random, accepted = array("uint64"), array("int64")
    return [Compiled, Moves, states, lanes, lanes, seeds, seeds, random, accepted, int, int, lanes]


@inner
def _move(
    m: Moves, state: States, random: UInt64, accepted: Int64, image: Int64, inverse: Int64, now: Int64,
    target: Int64, start: Int64, word: Int64, to: Int64, way: Int64, old: States, goes: States,
    more: Float64, gain: Float64,
) -> None:  # fmt: skip
    """Move the state of every lane by every piece in turn; the arrays from ``image`` on are scratch."""
    blocks, first, row_first, row = m.blocks, m.first, m.row_first, m.row
    for b in range(len(m.batch_kind)):
        begin, end, kind = m.batch_start[b], m.batch_start[b + 1], m.batch_kind[b]
        if kind == VALUES:
            _rotate_values(begin, end, blocks, first, row_first, row, m.row_place, m.place, m.value, to,
                           state, random)  # fmt: skip
        elif kind == UNKNOWNS:
            _shuffle_unknowns(begin, end, blocks, row_first, row, state, random)
        elif kind == EVEN:
            _move_even(begin, end, m, image, target, word, to, old, state, random)
        elif kind == PROPOSED:
            _propose(begin, end, m, image, inverse, now, word, to, old, goes, more, gain, way, state, random,
                     accepted)  # fmt: skip
        else:
            for p in range(begin, end):
                if m.subset[p] >= 0:
                    _choose(blocks[p], first[p], m.subset[p], m.probability, m.variable, m.value, way,
                            state, random)  # fmt: skip
                    continue
                for lane in range(state.shape[1]):
                    _exchange(blocks[p], m.width[p], first[p], m.weight, m.variable, m.value, target, image,
                              start, state, random, lane)  # fmt: skip


@inner
def _follow(m: Compiled, moved: Int32, before: States, state: States, total: Int32, level: Int32) -> None:
    """Bring derived nodes up to date with moved unknowns, one after the other; so is ``before``."""
    affected_start, affected = m.affected_start, m.affected
    edge_start, edge_source, edge_contribution = m.edge_start, m.edge_source, m.edge_contribution
    contribution, output_start, output = m.contribution, m.output_start, m.output
    edge_step, awaited = m.edge_step, m.awaited
    for r in range(len(moved)):
        v = np.int64(moved[r])
        first, last, same = affected_start[v], affected_start[v + 1], True
        for c in range(state.shape[1]):
            same &= before[v, c] == state[v, c]
        if same or first == last:
            continue
        _shift(first, last, v, _LESS, affected, edge_start, edge_source, edge_contribution, edge_step,
               contribution, output_start, output, awaited, True, before, total, level)  # fmt: skip
        _shift(first, last, v, _MORE, affected, edge_start, edge_source, edge_contribution, edge_step,
               contribution, output_start, output, awaited, True, state, total, level)  # fmt: skip
        before[v] = state[v]


def _advance(
    m: Compiled, moves: Moves, state: States, total: Int32, level: Int32, rng: UInt32, scan: UInt32,
    random: UInt64, accepted: Int64, draws: int, updates: int, counts: Int32,
) -> None:  # fmt: skip
    """``draws`` times: a move, ``updates`` of single variables, then record.

    As in `plx.infer.kernels.gibbs`, and ``random`` [lanes + 1] are generators of the lanes for their own
    choices in moves, and last the one of the elements that all lanes share. ``accepted`` [2] counts proposals
    of pieces that can refuse them, and those that were accepted.
    """
    lanes = state.shape[1]
    draw = np.empty(lanes, dtype=np.int32)
    index, cut = np.empty(lanes, dtype=np.int32), np.empty(lanes, dtype=np.int32)
    pick = np.empty(scan.shape[1], dtype=np.int32)
    candidate = np.empty((m.max_candidates, lanes), dtype=np.int32)
    score = np.empty((m.max_card + 1, lanes))
    seen = np.zeros(counts.shape, dtype=np.uint8)
    image, inverse = np.empty(moves.most_places, np.int64), np.empty(moves.most_places, np.int64)
    now, word = np.empty(moves.most_rows, np.int64), np.empty(moves.most_word, np.int64)
    target, start = np.empty(moves.most_blocks, np.int64), np.empty(moves.most_blocks + 1, np.int64)
    to, more = np.empty(moves.most_states, np.int64), np.empty((2, moves.most_states))
    way, gain = np.empty(lanes, np.int64), np.empty((2, lanes))
    old, goes = np.empty_like(state), np.empty((2, lanes), state.dtype)
    follows = len(total) > 0
    before = np.empty(state.shape if follows else (0, 0), state.dtype)
    for i in range(draws):
        if follows:
            for v in range(state.shape[0]):  # a slice would take seconds to compile
                for c in range(lanes):
                    before[v, c] = state[v, c]
        _move(moves, state, random, accepted, image, inverse, now, target, start, word, to, way, old, goes,
              more, gain)  # fmt: skip
        if follows:
            _follow(m, moves.row, before, state, total, level)
        _sweep(m, state, total, level, rng, scan, updates, draw, cut, pick, index, candidate, score)
        if counts.shape[0]:
            _record(m, state, total, level, index, candidate, seen)
            _keep(i, draws, seen, counts)


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_advance` compiled for one type of state, uint8 or uint16."""
    return Kernel(_advance, _signature(state)).compiled
