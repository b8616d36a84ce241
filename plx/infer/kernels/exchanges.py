"""Updates in which the variables of a block exchange their states, or keep them.

A rule that all of some variables differ leaves no single one of them free to move where they use up all
values; two that exchange theirs keep it. The arrays are those of `plx.infer.kernels.blocks`, but a joint
state names for each member the member whose state it takes, so that it means other states in every lane.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.blocks import BlockArrays, _pick, _shift, sweep_signature
from plx.infer.kernels.random import _random
from plx.infer.kernels.rows import _add_mapped, _add_row, _map
from plx.jit import Kernel, inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
States = npt.NDArray[np.integer]
Number = int | np.int64


@inner
def _exchanged(
    b: Number, joint_at: Number, joint: Int32, affected_start: Int64, affected: Int32, edge_start: Int64,
    edge_source: Int32, edge_contribution: Int64, contribution: Int32, output_start: Int64, output: Int32,
    held: States, total: Int32, candidate: Int32,
) -> None:  # fmt: skip
    """States of the affected nodes if the members, now taken away, had those of ``held`` in another order."""
    first = affected_start[b]
    for a in range(first, affected_start[b + 1]):
        own = a - first
        for c in range(total.shape[1]):
            candidate[own, c] = total[affected[a], c]
        for e in range(edge_start[a], edge_start[a + 1]):
            start, source = edge_contribution[e], edge_source[e]
            if source < 0:
                _add_mapped(joint[joint_at - 1 - source], held, start, contribution, 1, candidate, own)
            else:
                _add_mapped(source, candidate, start, contribution, 1, candidate, own)
        _map(output_start[affected[a]], output, candidate, own, candidate, own)


@inner
def _entry_exchanged(
    first: Number, last: Number, joint_at: Number, joint: Int32, rows: Int32, strides: Int32,
    held: States, state: States, level: Int32, candidate: Int32, index: Int32,
) -> None:  # fmt: skip
    """The entry of a factor's table, lane by lane, from its operands first … last - 1."""
    n, d = state.shape[0], level.shape[0]
    for c in range(index.shape[0]):
        index[c] = 0
    for i in range(first, last):
        row = rows[i]
        if row >= n + d:
            _add_row(row - n - d, strides[i], candidate, index)
        elif row >= n:
            _add_row(row - n, strides[i], level, index)
        elif row >= 0:
            _add_row(row, strides[i], state, index)
        else:
            _add_row(joint[joint_at - 1 - row], strides[i], held, index)


def _sweep(
    m: BlockArrays, first: int, last: int, state: States, total: Int32, level: Int32, rng: UInt32
) -> None:
    """Update the blocks first … last - 1. Arrays: state [V, C], total and level [D, C], rng [4, C]."""
    member_start, member, joint, joint_start = m.member_start, m.member, m.joint, m.joint_start
    affected_start, affected = m.affected_start, m.affected
    edge_start, edge_source, edge_contribution = m.edge_start, m.edge_source, m.edge_contribution
    contribution, output_start, output = m.contribution, m.output_start, m.output
    term_start, term_entry, operand_start = m.term_start, m.term_entry, m.operand_start
    operand_row, operand_stride, potential = m.operand_row, m.operand_stride, m.potential
    lanes = state.shape[1]
    draw = np.empty(lanes, dtype=np.int32)
    index = np.empty(lanes, dtype=np.int32)
    candidate = np.empty((m.max_affected, lanes), dtype=np.int32)
    score = np.empty((m.max_states + 1, lanes))
    held = np.empty((m.max_states, lanes), dtype=state.dtype)
    for b in range(first, last):
        size, count = member_start[b + 1] - member_start[b], m.n_states[b]
        _random(rng, draw)
        _shift(b, -1, member_start, member, affected_start, affected, edge_start, edge_source,
               edge_contribution, contribution, output_start, output, state, total, level)  # fmt: skip
        for i in range(size):
            for c in range(lanes):
                held[i, c] = state[member[member_start[b] + i], c]
        for k in range(count):
            at = joint_start[b] + k * size
            for c in range(lanes):
                score[k, c] = 0.0
            _exchanged(b, at, joint, affected_start, affected, edge_start, edge_source, edge_contribution,
                       contribution, output_start, output, held, total, candidate)  # fmt: skip
            for t in range(term_start[b], term_start[b + 1]):
                _entry_exchanged(operand_start[t], operand_start[t + 1], at, joint, operand_row,
                                 operand_stride, held, state, level, candidate, index)  # fmt: skip
                for c in range(lanes):
                    score[k, c] += potential[term_entry[t] + index[c]]
        _pick(count, score, draw, index)
        for i in range(size):
            v = member[member_start[b] + i]
            for c in range(lanes):
                state[v, c] = held[joint[joint_start[b] + index[c] * size + i], c]
        _shift(b, 1, member_start, member, affected_start, affected, edge_start, edge_source,
               edge_contribution, contribution, output_start, output, state, total, level)  # fmt: skip


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_sweep` compiled for one type of state, uint8 or uint16."""
    return Kernel(_sweep, sweep_signature(state)).compiled
