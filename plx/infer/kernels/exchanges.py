"""Updates of several variables at once to states that differ from lane to lane.

A rule that all of some variables differ leaves no single one of them free to move where they use up all
values; two that exchange theirs keep it. Where a relation is a partition an element moves if all that is said
of it changes at once. The arrays are those of `plx.infer.kernels.blocks`, but a joint state names for each
member a *held row* whose state it takes: those of the members themselves, of other variables, or proposed
ones (`Held`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.blocks import BlockArrays, _pick, _shift
from plx.infer.kernels.random import _random
from plx.infer.kernels.rows import _add_mapped, _add_row, _map
from plx.jit import Kernel, array, inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]
States = npt.NDArray[np.integer]
Number = int | np.int64

COINS = 31
"""Bits of a random number."""


class Held(NamedTuple):
    """What joint states are made of, besides the states of members.

    Held rows of a block are its members, then its sources, or what is proposed for each member where a
    cluster of elements may be split in two or two of them merged.
    """

    most: int  # held rows of a block
    source_start: Int64  # [B + 1]
    source: Int32  # a variable, or -1 - k: always k
    guard_base: Int64  # [B] where the joint states of a block begin in guard_start
    guard_start: Int64  # [joint states + 1]
    guard: Int32  # held rows that must be 0, or the joint state is not allowed
    elements: Int64  # [B] of the set whose clusters are split and merged; 0: no proposals
    one: Int64  # [B] an element …
    other: Int64  # [B] … and another one
    between: Int32  # member over each pair of elements of a block, -1 where there is none
    between_start: Int64  # [B]


@inner
def _hold(b: Number, size: Number, member_at: Number, member: Int32, h: Held, state: States, held: States
          ) -> None:  # fmt: skip
    """Note the states of members and sources."""
    source_start, source = h.source_start, h.source
    for i in range(size):
        for c in range(held.shape[1]):
            held[i, c] = state[member[member_at + i], c]
    at = size
    for s in range(source_start[b], source_start[b + 1]):
        v = source[s]
        for c in range(held.shape[1]):
            held[at, c] = state[max(0, v), c] if v >= 0 else -1 - v
        at += 1


@inner
def _propose(
    b: Number, size: Number, h: Held, rng: UInt32, draw: Int32, within: States, side: States, held: States,
    bonus: Float64,
) -> None:  # fmt: skip
    """Propose to merge the clusters of two elements or, if they are of one, to split it by fair coins.

    The proposed rows are held after the members. ``bonus``: the log of how much likelier the way back is
    proposed (Jain & Neal 2004, *A split-merge Markov chain Monte Carlo procedure for the Dirichlet process
    mixture model*, §3.1).
    """
    n, one, other, start, between = h.elements[b], h.one[b], h.other[b], h.between_start[b], h.between
    lanes = held.shape[1]
    tie = between[start + one * n + other]
    for c in range(lanes):
        bonus[c] = -2.0
    for x in range(n):
        if x % COINS == 0:
            _random(rng, draw)
        by_one, by_other = between[start + one * n + x], between[start + other * n + x]
        for c in range(lanes):
            in_one = x == one or (by_one >= 0 and held[max(0, by_one), c] != 0)
            in_other = x == other or (by_other >= 0 and held[max(0, by_other), c] != 0)
            within[x, c] = in_one or in_other
            bonus[c] += within[x, c]
            coin = (draw[c] >> np.int32(x % COINS)) & np.int32(1)
            side[x, c] = 0 if x == one else (1 if x == other else coin)
    for c in range(lanes):
        bonus[c] *= math.log(2.0) if held[tie, c] != 0 else -math.log(2.0)
    for x in range(n):
        for y in range(x):
            i = between[start + x * n + y]
            if i < 0:
                continue
            for c in range(lanes):
                both = within[x, c] != 0 and within[y, c] != 0
                merged = 1 if held[tie, c] == 0 or side[x, c] == side[y, c] else 0
                held[size + i, c] = merged if both else held[i, c]


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
    m: BlockArrays, h: Held, first: int, last: int, state: States, total: Int32, level: Int32, rng: UInt32
) -> None:  # fmt: skip
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
    held = np.empty((h.most, lanes), dtype=state.dtype)
    elements = h.elements.max()
    within = np.empty((elements, lanes), dtype=state.dtype)
    side, bonus = np.empty_like(within), np.zeros(lanes)
    guard_start, guard = h.guard_start, h.guard
    for b in range(first, last):
        size, count = member_start[b + 1] - member_start[b], m.n_states[b]
        _hold(b, size, member_start[b], member, h, state, held)
        if h.elements[b] > 0:
            _propose(b, size, h, rng, draw, within, side, held, bonus)
        _random(rng, draw)
        _shift(b, -1, member_start, member, affected_start, affected, edge_start, edge_source,
               edge_contribution, contribution, output_start, output, state, total, level)  # fmt: skip
        for k in range(count):
            at, allowed = joint_start[b] + k * size, h.guard_base[b] + k
            for c in range(lanes):
                score[k, c] = 0.0
            if h.elements[b] > 0 and k > 0:
                for c in range(lanes):
                    score[k, c] = bonus[c]
            for g in range(guard_start[allowed], guard_start[allowed + 1]):
                for c in range(lanes):
                    score[k, c] = -np.inf if held[guard[g], c] != 0 else score[k, c]
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
    lanes = array("int32", 2)
    signature = [BlockArrays, Held, int, int, array(state, 2), lanes, lanes, array("uint32", 2)]
    return Kernel(_sweep, signature).compiled
