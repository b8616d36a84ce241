"""Updates of several variables at once, by enumeration of the joint states of a block.

The arrays and lanes are those of `plx.infer.kernels.gibbs`: ``state[variable, chain]``, totals and states
of derived nodes. With NUMBA_DISABLE_JIT=1 all chains are identical.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.choice import _cumulate
from plx.infer.kernels.random import _random
from plx.infer.kernels.rows import _add_mapped, _add_row, _map
from plx.jit import Kernel, array, inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]
States = npt.NDArray[np.integer]
Number = int | np.int64


class BlockArrays(NamedTuple):
    """What the kernel reads; starts are offsets into the array named after them.

    Rows of operands: -1 - i is member i of the block; then as in `plx.infer.kernels.gibbs` variables from
    0, states of derived nodes from V, and from V + D the candidate states of the block's affected nodes.
    """

    max_states: int
    max_affected: int
    member_start: Int64  # [B + 1]
    member: Int32  # variables
    n_states: Int64  # [B]
    joint_start: Int64  # [B] start in joint: one row of states of the members per joint state
    joint: Int32
    base_start: Int64  # [B] start in base: the log weight of each joint state by itself
    base: Float64

    affected_start: Int64  # [B + 1]
    affected: Int32  # derived rows, inputs first
    edge_start: Int64  # [len(affected) + 1]
    edge_source: Int32  # -1 - i: member i, else a position among the block's affected nodes
    edge_contribution: Int64  # start in contribution
    contribution: Int32
    output_start: Int64  # [D]
    output: Int32

    term_start: Int64  # [B + 1]
    term_entry: Int64  # start in potential
    operand_start: Int64  # [len(term_entry) + 1]
    operand_row: Int32
    operand_stride: Int32
    potential: Float64


@inner
def _shift(
    b: Number, sign: Number, member_start: Int64, member: Int32, affected_start: Int64, affected: Int32,
    edge_start: Int64, edge_source: Int32, edge_contribution: Int64, contribution: Int32,
    output_start: Int64, output: Int32, state: States, total: Int32, level: Int32,
) -> None:  # fmt: skip
    """Add (sign 1) or take away (-1) what the members contribute to the affected nodes."""
    first = affected_start[b]
    for a in range(first, affected_start[b + 1]):
        row = affected[a]
        for e in range(edge_start[a], edge_start[a + 1]):
            start, source = edge_contribution[e], edge_source[e]
            if source < 0:
                v = member[member_start[b] - 1 - source]
                _add_mapped(v, state, start, contribution, sign, total, row)
            else:
                _add_mapped(affected[first + source], level, start, contribution, sign, total, row)
        if sign > 0:
            _map(output_start[row], output, total, row, level, row)


@inner
def _candidates(
    b: Number, joint_at: Number, joint: Int32, affected_start: Int64, affected: Int32, edge_start: Int64,
    edge_source: Int32, edge_contribution: Int64, contribution: Int32, output_start: Int64, output: Int32,
    total: Int32, candidate: Int32,
) -> None:  # fmt: skip
    """States of the affected nodes if the members, now taken away, had the joint state at ``joint_at``."""
    first = affected_start[b]
    for a in range(first, affected_start[b + 1]):
        own = a - first
        for c in range(total.shape[1]):
            candidate[own, c] = total[affected[a], c]
        for e in range(edge_start[a], edge_start[a + 1]):
            start, source = edge_contribution[e], edge_source[e]
            if source < 0:
                added = contribution[start + joint[joint_at - 1 - source]]
                for c in range(total.shape[1]):
                    candidate[own, c] += added
            else:
                _add_mapped(source, candidate, start, contribution, 1, candidate, own)
        _map(output_start[affected[a]], output, candidate, own, candidate, own)


@inner
def _entry(
    first: Number, last: Number, joint_at: Number, joint: Int32, rows: Int32, strides: Int32,
    state: States, level: Int32, candidate: Int32, index: Int32,
) -> None:  # fmt: skip
    """The entry of a factor's table, lane by lane, from its operands first … last - 1."""
    n, d = state.shape[0], level.shape[0]
    fixed = np.int64(0)
    for i in range(first, last):
        if rows[i] < 0:
            fixed += np.int64(strides[i]) * joint[joint_at - 1 - rows[i]]
    for c in range(index.shape[0]):
        index[c] = fixed
    for i in range(first, last):
        row = rows[i]
        if row >= n + d:
            _add_row(row - n - d, strides[i], candidate, index)
        elif row >= n:
            _add_row(row - n, strides[i], level, index)
        elif row >= 0:
            _add_row(row, strides[i], state, index)


