"""Cluster flips over many chains at once: bonds are drawn, and what they tie together moves as one.

Every unknown that may move has a partner state. Factors say, by the entry of their table that they are in,
how probable a bond is and how they pull at their ends; what bonds tie together is found by union-find, lane
by lane, and goes over to partner states with a probability by the sum of the pulls. Lanes are those of
`plx.infer.kernels.gibbs`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.choice import _exp
from plx.infer.kernels.random import BITS, _random
from plx.infer.kernels.rows import _add_rows, _add_two
from plx.jit import Kernel, array, inner

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]
States = npt.NDArray[np.integer]
Lanes = Annotated[npt.NDArray[np.int32], 2]
Number = int | np.int64 | np.int32

_QUEUE = 527
"""Bonds of each lane that wait to be merged; a row is 33 lines of cache, so that rows share no set of it."""

_TILE = 16
"""Unknowns that are decided for all lanes before the next."""

_GOES = -2
"""In place of its parent: the unknown goes over to its partner; -1: it stays."""

_UNIT = 2.0**-BITS


class Couplings(NamedTuple):
    """The unknowns that may move, and the factors over one or two of them; all else is as it stands."""

    mobile: Int32  # [M] variables
    kind: Int32  # [F] kinds have the same table, axes and partners
    kind_start: Int64  # [K] start in the tables of `Flips`
    first: Int32  # [F] positions among the mobile
    second: Int32  # [F] the same as first: the factor is over one
    operand_start: Int64  # [F + 1]
    operand_row: Int32
    operand_stride: Int32


class Flips(NamedTuple):
    """What entries of factors' tables say for one choice of partners."""

    class_of: Int32  # [M] row of partner
    partner: Lanes  # [classes, states]
    binds: UInt8  # [K] whether some bond is possible
    pulls: UInt8  # [K] whether some pull is not 0
    threshold: Int32  # a bond where a random integer is less
    first: Float64  # the pull at the first end: what the log odds of going over to the partner gain
    second: Float64


class Expected(NamedTuple):
    """Factors whose weights are compared with what they are expected to be given the bonds; what their
    entries weigh if the ends stay or go over to their partners, as in `Flips`."""

    factor: Int32  # [N] of `Couplings`
    stay: Float64
    first: Float64  # the first end goes alone
    second: Float64
    both: Float64


@inner
def _merge(count: Int64, queue: Lanes, first: Int32, second: Int32, parent: Lanes) -> None:
    """Tie the ends of all bonds that wait, and forget these; no parent comes after its children.

    Rem's algorithm (Patwary, Blair & Manne 2010, *Experiments on union-find algorithms*).
    """
    for c in range(count.shape[0]):
        for i in range(count[c]):
            f = np.uint64(queue[c, i])
            a, b = np.uint64(first[f]), np.uint64(second[f])
            up, other = parent[c, a], parent[c, b]
            while up != other:
                if up < other:
                    a, b, up, other = b, a, other, up
                parent[c, a] = other
                if a == np.uint64(up):
                    break
                a = np.uint64(up)
                up = parent[c, a]
        count[c] = 0


@inner
def _pull(
    base: Number, index: Int32, pull: Float64, pull_b: Float64, a: Number, b: Number, field: Float64
) -> None:
    """Add what a factor pulls at its ends."""
    start, one, other = np.uint64(base), np.uint64(a), np.uint64(b)
    for c in range(index.shape[0]):
        field[one, c] += pull[start + np.uint64(index[c])]
    if a != b:
        for c in range(index.shape[0]):
            field[other, c] += pull_b[start + np.uint64(index[c])]


@inner
def _gather(parent: Lanes, field: Float64) -> None:
    """Add the pulls at all members of each cluster up at its least member, their parent from here on."""
    for c in range(parent.shape[0]):
        for v in range(field.shape[0]):  # a parent comes before its children, so its own is the root
            root = parent[c, parent[c, v]]
            if root != v:
                parent[c, v] = root
                field[root, c] += field[v, c]


@inner
def _coins(v: Number, draw: Int32, field: Float64, coin: Lanes, row: Number) -> None:
    """coin[row]: `_GOES` where what v is the least member of goes over to its partner, else -1."""
    if field.shape[0] == 0:
        for c in range(draw.shape[0]):
            coin[row, c] = -1 - (draw[c] & 1)
        return
    for c in range(draw.shape[0]):
        gain = field[v, c]
        ratio = _exp(-abs(gain))
        p = (1.0 if gain >= 0.0 else ratio) / (1.0 + ratio)
        coin[row, c] = _GOES if draw[c] * _UNIT < p else -1


@inner(inline=True)
def _turn_over(
    first: Number, last: Number, mobile: Int32, class_of: Int32, partner: Lanes, coin: Lanes, parent: Lanes,
    state: States,
) -> None:  # fmt: skip
    """Decide unknowns first … last - 1 in all lanes: the least of a cluster by its coin, others as it."""
    for c in range(state.shape[1]):
        lane = np.uint64(c)
        for v in range(first, last):
            at, row = np.uint64(v), np.uint64(mobile[v])
            above = np.uint64(parent[lane, at])
            goes = coin[np.uint64(v - first), lane] if above == at else parent[lane, above]
            parent[lane, at] = goes
            own = state[row, lane]
            other = partner[np.uint64(class_of[at]), np.uint64(own)]
            state[row, lane] = other if goes == _GOES else own


@inner
def _roots(n: Number, parent: Lanes) -> None:
    """The parent of each of n unknowns is the least of its cluster from here on."""
    for c in range(parent.shape[0]):
        for v in range(n):
            parent[c, v] = parent[c, parent[c, v]]


