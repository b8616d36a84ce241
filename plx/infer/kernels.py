"""Gibbs sweeps over many chains at once.

Chains are lanes: ``state[variable, chain]``. Loops over lanes are inner loops over contiguous memory,
so that they compile to vector instructions; looked-up indexes are unsigned, as signed ones are
checked for counting from the end. A lane's random numbers come from its own generator, so a chain
does not depend on how chains are dealt to threads, and are the same with NUMBA_DISABLE_JIT=1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, get_type_hints

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from plx.jit import Kernel

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]
States = npt.NDArray[np.integer]
Number = int | np.int64

BITS = 31
"""Random integers are uniform on 0 … 2^31 - 1."""

_TOP, _UNIT, _POWER = 2**BITS - 2, 2.0**-BITS, 2.0 ** -np.arange(80.0)


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
    reader_split: Int64  # [V] up to here the readers come in pairs of variables
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
    lanes, random = types.Array(types.int32, 2, "C"), types.Array(types.uint32, 2, "C")
    states, n = types.Array(state, 2, "C"), types.int64
    return types.void(_COMPILED, states, lanes, lanes, random, random, n, n, lanes)


@numba.njit(nogil=True)
def _random(rng: UInt32, out: Int32) -> None:
    """One step of xoshiro128++ per lane (Blackman and Vigna 2021), to 31 bits; the last value is merged."""
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
    return float(p * _POWER[n])


@numba.njit(nogil=True)
def _add_row(row: Number, stride: Number, source: States, index: Int32) -> None:
    """index += stride * source[row], lane by lane."""
    step = np.int32(stride)
    for c in range(index.shape[0]):
        index[c] += step * np.int32(source[row, c])


@numba.njit(nogil=True)
def _add_two(
    row: Number, stride: Number, row_b: Number, stride_b: Number, source: States, index: Int32
) -> None:
    """index += stride * source[row] + stride_b * source[row_b], lane by lane."""
    step, step_b = np.int32(stride), np.int32(stride_b)
    for c in range(index.shape[0]):
        index[c] += step * np.int32(source[row, c]) + step_b * np.int32(source[row_b, c])


@numba.njit(nogil=True)
def _add_mapped(
    row: Number, source: States, start: Number, table: Int32, sign: Number, out: Int32, to: Number
) -> None:
    """out[to] += sign * table[start + source[row]], lane by lane."""
    base = np.uint64(start)
    for c in range(out.shape[1]):
        out[to, c] += np.int32(sign) * table[base + np.uint64(source[row, c])]


@numba.njit(nogil=True)
def _map(start: Number, table: Int32, source: Int32, row: Number, out: Int32, to: Number) -> None:
    """out[to] = table[start + source[row]], lane by lane."""
    base = np.uint64(start)
    for c in range(out.shape[1]):
        out[to, c] = table[base + np.uint64(source[row, c])]


@numba.njit(nogil=True)
def _add_rows(
    first: Number, last: Number, rows: Int32, strides: Int32, state: States, level: Int32, total: Int32,
    candidate: Int32, index: Int32,
) -> None:  # fmt: skip
    """index += Σ strides[i] * row rows[i], for i from first to last - 1."""
    n, d = state.shape[0], level.shape[0]
    for i in range(first, last):
        row = rows[i]
        if row < n:
            _add_row(row, strides[i], state, index)
        elif row < n + d:
            _add_row(row - n, strides[i], level, index)
        elif row < n + 2 * d:
            _add_row(row - n - d, strides[i], total, index)
        else:
            _add_row(row - n - 2 * d, strides[i], candidate, index)


@numba.njit(nogil=True)
def _shift(
    first: Number, last: Number, v: Number, sign: Number, affected: Int32, edge_start: Int64,
    edge_source: Int32, edge_contribution: Int64, contribution: Int32, output_start: Int64, output: Int32,
    state: States, total: Int32, level: Int32,
) -> None:  # fmt: skip
    """Add (sign 1), bringing states up to date, or take away (-1) what v gives to its affected nodes."""
    for a in range(first, last):
        for e in range(edge_start[a], edge_start[a + 1]):
            start = edge_contribution[e]
            if edge_source[e] < 0:
                _add_mapped(v, state, start, contribution, sign, total, affected[a])
            else:
                source = affected[first + edge_source[e]]
                _add_mapped(source, level, start, contribution, sign, total, affected[a])
        if sign > 0:
            _map(output_start[affected[a]], output, total, affected[a], level, affected[a])


@numba.njit(nogil=True)
def _threshold(
    v: Number, card: Number, start: Number, plane: Number, threshold: Int32, index: Int32, draw: Int32,
    state: States,
) -> None:  # fmt: skip
    """Draw v from a table: the number of thresholds that the random integer reaches."""
    base = np.uint64(start)
    if card == 2:
        for c in range(index.shape[0]):
            state[v, c] = draw[c] >= threshold[base + np.uint64(index[c])]
        return
    for c in range(index.shape[0]):
        state[v, c] = 0
    for k in range(card - 1):
        base = np.uint64(start + k * plane)
        for c in range(index.shape[0]):
            state[v, c] += draw[c] >= threshold[base + np.uint64(index[c])]


@numba.njit(nogil=True)
def _candidates(
    first: Number, last: Number, k: Number, affected: Int32, edge_start: Int64, edge_source: Int32,
    edge_contribution: Int64, contribution: Int32, output_start: Int64, output: Int32, total: Int32,
    candidate: Int32,
) -> None:  # fmt: skip
    """States of the nodes affected[first : last] if the variable, now taken away, were k."""
    for a in range(first, last):
        own = a - first
        for c in range(total.shape[1]):
            candidate[own, c] = total[affected[a], c]
        for e in range(edge_start[a], edge_start[a + 1]):
            start = edge_contribution[e]
            if edge_source[e] < 0:
                for c in range(total.shape[1]):
                    candidate[own, c] += contribution[start + k]
            else:
                _add_mapped(edge_source[e], candidate, start, contribution, 1, candidate, own)
        _map(output_start[affected[a]], output, candidate, own, candidate, own)


@numba.njit(nogil=True)
def _score(k: Number, start: Number, potential: Float64, index: Int32, score: Float64) -> None:
    """score[k] += potential[start + index], lane by lane."""
    base = np.uint64(start)
    for c in range(index.shape[0]):
        score[k, c] += potential[base + np.uint64(index[c])]


@numba.njit(nogil=True)
def _cumulate(count: Number, draw: Int32, score: Float64) -> None:
    """Cumulative weights from logs, rows 0 … count - 1 of score; row ``count`` tells where the draw falls."""
    for c in range(draw.shape[0]):
        score[count, c] = score[0, c]
    for k in range(1, count):
        for c in range(draw.shape[0]):
            score[count, c] = max(score[count, c], score[k, c])
    for c in range(draw.shape[0]):
        score[0, c] = _exp(score[0, c] - score[count, c])
    for k in range(1, count):
        for c in range(draw.shape[0]):
            score[k, c] = score[k - 1, c] + _exp(score[k, c] - score[count, c])
    for c in range(draw.shape[0]):
        score[count, c] = score[count - 1, c] * (draw[c] * _UNIT)


@numba.njit(nogil=True)
def _choose(v: Number, card: Number, state: States, draw: Int32, score: Float64) -> None:
    """Draw v with probabilities ∝ exp(score); row ``card`` of score is scratch."""
    _cumulate(card, draw, score)
    for c in range(draw.shape[0]):
        state[v, c] = 0
    for k in range(card - 1):
        for c in range(draw.shape[0]):
            state[v, c] += score[k, c] <= score[card, c]


@numba.njit(nogil=True)
def _sweep(
    m: Compiled, state: States, total: Int32, level: Int32, rng: UInt32, scan: UInt32, updates: int,
    draw: Int32, pick: Int32, index: Int32, candidate: Int32, score: Float64,
) -> None:  # fmt: skip
    """Updates of single variables; fields are unpacked first, as each access counts references."""
    cards, conditional, plane, threshold = m.card, m.conditional, m.configurations, m.threshold
    reader_start, reader_split = m.reader_start, m.reader_split
    reader_row, reader_stride = m.reader_row, m.reader_stride
    affected_start, affected = m.affected_start, m.affected
    edge_start, edge_source, edge_contribution = m.edge_start, m.edge_source, m.edge_contribution
    contribution, output_start, output = m.contribution, m.output_start, m.output
    factor_start, factor_entry, factor_stride = m.factor_start, m.factor_entry, m.factor_stride
    operand_start, operand_row, operand_stride = m.operand_start, m.operand_row, m.operand_stride
    potential = m.potential
    n = state.shape[0]
    v = np.int64(-1)
    for _ in range(updates):
        v = np.int64(v + 1 if v + 1 < n else 0)
        if pick.shape[0]:
            _random(scan, pick)
            v = (np.int64(pick[0]) * n) >> BITS
        _random(rng, draw)
        first, last = affected_start[v], affected_start[v + 1]
        if first < last:
            _shift(first, last, v, -1, affected, edge_start, edge_source, edge_contribution,
                   contribution, output_start, output, state, total, level)  # fmt: skip
        start = conditional[v]
        if start >= 0:
            index[:] = 0
            split = reader_split[v]
            for r in range(reader_start[v], split, 2):
                _add_two(
                    reader_row[r], reader_stride[r], reader_row[r + 1], reader_stride[r + 1], state, index
                )
            if split < reader_start[v + 1]:
                _add_rows(split, reader_start[v + 1], reader_row, reader_stride,
                          state, level, total, candidate, index)  # fmt: skip
            _threshold(v, cards[v], start, plane[v], threshold, index, draw, state)
        else:
            score[: cards[v]] = 0.0
            single = first == last  # then one pass over the factors is enough for all states
            for k in range(1 if single else cards[v]):
                _candidates(first, last, k, affected, edge_start, edge_source, edge_contribution,
                            contribution, output_start, output, total, candidate)  # fmt: skip
                for f in range(factor_start[v], factor_start[v + 1]):
                    index[:] = 0
                    _add_rows(operand_start[f], operand_start[f + 1], operand_row, operand_stride,
                              state, level, total, candidate, index)  # fmt: skip
                    for j in range(k, cards[v] if single else k + 1):
                        _score(j, factor_entry[f] + j * factor_stride[f], potential, index, score)
            _choose(v, cards[v], state, draw, score)
        if first < last:
            _shift(first, last, v, 1, affected, edge_start, edge_source, edge_contribution,
                   contribution, output_start, output, state, total, level)  # fmt: skip


@numba.njit(nogil=True)
def _count(card: Number, start: Number, index: Int32, counts: Int32) -> None:
    """counts[start + index] += 1, lane by lane; few states are compared with, many looked up."""
    if card > 8:
        for c in range(index.shape[0]):
            counts[start + index[c], c] += 1
        return
    for k in range(card):
        for c in range(index.shape[0]):
            counts[start + k, c] += index[c] == k


@numba.njit(nogil=True)
def _record(
    m: Compiled, state: States, total: Int32, level: Int32, index: Int32, candidate: Int32,
    counts: Int32,
) -> None:  # fmt: skip
    """Add the present state of every target to its counts."""
    contribution, output_start, output = m.contribution, m.output_start, m.output
    passive_start, passive_row, passive_contribution = m.passive_start, m.passive_row, m.passive_contribution
    target_start, target_row, target_stride = m.target_start, m.target_row, m.target_stride
    target_offset = m.target_offset
    n = state.shape[0]
    for p in range(passive_start.shape[0] - 1):
        d = m.first_passive + p
        total[d] = 0
        for e in range(passive_start[p], passive_start[p + 1]):
            row, start = passive_row[e], passive_contribution[e]
            if row < n:
                _add_mapped(row, state, start, contribution, 1, total, d)
            else:
                _add_mapped(row - n, level, start, contribution, 1, total, d)
        _map(output_start[d], output, total, d, level, d)
    for t in range(target_start.shape[0] - 1):
        index[:] = 0
        _add_rows(target_start[t], target_start[t + 1], target_row, target_stride,
                  state, level, total, candidate, index)  # fmt: skip
        _count(target_offset[t + 1] - target_offset[t], target_offset[t], index, counts)


def _advance(
    m: Compiled, state: States, total: Int32, level: Int32, rng: UInt32, scan: UInt32, draws: int,
    updates: int, counts: Int32,
) -> None:  # fmt: skip
    """``draws`` times: ``updates`` of single variables, then record.

    Updates visit the variables in order from the first, or, if ``scan`` has a lane, at random, the
    same ones for all lanes. Arrays: state [V, C], total and level [D, C], rng [4, C],
    scan [4, 0 or 1], counts [Σ states of targets, C]; all but m are changed.
    """
    lanes = state.shape[1]
    draw = np.empty(lanes, dtype=np.int32)
    index = np.empty(lanes, dtype=np.int32)
    pick = np.empty(scan.shape[1], dtype=np.int32)
    candidate = np.empty((m.max_candidates, lanes), dtype=np.int32)
    score = np.empty((m.max_card + 1, lanes))
    for _ in range(draws):
        _sweep(m, state, total, level, rng, scan, updates, draw, pick, index, candidate, score)
        if counts.shape[0]:
            _record(m, state, total, level, index, candidate, counts)


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_advance` compiled for one type of state, uint8 or uint16."""
    signature = _signature(numba.from_dtype(np.dtype(state)))
    return Kernel(_advance, signature).compiled
