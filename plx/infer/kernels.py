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
UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]
States = npt.NDArray[np.integer]
Number = int | np.int64 | np.int32

BITS = 31
"""Random integers are uniform on 0 … 2^31 - 1."""

NO_STEP = -(2**31)

_LESS, _MORE = np.int64(-1), np.int64(1)

SEARCHED = 64
"""With more states than this, the thresholds that a draw reaches are counted by bisection."""

_SCATTER = 16
"""With more states than this, the one that is there is looked up and counted; else all are compared with."""

_NARROW = 255
"""Draws that a byte counts."""

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
    offset: Int32  # [V] where the index into thresholds begins
    product_start: Int64  # [V + 1]
    product_row: Int32  # two literals of each product
    product_value: Int32  # k: the row is in state k, ~k: it is not
    product_step: Int32

    affected_start: Int64  # [V + 1]
    affected: Int32  # derived nodes, inputs first
    edge_start: Int64  # [len(affected) + 1]
    edge_source: Int32  # -1: the variable itself, else a position among its affected nodes
    edge_contribution: Int64  # start in contribution
    edge_step: Int32  # what one more in the variable's own state contributes, `NO_STEP`: not the same
    contribution: Int32
    output_start: Int64  # [D]
    output: Int32
    awaited: Int32  # [D] 1: updates read the node's state, so it is kept up to date at each

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


@numba.njit(nogil=True, forceinline=True)
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


@numba.njit(nogil=True, forceinline=True)
def _add_two(
    row: Number, stride: Number, row_b: Number, stride_b: Number, source: States, index: Int32
) -> None:
    """index += stride * source[row] + stride_b * source[row_b], lane by lane."""
    step, step_b = np.int32(stride), np.int32(stride_b)
    for c in range(index.shape[0]):
        index[c] += step * np.int32(source[row, c]) + step_b * np.int32(source[row_b, c])


@numba.njit(nogil=True, forceinline=True)
def _add_product(
    row: Number, value: Number, row_b: Number, value_b: Number, step: Number, state: States, index: Int32
) -> None:
    """index += step where both literals hold, lane by lane."""
    negated, negated_b, one = value < 0, value_b < 0, np.int32(step)
    k = state.dtype.type(~value if negated else value)
    k_b = state.dtype.type(~value_b if negated_b else value_b)
    for c in range(index.shape[0]):
        both = ((state[row, c] == k) != negated) & ((state[row_b, c] == k_b) != negated_b)
        index[c] += one if both else np.int32(0)


@numba.njit(nogil=True)
def _add_mapped(
    row: Number, source: States, start: Number, table: Int32, sign: Number, out: Int32, to: Number
) -> None:
    """out[to] += sign * table[start + source[row]], lane by lane."""
    base = np.uint64(start)
    for c in range(out.shape[1]):
        out[to, c] += np.int32(sign) * table[base + np.uint64(source[row, c])]


@numba.njit(nogil=True, forceinline=True)
def _add_scaled(row: Number, state: States, base: Number, step: Number, out: Int32, to: Number) -> None:
    """out[to] += base + step * state[row], lane by lane."""
    first, slope, source, target = np.int32(base), np.int32(step), np.uint64(row), np.uint64(to)
    for c in range(out.shape[1]):
        out[target, c] += first + slope * np.int32(state[source, c])


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
        row = np.int64(rows[i])
        if row < n:
            _add_row(row, strides[i], state, index)
        else:
            row -= n
            part = level if row < d else (total if row < 2 * d else candidate)
            _add_row(row if row < d else (row - d if row < 2 * d else row - 2 * d), strides[i], part, index)


@numba.njit(nogil=True, forceinline=True)
def _shift(
    first: Number, last: Number, v: Number, sign: Number, affected: Int32, edge_start: Int64,
    edge_source: Int32, edge_contribution: Int64, edge_step: Int32, contribution: Int32,
    output_start: Int64, output: Int32, awaited: Int32, all_now: bool, state: States, total: Int32,
    level: Int32,
) -> None:  # fmt: skip
    """Add (sign 1) or take away (-1) what v gives to its affected nodes; then bring awaited states, or
    all, up to date."""
    for a in range(first, last):
        row = np.int64(affected[a])
        for e in range(edge_start[a], edge_start[a + 1]):
            start, step = edge_contribution[e], edge_step[e]
            if edge_source[e] >= 0:
                source = np.int64(affected[first + edge_source[e]])
                _add_mapped(source, level, start, contribution, sign, total, row)
            elif step == NO_STEP:
                _add_mapped(v, state, start, contribution, sign, total, row)
            else:
                _add_scaled(v, state, sign * contribution[start], sign * step, total, row)
        if sign > 0 and (all_now or awaited[row]):
            _map(output_start[row], output, total, row, level, row)


