"""Gibbs sweeps over many chains at once.

Chains are lanes: ``state[variable, chain]``. Every loop over lanes is an inner loop over
contiguous memory, so that it compiles to vector instructions. A lane's random numbers come
from its own generator and integer arithmetic alone decides them, so a chain does not depend on
how chains are dealt to blocks and threads. With NUMBA_DISABLE_JIT=1 all chains are identical.
"""

from __future__ import annotations

from typing import NamedTuple, get_type_hints

import numba
import numpy as np
import numpy.typing as npt
from numba import types

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]
States = npt.NDArray[np.unsignedinteger]

BITS = 31
"""Random integers are uniform on 0 … 2^31 - 1."""

_TOP = 2**BITS - 2
_UNIT = 2.0**-BITS
_POWER = 2.0 ** -np.arange(80.0)


class Compiled(NamedTuple):
    """What the kernels read. Starts are offsets into the array named after them.

    *Rows* number what can be read per lane: variables from 0, then the states of derived nodes,
    then the totals of derived nodes, then candidate states of affected derived nodes.
    Derived nodes are renumbered: those that feed factors first, then those that only queries need.
    """

    n_variables: int
    n_derived: int
    max_card: int
    max_candidates: int
    card: Int32  # [V]

    conditional: Int64  # [V] start in threshold, -1: sum over factors instead
    configurations: Int64  # [V]
    threshold: Int32  # one plane of `configurations` per state but the last
    reader_start: Int64  # [V + 1]
    reader_row: Int32
    reader_stride: Int32

    affected_start: Int64  # [V + 1]
    affected: Int32  # derived nodes, inputs first
    edge_start: Int64  # [len(affected) + 1]
    edge_source: Int32  # -1: the variable itself, else a position among its affected nodes
    edge_contribution: Int64  # start in contribution
    contribution: Int32
    output_start: Int64  # [D]
    output: Int32

    factor_start: Int64  # [V + 1]
    factor_entry: Int64  # start in potential
    factor_stride: Int32  # of the variable itself, 0 if the factor sees it only through derived nodes
    operand_start: Int64  # [len(factor_entry) + 1]
    operand_row: Int32
    operand_stride: Int32
    potential: Float64

    first_passive: int  # derived nodes from here on are evaluated when recording
    passive_start: Int64  # [passive + 1]
    passive_row: Int32
    passive_contribution: Int64  # start in contribution
    target_start: Int64  # [T + 1]
    target_row: Int32
    target_stride: Int32
    target_offset: Int64  # [T + 1] rows of counts


_I32 = types.Array(types.int32, 1, "C")
_I64 = types.Array(types.int64, 1, "C")
_F64 = types.Array(types.float64, 1, "C")
_FIELD = {int: types.int64, Int32: _I32, Int64: _I64, Float64: _F64}
_COMPILED = types.NamedTuple(  # type: ignore[no-untyped-call]
    [_FIELD[kind] for kind in get_type_hints(Compiled).values()], Compiled
)


def _signature(state: types.Type) -> object:
    lanes32 = types.Array(types.int32, 2, "C")
    random = types.Array(types.uint32, 2, "C")
    return types.void(
        _COMPILED,
        types.Array(state, 2, "C"),
        lanes32,
        lanes32,
        random,
        random,
        types.int64,
        types.int64,
        lanes32,
    )


@numba.njit(nogil=True)
def _random(rng: UInt32, out: Int32) -> None:
    """One step of xoshiro128++ per lane (Blackman and Vigna 2021); 31 bits, the last value merged away."""
    for c in range(out.shape[0]):
        s0, s1, s2, s3 = rng[0, c], rng[1, c], rng[2, c], rng[3, c]
        x = np.uint32(s0 + s3)
        x = np.uint32(np.uint32(x << np.uint32(7)) | np.uint32(x >> np.uint32(25)))
        x = np.uint32(x + s0)
        t = np.uint32(s1 << np.uint32(9))
        s2 = np.uint32(s2 ^ s0)
        s3 = np.uint32(s3 ^ s1)
        rng[1, c] = np.uint32(s1 ^ s2)
        rng[0, c] = np.uint32(s0 ^ s3)
        rng[2, c] = np.uint32(s2 ^ t)
        rng[3, c] = np.uint32(np.uint32(s3 << np.uint32(11)) | np.uint32(s3 >> np.uint32(21)))
        out[c] = min(np.int32(x >> np.uint32(1)), np.int32(_TOP))


