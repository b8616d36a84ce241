"""Bags of few variables that cover much of a graph, sums over what they cover, and worlds drawn from it.

Variables join one after the other. Each has a *bag*: itself and some of those before it, all of which are
together in one earlier bag, so that the bags are the cliques of a junction tree (a partial k-tree; Arnborg &
Proskurowski 1989, *Linear time algorithms for NP-hard problems restricted to partial k-trees*).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.random import BITS, _random
from plx.infer.kernels.rows import _add_row, _add_two
from plx.jit import Kernel, array, inner, kernel

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]
Bools = npt.NDArray[np.bool_]
States = npt.NDArray[np.integer]
Table = Annotated[npt.NDArray[np.int64], 2]
Number = int | np.int64

_NOTHING = 1e-9
"""Ties that add up to no more are none: those taken off leave a rounding error."""

_SMALL = 0.5
"""Of variables that are worth as much, one with less left to tie goes first: corners are filled."""


class Ties(NamedTuple):
    """A graph in compressed rows: how strongly each variable is tied to others, and log2 of its states."""

    start: Int64  # [V + 1]
    near: Int64
    tie: Float64
    bits: Float64  # [V]


@inner
def _room(
    front: Int64, m: int, left: Float64, mark: Float64, bits: Float64, budget: float, most: int, v: Number,
    stays: Bools,
) -> float:  # fmt: skip
    """Which of the front stay in a bag with v, those that have least left to tie making room; and what is
    lost by that."""
    size, count, lost = bits[v], m, 0.0
    for i in range(m):
        stays[i] = True
        size += bits[front[i]]
    while size > budget or count >= most:
        least, goes = np.inf, -1
        for i in range(m):
            if stays[i] and left[front[i]] < least:
                least, goes = left[front[i]], i
        if goes < 0:
            break
        stays[goes] = False
        count -= 1
        size -= bits[front[goes]]
        lost += least
    return lost


@inner
def _next(
    g: Ties, front: Int64, m: int, left: Float64, budget: float, most: int, step: int, joined: Bools,
    seen: Int64, mark: Float64, stays: Bools, kept: Bools,
) -> int:  # fmt: skip
    """The variable next to the front that is tied to it most, less what is lost by it; ``kept``: to whom."""
    best, found = -np.inf, -1
    for i in range(m):
        for e in range(g.start[front[i]], g.start[front[i] + 1]):
            v = g.near[e]
            if joined[v] or seen[v] == step:
                continue
            seen[v] = step
            for k in range(g.start[v], g.start[v + 1]):
                mark[g.near[k]] = g.tie[k]
            worth = -_SMALL * left[v]
            for j in range(m):
                worth += mark[front[j]]
            worth -= _room(front, m, left, mark, g.bits, budget, most, v, stays)
            for k in range(g.start[v], g.start[v + 1]):
                mark[g.near[k]] = 0.0
            if worth > best + _NOTHING:
                best, found = worth, v
                kept[:m] = stays[:m]
    return found


@inner
def _home(g: Ties, v: Number, latest: Int64, bag: Table, size: Int64, mark: Float64) -> int:
    """Whose bag v is tied to most, of those of its neighbours; -1: to none."""
    for k in range(g.start[v], g.start[v + 1]):
        mark[g.near[k]] = g.tie[k]
    best, found = 0.0, -1
    for k in range(g.start[v], g.start[v + 1]):
        u = g.near[k]
        if latest[u] >= 0:
            for owner in (u, latest[u]):
                worth = 0.0
                for i in range(size[owner]):
                    worth += mark[bag[owner, i]]
                if worth > best:
                    best, found = worth, owner
    return found


@inner
def _begin(g: Ties, v: Number, latest: Int64, budget: float, bag: Table, size: Int64, mark: Float64) -> None:
    """The bag of a variable that begins a new front: with those that it is tied to in some other bag."""
    owner = _home(g, v, latest, bag, size, mark)
    count, total = 0, g.bits[v]
    if owner >= 0:
        for i in range(size[owner]):
            u = bag[owner, i]
            if mark[u] > 0.0 and total + g.bits[u] <= budget and count + 1 < bag.shape[1]:
                bag[v, count] = u
                count += 1
                total += g.bits[u]
    for k in range(g.start[v], g.start[v + 1]):
        mark[g.near[k]] = 0.0
    bag[v, count] = v
    size[v] = count + 1


@inner
def _is_tied(g: Ties, v: Number, front: Int64, m: int) -> bool:
    """Whether v is tied to one of the front."""
    for e in range(g.start[v], g.start[v + 1]):
        for i in range(m):
            if front[i] == g.near[e]:
                return True
    return False


@inner
def _loosest(left: Float64, joined: Bools) -> int:
    """Of the variables that have not joined, one with least left to tie."""
    least, v = np.inf, -1
    for u in range(len(left)):
        if not joined[u] and left[u] < least:
            least, v = left[u], u
    return v


@kernel
def grow(g: Ties, budget: float, given: Int64, order: Int64, bag: Table, size: Int64) -> float:
    """Let all variables join, in ``order`` [V]; their bags are ``bag`` [V, most] and ``size`` [V]. The result
    is how strong the ties within bags are together.

    A bag has at most ``budget`` bits, but for a variable that alone has more. The *front* are those of the
    last bag that have ties left; who joins is next to it. Where there is none, one with few ties left begins
    another. ``given`` [V]: the order in which they are to join; if empty it is looked for.
    """
    n, most = bag.shape
    joined, latest, seen = np.zeros(n, dtype=np.bool_), np.full(n, -1), np.full(n, -1)
    left, mark = np.zeros(n), np.zeros(n)
    stays, kept = np.zeros(most, dtype=np.bool_), np.zeros(most, dtype=np.bool_)
    front = np.empty(most, dtype=np.int64)
    for v in range(n):
        for e in range(g.start[v], g.start[v + 1]):
            left[v] += g.tie[e]
    m, whole = 0, 0.0
    for step in range(n):
        v = -1
        if len(given) > 0:
            if m > 0 and _is_tied(g, given[step], front, m):
                v = given[step]
                _room(front, m, left, mark, g.bits, budget, most, v, kept)
        elif m > 0:
            v = _next(g, front, m, left, budget, most, step, joined, seen, mark, stays, kept)
        if v >= 0:
            count = 0
            for i in range(m):
                if kept[i]:
                    bag[v, count] = front[i]
                    count += 1
            bag[v, count] = v
            size[v] = count + 1
        else:
            v = given[step] if len(given) > 0 else _loosest(left, joined)
            _begin(g, v, latest, budget, bag, size, mark)
        joined[v] = True
        order[step] = v
        for e in range(g.start[v], g.start[v + 1]):
            mark[g.near[e]] = g.tie[e]
            left[g.near[e]] -= g.tie[e]
        m = 0
        for i in range(size[v]):
            u = bag[v, i]
            latest[u] = v
            whole += mark[u]
            if left[u] > _NOTHING:
                front[m] = u
                m += 1
        for e in range(g.start[v], g.start[v + 1]):
            mark[g.near[e]] = 0.0
    return whole


@kernel
def levels(start: Int64, near: Int64, level: Int64) -> None:
    """How far each variable [V] is from one at an end of its part of a graph in compressed rows."""
    n = len(level)
    queue = np.empty(n, dtype=np.int64)
    level[:] = -1
    for v in range(n):
        if level[v] < 0:
            last = _spread(start, near, v, level, queue)
            far = queue[last - 1]
            for i in range(last):
                level[queue[i]] = -1
            _spread(start, near, far, level, queue)


@inner
def _spread(start: Int64, near: Int64, root: Number, level: Int64, queue: Int64) -> int:
    """Levels from a root on, in place of -1; ``queue`` are those who get one, and the result how many."""
    queue[0], level[root] = root, 0
    first, last = 0, 1
    while first < last:
        v = queue[first]
        first += 1
        for e in range(start[v], start[v + 1]):
            u = near[e]
            if level[u] < 0:
                level[u] = level[v] + 1
                queue[last] = u
                last += 1
    return last


class Bags(NamedTuple):
    """The bags in the order in which variables join, N of them, the variable itself last in each.

    An *item* of a bag is a table over some of its variables: of a factor, or what a later bag says; it is
    read at ``item_base`` + Σ ``item_stride`` · state, of the axes of the bag.
    """

    axis_start: Int64  # [N + 1]
    axis_card: Int64
    item_start: Int64  # [N + 1]
    item_base: Int64
    item_stride: Table  # [items, longest bag]
    message: Int64  # [N] where in the data what the bag says of all but its own variable begins
    entry: Int64  # [N] where its thresholds begin


@kernel
def fill(b: Bags, begin: int, end: int, data: Float64, threshold: Int32) -> None:
    """Sum over the variables of the bags begin … end - 1, those that joined last first.

    ``data`` are tables and room for messages, logs; ``threshold`` gets the cumulative probabilities of all
    states but the last given those of the others in the bag, times 2^BITS.
    """
    most = 1
    for axis in range(b.axis_card.shape[0]):
        most = max(most, b.axis_card[axis])
    weight = np.empty(most)
    at = np.empty(b.item_base.shape[0], dtype=np.int64)
    state = np.empty(b.item_stride.shape[1], dtype=np.int64)
    for i in range(end - 1, begin - 1, -1):
        first, own = b.axis_start[i], b.axis_start[i + 1] - b.axis_start[i] - 1
        items, card = range(b.item_start[i], b.item_start[i + 1]), b.axis_card[first + own]
        configurations = 1
        for axis in range(own):
            configurations *= b.axis_card[first + axis]
            state[axis] = 0
        for j in items:
            at[j] = b.item_base[j]
        for c in range(configurations):
            top = -np.inf
            for k in range(card):
                weight[k] = 0.0
                for j in items:
                    weight[k] += data[at[j] + k * b.item_stride[j, own]]
                top = max(top, weight[k])
            total = 0.0
            for k in range(card):
                weight[k] = np.exp(weight[k] - top) if top > -np.inf else 1.0
                total += weight[k]
            data[b.message[i] + c] = top + np.log(total)
            share = 0.0
            for k in range(card - 1):
                share += weight[k] / total
                scaled = min(np.rint(share * 2.0**BITS), 2.0**BITS - 1)
                threshold[b.entry[i] + k * configurations + c] = np.int32(scaled)
            axis = own - 1
            while axis >= 0:
                state[axis] += 1
                back = b.axis_card[first + axis] if state[axis] == b.axis_card[first + axis] else 0
                for j in items:
                    at[j] += b.item_stride[j, axis] * (1 - back)
                if back == 0:
                    break
                state[axis] = 0
                axis -= 1


class Forward(NamedTuple):
    """Variables in the order in which they are drawn, each given others before it."""

    variable: Int32  # [N]
    card: Int32  # [N]
    entry: Int64  # [N] start in threshold
    plane: Int64  # [N] configurations of the others
    given_start: Int64  # [N + 1]
    given_row: Int32
    given_stride: Int32
    threshold: Int32


def _draw(m: Forward, state: States, rng: UInt32) -> None:
    """Draw all variables of every lane anew. Arrays: state [V, C], rng [4, C]; both are changed."""
    variable, card, entry, plane, threshold = m.variable, m.card, m.entry, m.plane, m.threshold
    given_start, row, stride = m.given_start, m.given_row, m.given_stride
    lanes = state.shape[1]
    index, draw = np.empty(lanes, dtype=np.int32), np.empty(lanes, dtype=np.int32)
    for i in range(variable.shape[0]):
        index[:] = 0
        r, last = given_start[i], given_start[i + 1]
        while r + 1 < last:
            _add_two(row[r], stride[r], row[r + 1], stride[r + 1], state, index)
            r += 2
        if r < last:
            _add_row(row[r], stride[r], state, index)
        _random(rng, draw)
        v, base = np.uint64(variable[i]), entry[i]
        for c in range(lanes):
            state[v, c] = 0
        for k in range(card[i] - 1):
            start = np.uint64(base + k * plane[i])
            for c in range(lanes):
                state[v, c] += draw[c] >= threshold[start + np.uint64(index[c])]


@cache
def drawing(state: str) -> Callable[..., None]:
    """`_draw` compiled for one type of state, uint8 or uint16."""
    return Kernel(_draw, [Forward, array(state, 2), array("uint32", 2)]).compiled