@numba.njit(nogil=True, forceinline=True)
def _look_up(start: Number, size: Number, threshold: Int32, index: Int32, cut: Int32) -> None:
    """cut = threshold[start + index], lane by lane; a choice among few is faster than reading memory."""
    base = np.uint64(start)
    if size > 8:
        for c in range(index.shape[0]):
            cut[c] = threshold[base + np.uint64(index[c])]
        return
    last = start + size - 1
    t0, t1 = threshold[start], threshold[min(start + 1, last)]
    t2, t3 = threshold[min(start + 2, last)], threshold[min(start + 3, last)]
    for c in range(index.shape[0]):
        k = index[c]
        low, high = t0 if k < 1 else t1, t2 if k < 3 else t3
        cut[c] = low if k < 2 else high
    if size > 4:
        t4, t5 = threshold[start + 4], threshold[min(start + 5, last)]
        t6, t7 = threshold[min(start + 6, last)], threshold[last]
        for c in range(index.shape[0]):
            k = index[c]
            low, high = t4 if k < 5 else t5, t6 if k < 7 else t7
            cut[c] = cut[c] if k < 4 else (low if k < 6 else high)


@numba.njit(nogil=True, forceinline=True)
def _threshold(
    v: Number, card: Number, start: Number, plane: Number, threshold: Int32, index: Int32, draw: Int32,
    cut: Int32, state: States,
) -> None:  # fmt: skip
    """Draw v from a table: the number of thresholds that the random integer reaches."""
    row = np.uint64(v)
    if card > SEARCHED:
        for c in range(index.shape[0]):
            first, left = np.int64(0), np.int64(card - 1)
            while left > 0:
                half = left >> 1
                if draw[c] >= threshold[start + (first + half) * plane + index[c]]:
                    first, left = first + half + 1, left - half - 1
                else:
                    left = half
            state[row, c] = first
        return
    for k in range(max(1, card - 1)):
        _look_up(start + k * plane, plane, threshold, index, cut)
        if k == 0:
            for c in range(index.shape[0]):
                state[row, c] = draw[c] >= cut[c]
        else:
            for c in range(index.shape[0]):
                state[row, c] += draw[c] >= cut[c]


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
                source = np.int64(edge_source[e])
                _add_mapped(source, candidate, start, contribution, _MORE, candidate, own)
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
    draw: Int32, cut: Int32, pick: Int32, index: Int32, candidate: Int32, score: Float64,
) -> None:  # fmt: skip
    """Updates of single variables; fields are unpacked first, as each access counts references."""
    cards, conditional, plane, threshold = m.card, m.conditional, m.configurations, m.threshold
    reader_start, reader_split = m.reader_start, m.reader_split
    reader_row, reader_stride = m.reader_row, m.reader_stride
    offset, product_start, product_row = m.offset, m.product_start, m.product_row
    product_value, product_step = m.product_value, m.product_step
    affected_start, affected = m.affected_start, m.affected
    edge_start, edge_source, edge_contribution = m.edge_start, m.edge_source, m.edge_contribution
    edge_step, awaited = m.edge_step, m.awaited
    contribution, output_start, output = m.contribution, m.output_start, m.output
    factor_start, factor_entry, factor_stride = m.factor_start, m.factor_entry, m.factor_stride
    operand_start, operand_row, operand_stride = m.operand_start, m.operand_row, m.operand_stride
    potential = m.potential
    n = state.shape[0]
    all_now = pick.shape[0] > 0  # few updates may follow
    v = np.int64(-1)
    for _ in range(updates):
        v = np.int64(v + 1 if v + 1 < n else 0)
        if all_now:
            _random(scan, pick)
            v = (np.int64(pick[0]) * n) >> BITS
        _random(rng, draw)
        first, last = affected_start[v], affected_start[v + 1]
        if first < last:
            _shift(first, last, v, _LESS, affected, edge_start, edge_source, edge_contribution,
                   edge_step, contribution, output_start, output, awaited, all_now,
                   state, total, level)  # fmt: skip
        start = conditional[v]
        if start >= 0:
            index[:] = offset[v]
            split = reader_split[v]
            for r in range(reader_start[v], split, 2):
                _add_two(
                    reader_row[r], reader_stride[r], reader_row[r + 1], reader_stride[r + 1], state, index
                )
            if split < reader_start[v + 1]:
                _add_rows(split, reader_start[v + 1], reader_row, reader_stride,
                          state, level, total, candidate, index)  # fmt: skip
            for p in range(product_start[v], product_start[v + 1]):
                _add_product(product_row[2 * p], product_value[2 * p], product_row[2 * p + 1],
                             product_value[2 * p + 1], product_step[p], state, index)  # fmt: skip
            _threshold(v, cards[v], start, plane[v], threshold, index, draw, cut, state)
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
            _shift(first, last, v, _MORE, affected, edge_start, edge_source, edge_contribution,
                   edge_step, contribution, output_start, output, awaited, all_now,
                   state, total, level)  # fmt: skip
    for d in range(m.first_passive):
        if not (all_now or awaited[d]):
            _map(output_start[d], output, total, d, level, d)