@numba.njit(nogil=True)
def _exp(x: float) -> float:
    """exp(x) for x ≤ 0, relative error below 1e-10, 0 below -50; the same on every machine."""
    if not x > -50.0:
        return 0.0
    n = np.int64(0.5 - x * 1.4426950408889634)
    f = x + n * 0.6931471805599453
    p = 1.0 / 40320.0 + f * (1.0 / 362880.0)
    p = 1.0 / 720.0 + f * (1.0 / 5040.0 + f * p)
    p = 1.0 / 24.0 + f * (1.0 / 120.0 + f * p)
    p = 1.0 + f * (1.0 + f * (0.5 + f * (1.0 / 6.0 + f * p)))
    return p * _POWER[n]


@numba.njit(nogil=True)
def _add_row(
    m: Compiled,
    row: int,
    stride: int,
    state: States,
    total: Int32,
    level: Int32,
    candidate: Int32,
    index: Int32,
) -> None:
    """index += stride * row, lane by lane."""
    first = m.n_variables
    if row < first:
        for c in range(index.shape[0]):
            index[c] += stride * np.int32(state[row, c])
    elif row < first + m.n_derived:
        for c in range(index.shape[0]):
            index[c] += stride * level[row - first, c]
    elif row < first + 2 * m.n_derived:
        for c in range(index.shape[0]):
            index[c] += stride * total[row - first - m.n_derived, c]
    else:
        for c in range(index.shape[0]):
            index[c] += stride * candidate[row - first - 2 * m.n_derived, c]


@numba.njit(nogil=True)
def _shift(m: Compiled, v: int, sign: int, state: States, total: Int32, level: Int32) -> None:
    """Add (1) or take away (-1) what v and its affected nodes contribute; refresh states when adding."""
    for a in range(m.affected_start[v], m.affected_start[v + 1]):
        d = m.affected[a]
        for e in range(m.edge_start[a], m.edge_start[a + 1]):
            start = m.edge_contribution[e]
            source = m.edge_source[e]
            if source < 0:
                for c in range(state.shape[1]):
                    total[d, c] += sign * m.contribution[start + state[v, c]]
            else:
                source = m.affected[m.affected_start[v] + source]
                for c in range(state.shape[1]):
                    total[d, c] += sign * m.contribution[start + level[source, c]]
        if sign > 0:
            for c in range(state.shape[1]):
                level[d, c] = m.output[m.output_start[d] + total[d, c]]


@numba.njit(nogil=True)
def _from_table(
    m: Compiled, v: int, state: States, total: Int32, level: Int32, scratch: Int32, draw: Int32, index: Int32
) -> None:
    """Draw v from its table of thresholds."""
    index[:] = 0
    for r in range(m.reader_start[v], m.reader_start[v + 1]):
        _add_row(m, m.reader_row[r], m.reader_stride[r], state, total, level, scratch, index)
    start = m.conditional[v]
    if m.card[v] == 2:
        for c in range(index.shape[0]):
            state[v, c] = draw[c] >= m.threshold[start + index[c]]
        return
    for c in range(index.shape[0]):
        state[v, c] = 0
    for _ in range(m.card[v] - 1):
        for c in range(index.shape[0]):
            state[v, c] += draw[c] >= m.threshold[start + index[c]]
        start += m.configurations[v]


@numba.njit(nogil=True)
def _candidates(m: Compiled, v: int, k: int, total: Int32, candidate: Int32) -> None:
    """States of v's affected derived nodes if v were k; their totals lack v's contributions."""
    first = m.affected_start[v]
    for a in range(first, m.affected_start[v + 1]):
        d = m.affected[a]
        row = a - first
        for c in range(total.shape[1]):
            candidate[row, c] = total[d, c]
        for e in range(m.edge_start[a], m.edge_start[a + 1]):
            start = m.edge_contribution[e]
            if m.edge_source[e] < 0:
                for c in range(total.shape[1]):
                    candidate[row, c] += m.contribution[start + k]
            else:
                for c in range(total.shape[1]):
                    candidate[row, c] += m.contribution[start + candidate[m.edge_source[e], c]]
        for c in range(total.shape[1]):
            candidate[row, c] = m.output[m.output_start[d] + candidate[row, c]]