@inner
def _goes(root: Number, c: Number, field: Float64) -> float:
    """How probable it is that a cluster goes over to its partners."""
    return 0.5 if field.shape[0] == 0 else 1.0 / (1.0 + np.exp(-field[root, c]))


@inner
def _entry_of(f: Number, m: Couplings, state: States, level: Int32, index: Int32) -> None:
    """The entry of its table that a factor is in, lane by lane."""
    index[:] = 0
    row, stride, i, last = m.operand_row, m.operand_stride, m.operand_start[f], m.operand_start[f + 1]
    if last - i == 2 and row[i] < state.shape[0] and row[i + 1] < state.shape[0]:
        _add_two(row[i], stride[i], row[i + 1], stride[i + 1], state, index)
    else:
        _add_rows(i, last, row, stride, state, level, level, level, index)


@inner
def _expect(
    m: Couplings, e: Expected, parent: Lanes, field: Float64, state: States, level: Int32, index: Int32,
    excess: Float64,
) -> None:  # fmt: skip
    """Take off what factors are expected to weigh when clusters have gone over, or not."""
    stay, first, second, both = e.stay, e.first, e.second, e.both
    for i in range(e.factor.shape[0]):
        f = e.factor[i]
        _entry_of(f, m, state, level, index)
        base, a, b = np.uint64(m.kind_start[m.kind[f]]), m.first[f], m.second[f]
        for c in range(index.shape[0]):
            at = base + np.uint64(index[c])
            root, other = parent[c, a], parent[c, b]
            p, q = _goes(root, c, field), _goes(other, c, field)
            mean = p * both[at] + (1.0 - p) * stay[at]
            if root != other:
                alone = p * first[at] + (1.0 - p) * stay[at]
                mean = (1.0 - q) * alone + q * (p * both[at] + (1.0 - p) * second[at])
            excess[c] -= mean


@inner
def _met(m: Couplings, e: Expected, state: States, level: Int32, index: Int32, excess: Float64) -> None:
    """Add what factors weigh."""
    stay = e.stay
    for i in range(e.factor.shape[0]):
        f = e.factor[i]
        _entry_of(f, m, state, level, index)
        base = np.uint64(m.kind_start[m.kind[f]])
        for c in range(index.shape[0]):
            excess[c] += stay[base + np.uint64(index[c])]


def _flip(
    m: Couplings, t: Flips, e: Expected, state: States, level: Int32, rng: UInt32, excess: Float64
) -> None:  # fmt: skip
    """Draw bonds, and let what they tie together go over to its partner states or not.

    Arrays: state [V, C], level [D, C] states of derived nodes, rng [4, C], excess [C], to which is added by
    how much factors weigh more than is expected; state, rng and excess are changed.
    """
    lanes, n = state.shape[1], m.mobile.shape[0]
    kind, kind_start, first, second = m.kind, m.kind_start, m.first, m.second
    operand_start, operand_row, operand_stride = m.operand_start, m.operand_row, m.operand_stride
    binds, pulls, threshold, pull, pull_b = t.binds, t.pulls, t.threshold, t.first, t.second
    mobile, class_of, partner = m.mobile, t.class_of, t.partner
    draw, index = np.empty(lanes, dtype=np.int32), np.empty(lanes, dtype=np.int32)
    coin = np.empty((_TILE, lanes), dtype=np.int32)
    parent = np.empty((lanes, ((n + 15) // 16 | 1) * 16), dtype=np.int32)  # an odd number of lines of cache
    for v in range(n):
        parent[:, v] = v
    field = np.zeros((n if pulls.any() else 0, lanes))
    queue, count = np.empty((lanes, _QUEUE + 1), dtype=np.int32), np.zeros(lanes, dtype=np.int64)
    waiting = 0
    for f in range(kind.shape[0]):
        k = kind[f]
        if binds[k] == 0 and pulls[k] == 0:
            continue
        index[:] = 0
        i, last = operand_start[f], operand_start[f + 1]
        if last - i == 2 and operand_row[i] < state.shape[0] and operand_row[i + 1] < state.shape[0]:
            _add_two(
                operand_row[i], operand_stride[i], operand_row[i + 1], operand_stride[i + 1], state, index
            )
        else:
            _add_rows(i, last, operand_row, operand_stride, state, level, level, level, index)
        if pulls[k] != 0:
            _pull(kind_start[k], index, pull, pull_b, first[f], second[f], field)
        if binds[k] != 0:
            _random(rng, draw)
            base = np.uint64(kind_start[k])
            for c in range(lanes):
                queue[c, count[c]] = f
                count[c] += np.int64(draw[c] < threshold[base + np.uint64(index[c])])
            waiting += 1
            if waiting == _QUEUE:
                _merge(count, queue, first, second, parent)
                waiting = 0
    _merge(count, queue, first, second, parent)
    if field.shape[0] > 0:
        _gather(parent, field)
    if e.factor.shape[0] > 0:
        if field.shape[0] == 0:
            _roots(n, parent)
        _expect(m, e, parent, field, state, level, index, excess)
    for tile in range(0, n, _TILE):
        last = min(n, tile + _TILE)
        for v in range(tile, last):
            _random(rng, draw)
            _coins(v, draw, field, coin, v - tile)
        _turn_over(tile, last, mobile, class_of, partner, coin, parent, state)
    _met(m, e, state, level, index, excess)


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_flip` compiled for one type of state, uint8 or uint16."""
    lanes = array("int32", 2)
    signature = [Couplings, Flips, Expected, array(state, 2), lanes, array("uint32", 2), array("float64")]
    return Kernel(_flip, signature).compiled
