"""MC-SAT: slice sampling with uniform draws from what a slice allows.

Poon and Domingos (AAAI 2006), for tables: a slice asks of every factor an entry of at least its present
log weight less an exponential variate. The factors that then forbid something split the variables into
pieces. A piece is drawn from uniformly by listing its solutions where that takes few steps. A larger one
is changed part by part, each part by listing what is possible given the rest: unlike a draw by local
search (SampleSAT), which is only nearly uniform, that leaves the uniform distribution as it is.
With NUMBA_DISABLE_JIT=1 all chains are identical.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.jit import Kernel, array, inner

Int32 = npt.NDArray[np.int32]
Float64 = npt.NDArray[np.float64]
UInt64 = npt.NDArray[np.uint64]

_LISTED = 64
"""A piece of more variables is never listed."""

_PART = 64
"""A part of a piece has at most so many joint states,"""

_ROUNDS = 2
"""and so often is a variable in a part, about, per slice."""


class Slices(NamedTuple):
    """What the kernel reads: few arrays, as compiling takes its time with each. Ranges are pairs of columns.

    Rows are variables from 0 and then derived nodes. *Below* a factor are all variables it depends on.
    """

    variable: Annotated[Int32, 2]  # [V, 5] states; range of affected; range of factors above, in pair[:, 1]
    affected: Annotated[Int32, 2]  # [A, 3] derived row from 0; range of edge. Inputs come first
    edge: Annotated[Int32, 2]  # [E, 2] -1: the variable, else a position among its affected; start in map
    output: Int32  # [D] start in map
    map: Int32  # contributions and output maps
    factor: Annotated[Int32, 2]  # [F, 5] range of scope; start in potential; range below, in pair[:, 0]
    scope: Annotated[Int32, 2]  # [S, 2] row, stride
    pair: Annotated[Int32, 2]  # [P, 2] variables by factor, factors by variable
    potential: Float64
    least: Float64  # [F] the smallest entry of each factor


class _Work(NamedTuple):
    """Scratch for one chain, and its generator ``random`` [1]."""

    random: UInt64
    floor: Float64  # [F] what the slice asks of each factor
    own: Int32  # [8, V + 1] see the constants
    of_factor: Int32  # [4, F]


_DONE, _PLACE, _ORDER, _SAVED, _CHOICE, _CHOSEN, _READY, _MEMBER = range(8)
"""Rows of ``own``: whether a variable's piece has been drawn; position in the order of a part, or -1; that
order; states; by position, where the factors begin whose last variable this is; variables of a piece."""

_ACTIVE, _SORTED, _FOUND, _LAST = range(4)
"""Rows of ``of_factor``: 0, or a mark if it forbids anything; the factors of a part by their last variable,
and as found; the position of that variable."""


@inner
def _uniform(random: UInt64) -> float:
    """A number in (0, 1]: splitmix64 (Steele, Lea and Flood 2014)."""
    random[0] = random[0] + np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (float(z >> np.uint64(11)) + 1.0) * 2.0**-53


@inner
def _below(random: UInt64, n: int) -> int:
    """A uniform integer in 0 … n - 1."""
    return min(int(_uniform(random) * n), n - 1)


@inner
def _assign(m: Slices, state: Int32, total: Int32, level: Int32, v: int, s: int) -> None:
    """Set variable v to s and bring the derived nodes up to date."""
    if state[v] == s:
        return
    first, last = m.variable[v, 1], m.variable[v, 2]
    for a in range(first, last):
        for e in range(m.affected[a, 1], m.affected[a, 2]):
            source = m.edge[e, 0]
            old = state[v] if source < 0 else level[m.affected[first + source, 0]]
            total[m.affected[a, 0]] -= m.map[m.edge[e, 1] + old]
    state[v] = s
    for a in range(first, last):
        row = m.affected[a, 0]
        for e in range(m.affected[a, 1], m.affected[a, 2]):
            source = m.edge[e, 0]
            now = s if source < 0 else level[m.affected[first + source, 0]]
            total[row] += m.map[m.edge[e, 1] + now]
        level[row] = m.map[m.output[row] + total[row]]


@inner
def _weight(m: Slices, state: Int32, level: Int32, f: int) -> float:
    """The log weight that factor f has now."""
    at, n = m.factor[f, 2], len(state)
    for i in range(m.factor[f, 0], m.factor[f, 1]):
        row = m.scope[i, 0]
        s = state[row] if row < n else level[row - n]
        at += m.scope[i, 1] * s
    return m.potential[at]  # type: ignore[no-any-return]


@inner
def _allowed(m: Slices, w: _Work, state: Int32, level: Int32, f: int) -> bool:
    return bool(_weight(m, state, level, f) >= w.floor[f])


@inner
def _slice(m: Slices, w: _Work, state: Int32, level: Int32) -> None:
    """Draw what is asked of each factor."""
    for f in range(len(m.factor)):
        w.floor[f] = _weight(m, state, level, f) + math.log(_uniform(w.random))
        w.of_factor[_ACTIVE, f] = m.least[f] < w.floor[f]


@inner
def _gather(m: Slices, w: _Work, start: int, mark: int, room: float) -> tuple[int, int]:
    """Variables around one that factors tie together, with at most ``room`` joint states.

    Fills _ORDER, _PLACE and _FOUND: all active factors above these variables, which get the mark; how
    many variables and factors. Neighbours are taken from a random one on, so that parts vary.
    """
    w.own[_ORDER, 0], w.own[_PLACE, start] = start, 0
    room /= m.variable[start, 0]
    n, factors, i = 1, 0, 0
    while i < n:
        v = w.own[_ORDER, i]
        first, last = m.variable[v, 3], m.variable[v, 4]
        turn = _below(w.random, last - first) if last > first else 0
        for a in range(last - first):
            f = m.pair[first + (a + turn) % (last - first), 1]
            if w.of_factor[_ACTIVE, f] == 0 or w.of_factor[_ACTIVE, f] == mark:
                continue
            w.of_factor[_ACTIVE, f], w.of_factor[_FOUND, factors] = mark, f
            factors += 1
            begin, size = m.factor[f, 3], m.factor[f, 4] - m.factor[f, 3]
            spin = _below(w.random, size)
            for b in range(size):
                u = m.pair[begin + (b + spin) % size, 0]
                if w.own[_PLACE, u] < 0 and m.variable[u, 0] <= room:
                    room /= m.variable[u, 0]
                    w.own[_ORDER, n], w.own[_PLACE, u] = u, n
                    n += 1
        i += 1
    return n, factors


@inner
def _sort_factors(m: Slices, w: _Work, n: int, factors: int) -> None:
    """Bucket the factors of a part by the position of the last of its variables below them."""
    w.own[_READY, : n + 1] = 0
    for i in range(factors):
        f, last = w.of_factor[_FOUND, i], 0
        for b in range(m.factor[f, 3], m.factor[f, 4]):
            last = max(last, w.own[_PLACE, m.pair[b, 0]])
        w.of_factor[_LAST, i] = last
        w.own[_READY, last] += 1
    for i in range(1, n + 1):
        w.own[_READY, i] += w.own[_READY, i - 1]
    for i in range(factors):
        last = w.of_factor[_LAST, i]
        w.own[_READY, last] -= 1
        w.of_factor[_SORTED, w.own[_READY, last]] = w.of_factor[_FOUND, i]


@inner
def _list(
    m: Slices, w: _Work, state: Int32, total: Int32, level: Int32, n: int, factors: int, visits: int
) -> bool:
    """Put a part at one of its solutions, each equally likely; False if that takes too long."""
    _sort_factors(m, w, n, factors)
    for i in range(n):
        w.own[_SAVED, i] = state[w.own[_ORDER, i]]
    found, i = 0, 0
    w.own[_CHOICE, 0] = -1
    while i >= 0 and visits >= 0:
        v = w.own[_ORDER, i]
        w.own[_CHOICE, i] += 1
        if w.own[_CHOICE, i] == m.variable[v, 0]:
            i -= 1
            continue
        visits -= 1
        _assign(m, state, total, level, v, w.own[_CHOICE, i])
        fits = True
        for r in range(w.own[_READY, i], w.own[_READY, i + 1]):
            if not _allowed(m, w, state, level, w.of_factor[_SORTED, r]):
                fits = False
                break
        if fits and i + 1 < n:
            i += 1
            w.own[_CHOICE, i] = -1
        elif fits:
            found += 1
            if _uniform(w.random) * found <= 1.0:
                w.own[_CHOSEN, :n] = w.own[_CHOICE, :n]
    row = _SAVED if i >= 0 else _CHOSEN
    for j in range(n):
        _assign(m, state, total, level, w.own[_ORDER, j], w.own[row, j])
        w.own[_PLACE, w.own[_ORDER, j]] = -1
    return i < 0


@inner
def _step(m: Slices, w: _Work, state: Int32, total: Int32, level: Int32, visits: int) -> None:
    """One slice, and a uniform draw from what it allows."""
    _slice(m, w, state, level)
    w.own[_DONE], w.own[_PLACE] = 0, -1
    for v in range(len(m.variable)):
        if w.own[_DONE, v]:
            continue
        n, factors = _gather(m, w, v, 2, np.inf)
        w.own[_MEMBER, :n] = w.own[_ORDER, :n]
        for i in range(n):
            w.own[_DONE, w.own[_MEMBER, i]] = 1
        if n <= _LISTED and _list(m, w, state, total, level, n, factors, visits):
            continue
        for i in range(n):
            w.own[_PLACE, w.own[_MEMBER, i]] = -1
        updates = 0
        while updates < _ROUNDS * n:
            start = w.own[_MEMBER, _below(w.random, n)]
            size, factors = _gather(m, w, start, 3, max(_PART, m.variable[start, 0]))
            _list(m, w, state, total, level, size, factors, 2 * max(_PART, m.variable[start, 0]))
            for i in range(factors):
                w.of_factor[_ACTIVE, w.of_factor[_FOUND, i]] = 2
            updates += size


def _advance(m: Slices, state: Any, total: Any, level: Any, random: Any, steps: int, visits: int) -> None:
    """Move chains by ``steps`` slices. state [C, V], total and level [C, D], random [C].

    ``visits`` is how many assignments may be tried to list the solutions of a piece.
    """
    n, f = len(m.variable), len(m.factor)
    floor = np.empty(f)
    own, of_factor = np.zeros((8, n + 1), dtype=np.int32), np.zeros((4, f), dtype=np.int32)
    for c in range(len(state)):
        w = _Work(random[c : c + 1], floor, own, of_factor)
        for _ in range(steps):
            _step(m, w, state[c], total[c], level[c], visits)


@cache
def kernel() -> Callable[..., None]:
    """`_advance` compiled."""
    lanes = array("int32", 2)
    return Kernel(_advance, [Slices, lanes, lanes, lanes, array("uint64"), int, int]).compiled