@numba.njit(nogil=True)
def _from_factors(
    m: Compiled,
    v: int,
    state: States,
    total: Int32,
    level: Int32,
    candidate: Int32,
    draw: Int32,
    index: Int32,
    score: Float64,
) -> None:
    """Draw v by adding up the log potentials of the factors that depend on it."""
    card = m.card[v]
    for k in range(card):
        for c in range(draw.shape[0]):
            score[k, c] = 0.0
        _candidates(m, v, k, total, candidate)
        for f in range(m.factor_start[v], m.factor_start[v + 1]):
            index[:] = k * m.factor_stride[f]
            for o in range(m.operand_start[f], m.operand_start[f + 1]):
                _add_row(m, m.operand_row[o], m.operand_stride[o], state, total, level, candidate, index)
            start = m.factor_entry[f]
            for c in range(draw.shape[0]):
                score[k, c] += m.potential[start + index[c]]
    _choose(v, card, state, draw, score)


@numba.njit(nogil=True)
def _choose(v: int, card: int, state: States, draw: Int32, score: Float64) -> None:
    """Draw v with probabilities ∝ exp(score); row ``card`` of score is scratch."""
    for c in range(draw.shape[0]):
        score[card, c] = score[0, c]
    for k in range(1, card):
        for c in range(draw.shape[0]):
            score[card, c] = max(score[card, c], score[k, c])
    for c in range(draw.shape[0]):
        score[0, c] = _exp(score[0, c] - score[card, c])
    for k in range(1, card):
        for c in range(draw.shape[0]):
            score[k, c] = score[k - 1, c] + _exp(score[k, c] - score[card, c])
    for c in range(draw.shape[0]):
        score[card, c] = score[card - 1, c] * (draw[c] * _UNIT)
        state[v, c] = 0
    for k in range(card - 1):
        for c in range(draw.shape[0]):
            state[v, c] += score[k, c] <= score[card, c]


@numba.njit(nogil=True)
def _record(
    m: Compiled, state: States, total: Int32, level: Int32, candidate: Int32, index: Int32, counts: Int32
) -> None:
    """Add the present state of every target to its counts."""
    for p in range(m.passive_start.shape[0] - 1):
        d = m.first_passive + p
        index[:] = 0
        for e in range(m.passive_start[p], m.passive_start[p + 1]):
            start = m.passive_contribution[e]
            row = m.passive_row[e]
            if row < m.n_variables:
                for c in range(index.shape[0]):
                    index[c] += m.contribution[start + state[row, c]]
            else:
                for c in range(index.shape[0]):
                    index[c] += m.contribution[start + level[row - m.n_variables, c]]
        for c in range(index.shape[0]):
            level[d, c] = m.output[m.output_start[d] + index[c]]
    for t in range(m.target_start.shape[0] - 1):
        index[:] = 0
        for o in range(m.target_start[t], m.target_start[t + 1]):
            _add_row(m, m.target_row[o], m.target_stride[o], state, total, level, candidate, index)
        for c in range(index.shape[0]):
            counts[m.target_offset[t] + index[c], c] += 1


def _advance(
    m: Compiled,
    state: States,
    total: Int32,
    level: Int32,
    rng: UInt32,
    scan: UInt32,
    draws: int,
    thin: int,
    counts: Int32,
) -> None:
    """``draws`` times: ``thin`` sweeps, then record.

    A sweep visits the variables in order, or, if ``scan`` has a lane, as many as there are at
    random, the same for all lanes. Arrays: state [V, C], total and level [D, C], rng [4, C],
    scan [4, 0 or 1], counts [Σ states of targets, C]; all but m are changed.
    """
    lanes = state.shape[1]
    draw = np.empty(lanes, dtype=np.int32)
    index = np.empty(lanes, dtype=np.int32)
    pick = np.empty(scan.shape[1], dtype=np.int32)
    candidate = np.empty((m.max_candidates, lanes), dtype=np.int32)
    score = np.empty((m.max_card + 1, lanes))
    for _ in range(draws):
        for step in range(thin * m.n_variables):
            v = step % m.n_variables
            if pick.shape[0]:
                _random(scan, pick)
                v = (np.int64(pick[0]) * m.n_variables) >> BITS
            _random(rng, draw)
            _shift(m, v, -1, state, total, level)
            if m.conditional[v] >= 0:
                _from_table(m, v, state, total, level, candidate, draw, index)
            else:
                _from_factors(m, v, state, total, level, candidate, draw, index, score)
            _shift(m, v, 1, state, total, level)
        if counts.shape[0]:
            _record(m, state, total, level, candidate, index, counts)


advance = numba.njit([_signature(types.uint8), _signature(types.uint16)], nogil=True, cache=True)(_advance)
