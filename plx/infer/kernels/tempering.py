"""Log weights of lanes, and exchanges of worlds between lanes at neighbouring temperatures.

``state[temperature, variable, ladder]``: lane c of every temperature belongs to ladder c, so that an exchange
is a masked swap of rows, and a ladder's random numbers are its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.choice import _exp
from plx.infer.kernels.random import BITS, _random
from plx.infer.kernels.rows import _add_rows
from plx.jit import Kernel, array, inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]
States = npt.NDArray[np.integer]
Lanes = Annotated[npt.NDArray[np.float64], 2]
Number = int | np.int64

FEW = 16
"""Factors over one or two variables whose table has at most so many entries are counted by entry."""

_FULL = 255
"""What a byte counts."""

_UNIT = 2.0**-BITS


class SoftFactors(NamedTuple):
    """The factors with finite weights, those of one table side by side; starts are into what is named after
    them.

    Rows are those of `plx.infer.kernels.gibbs`: variables from 0, then states of derived nodes.
    """

    group_start: Int64  # [G + 1] factors of one table
    group_entry: Int64  # [G] start in potential
    group_size: Int64  # [G] entries to count; 0: look each factor up
    operand_start: Int64  # [F + 1]
    operand_row: Int32
    operand_stride: Int32
    potential: Float64  # 0 for what is impossible, which no lane is in


class Tally(NamedTuple):
    """What exchanges add up, each lane by itself; K pairs of neighbouring temperatures."""

    refused: Lanes  # [K, C] probabilities that exchanges are refused
    tried: Int64  # [K]
    above: Lanes  # [K, C] Σ exp(d/2 (w - m)) of the hotter lane; d = difference of β, m = middle
    below: Lanes  # [K, C] Σ exp(-d/2 (w - m)) of the colder lane
    total: Lanes  # [K + 1, C] Σ w
    line: Lanes  # [2, C] Σ and Σ² of the integral of w over β by the trapezium rule
    best: Float64  # [C] the largest log weight at β = 1
    trips: Int64  # [C] replicas that have come from β = 0 to β = 1


@inner(inline=True)
def _note_few(a: Number, step: Number, b: Number, pair: Number, state: States, seen: UInt8) -> None:
    """seen[1 … 3] += 1 at the entry that a factor is in, of a table of at most 4, in one pass."""
    first, second, stride = np.uint64(a), np.uint64(b), np.uint8(step)
    one, two, three, other = np.uint8(1), np.uint8(2), np.uint8(3), np.uint8(pair)
    for c in range(seen.shape[1]):
        at = np.uint8(np.uint8(state[first, c]) * stride + np.uint8(state[second, c]) * other)
        seen[1, c] += np.uint8(at == one)
        seen[2, c] += np.uint8(at == two)
        seen[3, c] += np.uint8(at == three)


@inner(inline=True)
def _note(
    a: Number, step: Number, b: Number, pair: Number, size: Number, state: States, at: UInt8, seen: UInt8
) -> None:
    """seen[1 … size - 1] += 1 at the entry that a factor is in."""
    first, second, stride, other = np.uint64(a), np.uint64(b), np.uint8(step), np.uint8(pair)
    for c in range(at.shape[0]):
        at[c] = np.uint8(np.uint8(state[first, c]) * stride + np.uint8(state[second, c]) * other)
    for k in range(1, size):
        row, key = np.uint64(k), np.uint8(k)
        for c in range(at.shape[0]):
            seen[row, c] += np.uint8(at[c] == key)


@inner
def _counted(
    first: Number, last: Number, size: Number, entry: Number, operand_start: Int64, row: Int32, stride: Int32,
    potential: Float64, state: States, at: UInt8, seen: UInt8, count: Int64, weight: Float64,
) -> None:  # fmt: skip
    """Add the weights of factors that share a small table: how often each entry occurs, times what it weighs
    more than the first."""
    lanes = state.shape[1]
    count[:size] = 0
    seen[:] = 0
    full = 0
    for f in range(first, last):
        i = operand_start[f]
        pair = operand_start[f + 1] - i - 1
        if size <= 4:
            _note_few(row[i], stride[i], row[i + pair], pair, state, seen)
        else:
            _note(row[i], stride[i], row[i + pair], pair, size, state, at, seen)
        full += 1
        if full == _FULL or f + 1 == last:
            for k in range(1, size):
                for c in range(lanes):
                    count[k, c] += seen[k, c]
            seen[:] = 0
            full = 0
    for c in range(lanes):
        weight[c] += potential[entry] * np.float64(last - first)
    for k in range(1, size):
        more = potential[entry + k] - potential[entry]
        for c in range(lanes):
            weight[c] += more * np.float64(count[k, c])


@inner
def _weigh(
    m: SoftFactors, state: States, level: Int32, index: Int32, at: UInt8, seen: UInt8, count: Int64,
    weight: Float64,
) -> None:  # fmt: skip
    """weight: the log weight of every lane at β = 1."""
    group_start, group_entry, group_size, potential = m.group_start, m.group_entry, m.group_size, m.potential
    operand_start, operand_row, operand_stride = m.operand_start, m.operand_row, m.operand_stride
    weight[:] = 0.0
    for g in range(group_entry.shape[0]):
        first, last, entry = group_start[g], group_start[g + 1], group_entry[g]
        if group_size[g] > 0:
            _counted(first, last, group_size[g], entry, operand_start, operand_row, operand_stride, potential,
                     state, at, seen, count, weight)  # fmt: skip
            continue
        base = np.uint64(entry)
        for f in range(first, last):
            index[:] = 0
            _add_rows(operand_start[f], operand_start[f + 1], operand_row, operand_stride,
                      state, level, level, level, index)  # fmt: skip
            for c in range(index.shape[0]):
                weight[c] += potential[base + np.uint64(index[c])]


@inner
def _swap_rows(rows: Number, chosen: UInt8, hot: States, cold: States) -> None:
    """Exchange two lanes' rows where chosen."""
    for r in range(rows):
        for c in range(chosen.shape[0]):
            a, b = hot[r, c], cold[r, c]
            moved = chosen[c] != 0
            hot[r, c] = b if moved else a
            cold[r, c] = a if moved else b


