"""Cluster flips over many chains at once: bonds are drawn, and what they tie together moves as one.

Every unknown that may move has a partner state. Factors say, by the entry of their table that they are in,
how probable a bond is and how they pull at their ends; what bonds tie together goes over to partner states
with a probability by the sum of the pulls. Clusters are found in two passes, as components of pictures are
(Rosenfeld & Pfaltz 1966): an unknown gets the label of the first one before it that a bond ties it to, or a
new one, in all lanes at once; further bonds say which labels are the same, which union-find sees to, lane by
lane. Lanes are those of `plx.infer.kernels.gibbs`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.choice import _exp, _look_up
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
Goes = Annotated[npt.NDArray[np.uint8], 2]
Number = int | np.int64 | np.int32

_BATCH = 31
"""Bonds that may wait in each lane, a bit for each, to be seen to."""

_SEQUENCE = 0x077CB531
"""Its products with powers of two differ in their five upper bits (Leiserson, Prokop & Randall 1998, *Using
de Bruijn sequences to index a 1 in a computer word*)."""

_PLACE = np.argsort([(_SEQUENCE << i) % 2**32 >> 27 for i in range(32)])
"""Of which power of two such bits are."""

_UNIT = 2.0**-BITS


class Couplings(NamedTuple):
    """The unknowns that may move, and the factors over one or two of them, in order of the later one; all
    else is as it stands."""

    mobile: Int32  # [M] variables
    kind: Int32  # [F] kinds have the same table, axes and partners
    kind_start: Int64  # [K + 1] start in the tables of `Flips`
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


@inner(inline=True)
def _join(low: Number, high: Number, j: Number, draw: Int32, cut: Int32, label: Lanes, left: Int32) -> None:
    """Where there is a bond, high gets the label of low; bit j is left where it has another one already."""
    a, b, bit = np.uint64(low), np.uint64(high), np.int32(1 << j)
    for c in range(draw.shape[0]):  # sums: LLVM makes slow masked stores of what may stay as it is
        own, other, bond = label[b, c], label[a, c], draw[c] < cut[c]
        label[b, c] += other + np.int32(1) if bond & (own < 0) else np.int32(0)
        left[c] |= bit if bond & (own >= 0) & (own != other) else np.int32(0)


@inner
def _unite(low: Int32, high: Int32, label: Lanes, root: Lanes, left: Int32) -> None:
    """See to the bonds that are left: labels at their ends are of one cluster. A root is the least label.

    Jumps that depend on chance are what costs time, so both ends are written even where they need not be.
    """
    for c in range(left.shape[0]):
        word, lane = left[c], np.uint64(c)
        left[c] = 0
        while word != 0:
            bit = word & -word
            word ^= bit
            product = np.uint32(np.uint32(bit) * np.uint32(_SEQUENCE))
            j = np.uint64(_PLACE[np.uint64(product >> np.uint32(27))])
            x, y = np.uint64(low[j]), np.uint64(high[j])
            a, b = np.uint64(label[x, lane]), np.uint64(label[y, lane])
            up, other = np.uint64(root[a, lane]), np.uint64(root[b, lane])
            up, other = np.uint64(root[up, lane]), np.uint64(root[other, lane])  # few are farther away
            while up != np.uint64(root[up, lane]):
                up = np.uint64(root[up, lane])
            while other != np.uint64(root[other, lane]):
                other = np.uint64(root[other, lane])
            least = min(up, other)
            root[max(up, other), lane] = least
            root[a, lane], root[b, lane] = least, least
            label[x, lane], label[y, lane] = least, least


@inner
def _number(
    first: Number, last: Number, labels: np.int64, label: Lanes, root: Lanes, count: Int32
) -> np.int64:
    """Unknowns first … last - 1 get new labels where they have none, and the one that is last is without.

    Returns how many labels a lane has at most; ``labels`` is how many it had before.
    """
    for v in range(first, last):
        at, most = np.uint64(v), np.int32(labels)
        for c in range(count.shape[0]):
            new = label[at, c] < 0
            label[at, c] += count[c] + np.int32(1) if new else np.int32(0)
            count[c] += np.int32(new)
            most = max(most, count[c])
        label[v + 1] = -1
        for new_label in range(labels, most):
            root[new_label] = new_label
        labels = np.int64(most)
    return labels


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
def _flatten(labels: Number, root: Lanes) -> None:
    """The parent of each label is its root from here on: a parent comes before its children."""
    for v in range(labels):
        at = np.uint64(v)
        for c in range(root.shape[1]):
            lane = np.uint64(c)
            root[at, lane] = root[np.uint64(root[at, lane]), lane]


@inner
def _gather(label: Lanes, root: Lanes, field: Float64, total: Float64) -> None:
    """Add the pulls at all members of each cluster up at its root, the parent of its labels."""
    for v in range(field.shape[0]):
        at = np.uint64(v)
        for c in range(field.shape[1]):
            lane = np.uint64(c)
            total[np.uint64(label[at, lane]), lane] += field[at, lane]
    for v in range(total.shape[0]):
        at = np.uint64(v)
        for c in range(total.shape[1]):
            lane = np.uint64(c)
            least = np.uint64(root[at, lane])
            if least != at:
                total[least, lane] += total[at, lane]


@inner
def _coins(v: Number, draw: Int32, total: Float64, coin: UInt8) -> None:
    """coin: 1 where the cluster of which v is the root goes over; without pulls a bit of the draw is used."""
    if total.shape[0] == 0:
        for c in range(draw.shape[0]):
            coin[c] = draw[c] & 1
            draw[c] >>= 1
        return
    for c in range(draw.shape[0]):
        gain = total[v, c]
        ratio = _exp(-abs(gain))
        p = (1.0 if gain >= 0.0 else ratio) / (1.0 + ratio)
        coin[c] = draw[c] * _UNIT < p


@inner
def _decide(
    rng: UInt32, n: Number, draw: Int32, total: Float64, coin: UInt8, root: Lanes, goes: Goes
) -> None:
    """Which labels go over: roots by their coins, others as their parents.

    A lane draws as often with few labels as with n of them, so that it does not depend on other lanes.
    """
    pulled = total.shape[0] > 0
    for v in range(n):
        if pulled or v % BITS == 0:
            _random(rng, draw)
        if v < goes.shape[0]:
            _coins(v, draw, total, coin)
            at = np.uint64(v)
            for c in range(coin.shape[0]):
                lane = np.uint64(c)
                goes[at, lane] = coin[lane]
                goes[at, lane] = goes[np.uint64(root[at, lane]), lane]  # of a root: the coin


@inner(inline=True)
def _turn_over(
    v: Number, row: Number, kind: Number, partner: Lanes, label: Lanes, goes: Goes, coin: UInt8, state: States
) -> None:
    """Let an unknown go over to its partner in the lanes where its label does."""
    at, to, line = np.uint64(v), np.uint64(row), np.uint64(kind)
    for c in range(coin.shape[0]):
        lane = np.uint64(c)
        coin[lane] = goes[np.uint64(label[at, lane]), lane]
    if partner.shape[1] == 2:
        zero, one = state.dtype.type(partner[line, 0]), state.dtype.type(partner[line, 1])
        for c in range(coin.shape[0]):
            own = state[to, c]
            state[to, c] = own ^ (own ^ (one if own != 0 else zero)) * coin[c]
        return
    for c in range(coin.shape[0]):
        lane = np.uint64(c)
        own = state[to, lane]
        other = partner[line, np.uint64(own)]
        state[to, lane] = other if coin[lane] != 0 else own


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
def _goes_over(root: Number, c: Number, total: Float64) -> float:
    """How probable it is that a cluster goes over to its partners."""
    return 0.5 if total.shape[0] == 0 else 1.0 / (1.0 + np.exp(-total[root, c]))


@inner
def _expect(
    m: Couplings, e: Expected, label: Lanes, root: Lanes, total: Float64, state: States, level: Int32,
    index: Int32, excess: Float64,
) -> None:  # fmt: skip
    """Take off what factors are expected to weigh when clusters have gone over, or not."""
    stay, first, second, both = e.stay, e.first, e.second, e.both
    for i in range(e.factor.shape[0]):
        f = e.factor[i]
        _entry_of(f, m, state, level, index)
        base, a, b = np.uint64(m.kind_start[m.kind[f]]), np.uint64(m.first[f]), np.uint64(m.second[f])
        for c in range(index.shape[0]):
            at, lane = base + np.uint64(index[c]), np.uint64(c)
            one, other = root[np.uint64(label[a, lane]), lane], root[np.uint64(label[b, lane]), lane]
            p, q = _goes_over(one, c, total), _goes_over(other, c, total)
            mean = p * both[at] + (1.0 - p) * stay[at]
            if one != other:
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
    binds, pulls, threshold, pull, pull_b = t.binds, t.pulls, t.threshold, t.first, t.second
    mobile, class_of, partner = m.mobile, t.class_of, t.partner
    draw, index = np.empty(lanes, dtype=np.int32), np.empty(lanes, dtype=np.int32)
    cut, coin = np.empty(lanes, dtype=np.int32), np.empty(lanes, dtype=np.uint8)
    count, left = np.zeros(lanes, dtype=np.int32), np.zeros(lanes, dtype=np.int32)
    low, high = np.empty(_BATCH, dtype=np.int32), np.empty(_BATCH, dtype=np.int32)
    label, root = np.empty((n + 1, lanes), dtype=np.int32), np.empty((n, lanes), dtype=np.int32)
    field = np.zeros((n if pulls.any() else 0, lanes))
    label[0] = -1
    at, labels, waiting = np.int64(0), np.int64(0), 0
    for f in range(kind.shape[0]):
        k = kind[f]
        if binds[k] == 0 and pulls[k] == 0:
            continue
        start = kind_start[k]
        _entry_of(f, m, state, level, index)
        if pulls[k] != 0:
            _pull(start, index, pull, pull_b, first[f], second[f], field)
        if binds[k] != 0:
            low[waiting], high[waiting] = min(first[f], second[f]), max(first[f], second[f])
            if at < high[waiting]:
                labels = _number(at, high[waiting], labels, label, root, count)
                at = np.int64(high[waiting])
            _random(rng, draw)
            _look_up(start, kind_start[k + 1] - start, threshold, index, cut)
            _join(low[waiting], high[waiting], waiting, draw, cut, label, left)
            waiting += 1
            if waiting == _BATCH:
                _unite(low, high, label, root, left)
                waiting = 0
    _unite(low, high, label, root, left)
    labels = _number(at, n, labels, label, root, count)
    goes = np.empty((labels, lanes), dtype=np.uint8)
    total = np.zeros((labels if field.shape[0] > 0 else 0, lanes))
    if len(total) > 0 or len(e.factor) > 0:
        _flatten(labels, root)
    _gather(label, root, field, total)
    _expect(m, e, label, root, total, state, level, index, excess)
    _decide(rng, n, draw, total, coin, root, goes)
    for v in range(n):
        _turn_over(v, mobile[v], class_of[v], partner, label, goes, coin, state)
    _met(m, e, state, level, index, excess)


@cache
def kernel(state: str) -> Callable[..., None]:
    """`_flip` compiled for one type of state, uint8 or uint16."""
    lanes = array("int32", 2)
    signature = [Couplings, Flips, Expected, array(state, 2), lanes, array("uint32", 2), array("float64")]
    return Kernel(_flip, signature).compiled