@numba.njit(nogil=True, forceinline=True)
def _count(card: Number, start: Number, row: Number, source: States, seen: UInt8) -> None:
    """seen[start + source[row]] += 1, lane by lane; few states are compared with, many looked up."""
    at = np.uint64(row)
    if card > _SCATTER:
        base = np.uint64(start)
        for c in range(seen.shape[1]):
            seen[base + np.uint64(source[at, c]), c] += np.uint8(1)
        return
    for k in range(card):
        own, mine = np.uint64(start + k), source.dtype.type(k)
        for c in range(seen.shape[1]):
            seen[own, c] += np.uint8(source[at, c] == mine)


@numba.njit(nogil=True)
def _record(
    m: Compiled, state: States, total: Int32, level: Int32, index: Int32, candidate: Int32, seen: UInt8
) -> None:
    """Add the present state of every target to what was seen."""
    contribution, output_start, output = m.contribution, m.output_start, m.output
    passive_start, passive_row, passive_contribution = m.passive_start, m.passive_row, m.passive_contribution
    target_start, target_row, target_stride = m.target_start, m.target_row, m.target_stride
    target_offset = m.target_offset
    n = state.shape[0]
    for p in range(passive_start.shape[0] - 1):
        d = m.first_passive + p
        total[d] = 0
        for e in range(passive_start[p], passive_start[p + 1]):
            row, start = np.int64(passive_row[e]), passive_contribution[e]
            if row < n:
                _add_mapped(row, state, start, contribution, _MORE, total, d)
            else:
                _add_mapped(row - n, level, start, contribution, _MORE, total, d)
        _map(output_start[d], output, total, d, level, d)
    for t in range(target_start.shape[0] - 1):
        first, last, start = target_start[t], target_start[t + 1], target_offset[t]
        card = target_offset[t + 1] - start
        if last - first == 1 and target_row[first] < n:
            _count(card, start, target_row[first], state, seen)
        else:
            index[:] = 0
            _add_rows(first, last, target_row, target_stride, state, level, total, candidate, index)
            _count(card, start, np.int32(0), index.reshape(1, -1), seen)


@numba.njit(nogil=True)
def _keep(draw: int, draws: int, seen: UInt8, counts: Int32) -> None:
    """Move what was seen over to the counts, after the last draw and before a byte overflows."""
    if draw + 1 < draws and draw % _NARROW < _NARROW - 1:
        return
    for i in range(seen.shape[0]):
        for c in range(seen.shape[1]):
            counts[i, c] += np.int32(seen[i, c])
    seen[:] = 0


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
    index, cut = np.empty(lanes, dtype=np.int32), np.empty(lanes, dtype=np.int32)
    pick = np.empty(scan.shape[1], dtype=np.int32)
    candidate = np.empty((m.max_candidates, lanes), dtype=np.int32)
    score = np.empty((m.max_card + 1, lanes))
    seen = np.zeros(counts.shape, dtype=np.uint8)  # as narrow as can be: few bytes to write per draw
    for i in range(draws):
        _sweep(m, state, total, level, rng, scan, updates, draw, cut, pick, index, candidate, score)
        if counts.shape[0]:
            _record(m, state, total, level, index, candidate, seen)
            _keep(i, draws, seen, counts)


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_advance` compiled for one type of state, uint8 or uint16."""
    signature = _signature(numba.from_dtype(np.dtype(state)))
    return Kernel(_advance, signature).compiled