@inner
def _add_bridges(beta: Float64, middle: Float64, weight: Float64, tally: Tally) -> None:
    """Add what the ratios of normalising constants are estimated from."""
    above, below, total, line = tally.above, tally.below, tally.total, tally.line
    lanes = weight.shape[1]
    for c in range(lanes):
        area = 0.0
        for k in range(beta.shape[0]):
            total[k, c] += weight[k, c]
        for k in range(beta.shape[0] - 1):
            half = 0.5 * (beta[k + 1] - beta[k])
            above[k, c] += np.exp(half * (weight[k, c] - middle[k]))
            below[k, c] += np.exp(-half * (weight[k + 1, c] - middle[k]))
            area += half * (weight[k, c] - middle[k] + weight[k + 1, c] - middle[k])
        line[0, c] += area
        line[1, c] += area * area


def _exchange(
    m: SoftFactors, beta: Float64, middle: Float64, odd: int, live: int, state: States, total: Int32,
    level: Int32, rng: UInt32, replica: UInt8, weight: Float64, tally: Tally,
) -> None:  # fmt: skip
    """Weigh all lanes, add to the tally, and exchange lanes k and k + 1 for even or odd k (Okabe et al.
    2001).

    Arrays: beta [T], middle [K], state [T, V, C], total and level [T, D, C] of which ``live`` rows feed
    factors, rng [4, C], replica [T, C] (1: it has been at β = 0 since it was last at β = 1), weight [T, C];
    all but m, beta and middle are changed.
    """
    lanes = state.shape[2]
    index, draw = np.empty(lanes, dtype=np.int32), np.empty(lanes, dtype=np.int32)
    at = np.empty(lanes, dtype=np.uint8)
    seen, count = np.empty((FEW, lanes), dtype=np.uint8), np.empty((FEW, lanes), dtype=np.int64)
    chosen = np.empty(lanes, dtype=np.uint8)
    last = beta.shape[0] - 1
    refused, tried, best, trips = tally.refused, tally.tried, tally.best, tally.trips
    for k in range(last + 1):
        _weigh(m, state[k], level[k], index, at, seen, count, weight[k])
    _add_bridges(beta, middle, weight, tally)
    for k in range(odd, last, 2):
        _random(rng, draw)
        tried[k] += 1
        for c in range(lanes):
            gain = (beta[k + 1] - beta[k]) * (weight[k, c] - weight[k + 1, c])
            p = _exp(min(gain, 0.0))
            refused[k, c] += 1.0 - p
            chosen[c] = draw[c] * _UNIT < p
            if chosen[c]:
                weight[k, c], weight[k + 1, c] = weight[k + 1, c], weight[k, c]
                replica[k, c], replica[k + 1, c] = replica[k + 1, c], replica[k, c]
        _swap_rows(state.shape[1], chosen, state[k], state[k + 1])
        _swap_rows(live, chosen, total[k], total[k + 1])
        _swap_rows(live, chosen, level[k], level[k + 1])
    for c in range(lanes):
        best[c] = max(best[c], weight[last, c])
        replica[0, c] = 1
        trips[c] += replica[last, c]
        replica[last, c] = 0


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_exchange` compiled for one type of state, uint8 or uint16."""
    lanes, line = array("int32", 3), array("float64")
    chains = array(state, 3), lanes, lanes, array("uint32", 2), array("uint8", 2), array("float64", 2)
    return Kernel(_exchange, [SoftFactors, line, line, int, int, *chains, Tally]).compiled