@inner
def _pick(count: Number, score: Float64, draw: Int32, index: Int32) -> None:
    """index: joint states drawn with probabilities ∝ exp(score); row ``count`` of score is scratch."""
    _cumulate(count, draw, score)
    for c in range(draw.shape[0]):
        index[c] = 0
    for k in range(count - 1):
        for c in range(draw.shape[0]):
            index[c] += score[k, c] <= score[count, c]


def _sweep(
    m: BlockArrays, first: int, last: int, state: States, total: Int32, level: Int32, rng: UInt32
) -> None:
    """Update the blocks first … last - 1. Arrays: state [V, C], total and level [D, C], rng [4, C]."""
    member_start, member, joint, joint_start = m.member_start, m.member, m.joint, m.joint_start
    affected_start, affected = m.affected_start, m.affected
    edge_start, edge_source, edge_contribution = m.edge_start, m.edge_source, m.edge_contribution
    contribution, output_start, output = m.contribution, m.output_start, m.output
    term_start, term_entry, operand_start = m.term_start, m.term_entry, m.operand_start
    operand_row, operand_stride, potential, base = m.operand_row, m.operand_stride, m.potential, m.base
    lanes = state.shape[1]
    draw = np.empty(lanes, dtype=np.int32)
    index = np.empty(lanes, dtype=np.int32)
    candidate = np.empty((m.max_affected, lanes), dtype=np.int32)
    score = np.empty((m.max_states + 1, lanes))
    for b in range(first, last):
        size, count = member_start[b + 1] - member_start[b], m.n_states[b]
        _random(rng, draw)
        _shift(b, -1, member_start, member, affected_start, affected, edge_start, edge_source,
               edge_contribution, contribution, output_start, output, state, total, level)  # fmt: skip
        for k in range(count):
            at = joint_start[b] + k * size
            for c in range(lanes):
                score[k, c] = base[m.base_start[b] + k]
            _candidates(b, at, joint, affected_start, affected, edge_start, edge_source,
                        edge_contribution, contribution, output_start, output, total, candidate)  # fmt: skip
            for t in range(term_start[b], term_start[b + 1]):
                _entry(operand_start[t], operand_start[t + 1], at, joint, operand_row, operand_stride,
                       state, level, candidate, index)  # fmt: skip
                for c in range(lanes):
                    score[k, c] += potential[term_entry[t] + index[c]]
        _pick(count, score, draw, index)
        for i in range(size):
            v = member[member_start[b] + i]
            for c in range(lanes):
                state[v, c] = joint[joint_start[b] + index[c] * size + i]
        _shift(b, 1, member_start, member, affected_start, affected, edge_start, edge_source,
               edge_contribution, contribution, output_start, output, state, total, level)  # fmt: skip


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_sweep` compiled for one type of state, uint8 or uint16."""
    return Kernel(_sweep, sweep_signature(state)).compiled


def sweep_signature(state: str) -> list[object]:
    """The signature of a sweep over blocks for one type of state."""
    lanes = array("int32", 2)
    return [BlockArrays, int, int, array(state, 2), lanes, lanes, array("uint32", 2)]
