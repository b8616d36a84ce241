"""Gibbs sweeps over many chains at once.

Chains are lanes: ``state[variable, chain]``. Loops over lanes are inner loops over contiguous memory,
so that they compile to vector instructions; looked-up indexes are unsigned, as signed ones are
checked for counting from the end. A lane's random numbers come from its own generator, so a chain
does not depend on how chains are dealt to threads, and are the same with NUMBA_DISABLE_JIT=1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.choice import _by_product, _by_two, _choose, _score, _threshold
from plx.infer.kernels.derived import _LESS, _MORE, _candidates, _shift
from plx.infer.kernels.random import BITS, _random
from plx.infer.kernels.rows import _add_mapped, _add_product, _add_rows, _add_two, _map
from plx.jit import Kernel, array, inner, prefetch

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]
States = npt.NDArray[np.integer]
Number = int | np.int64 | np.int32

_SCATTER = 16
"""With more states than this, the one that is there is looked up and counted; else all are compared with."""

_NEAR = 1 << 20
"""Bytes of states that are near at hand: with more, they are asked for before they are read."""

_AHEAD = 32
"""Rows that are asked for ahead of the one that is read."""

_NARROW = 255
"""Draws that a byte counts."""


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


def _signature(state: str) -> list[object]:
    lanes, random, states = array("int32", 2), array("uint32", 2), array(state, 2)
    return [Compiled, states, lanes, lanes, random, random, int, int, lanes]


@inner(inline=True)
def _ask(rows: Int32, first: Number, count: Number, state: States) -> None:
    """Ask for the states of the variables among ``rows`` from the first on: they are read soon."""
    n = state.shape[0]
    for i in range(first, min(first + count, rows.shape[0])):
        row = rows[i]
        if row < n:
            prefetch(state, row)


@inner
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
    ahead = 0 if all_now or state.nbytes <= _NEAR else _AHEAD
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
        start, p, r = conditional[v], product_start[v], reader_start[v]
        n_products, n_readers = product_start[v + 1] - p, reader_start[v + 1] - r
        if ahead:
            _ask(reader_row, r + ahead, n_readers, state)
            if n_products:
                _ask(product_row, 2 * p + ahead, 2 * n_products, state)
            if start < 0:
                f, end = operand_start[factor_start[v]], operand_start[factor_start[v + 1]]
                _ask(operand_row, f + ahead, end - f, state)
        is_fast = start >= 0 and cards[v] == 2 and n_products + n_readers <= 2
        base = start + offset[v]
        if is_fast and n_products == 1 and n_readers == 0:
            _by_product(v, product_row[2 * p], product_value[2 * p], product_row[2 * p + 1],
                        product_value[2 * p + 1], threshold[base], threshold[base + product_step[p]],
                        draw, state)  # fmt: skip
        elif (is_fast and n_readers == 2 and reader_split[v] == r + 2
                and cards[reader_row[r]] == 2 and cards[reader_row[r + 1]] == 2):  # fmt: skip
            _by_two(v, reader_row[r], reader_stride[r], reader_row[r + 1], reader_stride[r + 1], base,
                    threshold, draw, state)  # fmt: skip
        elif start >= 0:
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


@inner(inline=True)
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


@inner
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


@inner
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
    return Kernel(_advance, _signature(state)).compiled
