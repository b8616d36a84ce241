"""Kernels written by hand for one model each: how fast Gibbs sampling of it can be with such lanes.

The same method as in plx: all chains at once, an xoshiro128++ generator per lane, conditionals as 31-bit
thresholds, unknowns in the same order. But each model's structure is in the code: no list of neighbours
is read, no case is told apart, equal thresholds are one. Loops over lanes that do one thing each compile
to vector instructions, and so does a choice among few thresholds, which costs a fraction of a look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph
from plx.values import FloatArray

States = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class ByHand:
    """Chains of one model: ``sweep(n)`` moves them, ``states()`` [V, lanes] shows them in plx's order."""

    unknowns: int
    lanes: int
    sweep: Callable[[int], object]
    states: Callable[[], States]


@numba.njit(cache=True)
def fill(rng, out):  # type: ignore[no-untyped-def]
    """One step of xoshiro128++ per lane (rng [4, lanes]); 31 bits into out [lanes]."""
    for c in range(out.shape[0]):
        s0, s1, s2, s3 = rng[0, c], rng[1, c], rng[2, c], rng[3, c]
        x = np.uint32(s0 + s3)
        x = np.uint32(np.uint32(np.uint32(x << np.uint32(7)) | np.uint32(x >> np.uint32(25))) + s0)
        t = np.uint32(s1 << np.uint32(9))
        s2 = np.uint32(s2 ^ s0)
        s3 = np.uint32(s3 ^ s1)
        rng[1, c] = np.uint32(s1 ^ s2)
        rng[0, c] = np.uint32(s0 ^ s3)
        rng[2, c] = np.uint32(s2 ^ t)
        rng[3, c] = np.uint32(np.uint32(s3 << np.uint32(11)) | np.uint32(s3 >> np.uint32(21)))
        out[c] = np.int32(x >> np.uint32(1))


@numba.njit(cache=True)
def _ising(state, rng, table, draw, index, sweeps):  # type: ignore[no-untyped-def]
    """state [side + 2, side + 2, lanes], a border of zeros; table [neighbours, those in state 1]."""
    side, lanes = state.shape[0] - 2, state.shape[2]
    for _ in range(sweeps):
        for i in range(1, side + 1):
            for j in range(1, side + 1):
                n = (i > 1) + (i < side) + (j > 1) + (j < side)
                t0, t1, t2, t3, t4 = table[n, 0], table[n, 1], table[n, 2], table[n, 3], table[n, 4]
                fill(rng, draw)
                for c in range(lanes):
                    index[c] = np.int32(state[i - 1, j, c]) + np.int32(state[i + 1, j, c])
                    index[c] += np.int32(state[i, j - 1, c]) + np.int32(state[i, j + 1, c])
                for c in range(lanes):
                    k = index[c]
                    low, high = t0 if k < 1 else t1, t2 if k < 3 else t3
                    cut = low if k < 2 else (high if k < 4 else t4)
                    state[i, j, c] = draw[c] >= cut


@numba.njit(cache=True)
def _potts(state, rng, table, draw, index, sweeps):  # type: ignore[no-untyped-def]
    """state as in `_ising`, a border of the number of colours; table [colours - 1, (colours + 1)^4]."""
    side, lanes = state.shape[0] - 2, state.shape[2]
    base = np.int32(table.shape[0] + 2)
    for _ in range(sweeps):
        for i in range(1, side + 1):
            for j in range(1, side + 1):
                fill(rng, draw)
                for c in range(lanes):
                    index[c] = np.int32(state[i - 1, j, c]) * base + np.int32(state[i + 1, j, c])
                for c in range(lanes):
                    two = np.int32(state[i, j - 1, c]) * base + np.int32(state[i, j + 1, c])
                    index[c] = index[c] * base * base + two
                    state[i, j, c] = 0
                for k in range(table.shape[0]):
                    row = table[k]
                    for c in range(lanes):
                        state[i, j, c] += draw[c] >= row[np.uint64(index[c])]


@numba.njit(cache=True)
def _ring(state, rng, table, draw, cut, sweeps):  # type: ignore[no-untyped-def]
    """state [n, lanes]; table [n, state before, state after]."""
    n, lanes = state.shape
    for _ in range(sweeps):
        for i in range(n):
            before, after = np.uint64(i - 1 if i else n - 1), np.uint64(i + 1 if i + 1 < n else 0)
            t00, t01, t10, t11 = table[i, 0, 0], table[i, 0, 1], table[i, 1, 0], table[i, 1, 1]
            fill(rng, draw)
            for c in range(lanes):
                zero, one = t01 if state[after, c] else t00, t11 if state[after, c] else t10
                cut[c] = one if state[before, c] else zero
            for c in range(lanes):
                state[i, c] = draw[c] >= cut[c]


@numba.njit(cache=True)
def _curriculum(grade, both, rng, stay, odds, even, draw, index, sweeps):  # type: ignore[no-untyped-def]
    """grade [people, courses, lanes], both [people, courses, courses, lanes].

    ``stay`` [people, courses, links] is the threshold of grade 0, ``odds`` what the rest of the draw is
    multiplied by to spread it over the other grades; even [2]: thresholds of a link, which counts if neither
    of its grades is 0.
    """
    people, courses, lanes = grade.shape
    for _ in range(sweeps):
        for p in range(people):
            for j in range(courses):
                fill(rng, draw)
                for c in range(lanes):
                    index[c] = 0
                for k in range(courses):
                    if k != j:
                        for c in range(lanes):
                            linked = np.int32(both[p, j, k, c]) + np.int32(both[p, k, j, c])
                            index[c] += linked if grade[p, k, c] else np.int32(0)
                cuts, scale = stay[p, j], odds[p, j]
                for c in range(lanes):
                    above = draw[c] - cuts[np.uint64(index[c])]
                    other = np.int32(1) + np.int32(np.float32(above) * scale[np.uint64(index[c])])
                    grade[p, j, c] = other if above >= 0 else np.int32(0)
        for p in range(people):
            for j in range(courses):
                for k in range(courses):
                    fill(rng, draw)
                    low, high = even[0], even[0] if j == k else even[1]
                    for c in range(lanes):
                        cut = low if grade[p, j, c] == 0 or grade[p, k, c] == 0 else high
                        both[p, j, k, c] = draw[c] >= cut


@numba.njit(cache=True)
def _friends(smokes, friends, rng, own, even, draw, index, sweeps):  # type: ignore[no-untyped-def]
    """smokes [people, lanes], friends [people, people, lanes].

    ``own`` are thresholds of smoking, by how many more friends ask for it than forbid it; even [2]:
    thresholds of a friendship, of which the second holds where the first smokes and the second does not.
    """
    people, lanes = smokes.shape
    for _ in range(sweeps):
        for x in range(people):
            fill(rng, draw)
            for c in range(lanes):
                index[c] = people - 1
            for y in range(people):
                if y != x:
                    for c in range(lanes):
                        # smoking is asked for by friends who smoke, forbidden by own friends who do not
                        more = np.int32(friends[y, x, c]) if smokes[y, c] else -np.int32(friends[x, y, c])
                        index[c] += more
            for c in range(lanes):
                smokes[x, c] = draw[c] >= own[np.uint64(index[c])]
        for x in range(people):
            for y in range(people):
                fill(rng, draw)
                low, high = even[0], even[0] if x == y else even[1]
                for c in range(lanes):
                    cut = high if smokes[x, c] > smokes[y, c] else low
                    friends[x, y, c] = draw[c] >= cut


@numba.njit(cache=True)
def _counts(takes, total, rng, table, draw, sweeps):  # type: ignore[no-untyped-def]
    """takes [people, courses, lanes], total [courses, lanes] of them; table [how many others take it]."""
    people, courses, lanes = takes.shape
    for _ in range(sweeps):
        for p in range(people):
            for k in range(courses):
                fill(rng, draw)
                for c in range(lanes):
                    others = total[k, c] - np.int32(takes[p, k, c])
                    takes[p, k, c] = draw[c] >= table[np.uint64(others)]
                    total[k, c] = others + np.int32(takes[p, k, c])


def ising(side: int, weight: float, lanes: int) -> ByHand:
    """A grid of two states whose neighbours like to agree."""
    table = ising_table(weight)
    state = np.zeros((side + 2, side + 2, lanes), dtype=np.uint8)
    rng, draw, index = scratch(lanes)
    return _by_hand(lanes, lambda n: _ising(state, rng, table, draw, index, n), state[1:-1, 1:-1])


def ising_table(weight: float) -> npt.NDArray[np.int32]:
    """Thresholds of state 1, [neighbours, those of them in state 1]."""
    ones = np.arange(5)
    return _thresholds(weight * (ones - (np.arange(5)[:, None] - ones)))


def potts(side: int, colors: int, weight: float, lanes: int) -> ByHand:
    """A grid of ``colors`` states."""
    neighbours = np.indices((colors + 1,) * 4).reshape(4, -1)
    score = np.exp(weight * (neighbours[:, None] == np.arange(colors)[:, None]).sum(0))
    below = np.cumsum(score, axis=0)[:-1] / score.sum(0)
    table = np.minimum(below * 2**31, 2**31 - 1).astype(np.int32)
    state = np.full((side + 2, side + 2, lanes), colors, dtype=np.uint8)
    state[1:-1, 1:-1] = 0
    rng, draw, index = scratch(lanes)
    return _by_hand(lanes, lambda n: _potts(state, rng, table, draw, index, n), state[1:-1, 1:-1])


def ring(graph: FactorGraph, lanes: int) -> ByHand:
    """Two states, and one factor between each unknown and the next, the last and the first."""
    n = graph.n_variables
    pair = np.zeros((n, 2, 2))
    for f in range(graph.n_factors):
        a, b = graph.scope_of(f).tolist()
        values, onward = graph.table_values(f), b == (a + 1) % n
        pair[a if onward else b] += values if onward else values.T
    gain_before, gain_after = np.roll(pair[:, :, 1] - pair[:, :, 0], 1, axis=0), pair[:, 1] - pair[:, 0]
    table = _thresholds(gain_before[:, :, None] + gain_after[:, None, :])
    state = np.zeros((n, lanes), dtype=np.uint8)
    rng, draw, cut = scratch(lanes)
    return _by_hand(lanes, lambda n: _ring(state, rng, table, draw, cut, n), state)


def curriculum(graph: FactorGraph, people: int, courses: int, lanes: int) -> ByHand:
    """The published curriculum: grades, then links between a person's courses that count unless a grade is 0.

    The first state of a grade has a weight of its own; all others are equally probable.
    """
    arity = np.diff(graph.scope_start)
    alone, linked = np.flatnonzero(arity == 1), np.flatnonzero(arity == 3)
    first = np.zeros(people * courses)
    for f in alone.tolist():
        values = graph.table_values(f)
        first[graph.scope_of(f)] += values[0] - values[1]
    weight = float(np.ptp(graph.table_values(int(linked[0]))))
    others = graph.card[: people * courses, None] - 1.0
    log_odds = np.log(others) - first[:, None] - weight * np.arange(2 * courses - 1)
    stay = _thresholds(log_odds).reshape(people, courses, -1)
    odds = ((1 - 1e-6) * others.reshape(people, courses, 1) / (2.0**31 - stay)).astype(np.float32)
    grade = np.zeros((people, courses, lanes), dtype=np.uint8)
    both = np.zeros((people, courses, courses, lanes), dtype=np.uint8)
    even = _thresholds(np.array([0.0, -weight]))
    rng, draw, index = scratch(lanes)
    return _by_hand(
        lanes, lambda n: _curriculum(grade, both, rng, stay, odds, even, draw, index, n), grade, both
    )


def friends(people: int, lanes: int, smoking: float = 1.4, friendship: float = 1.1) -> ByHand:
    """Friends and smokers, as `tests.benchmarks.kernel_models.FRIENDS` has it."""
    weight = friendship / people
    own = _thresholds(smoking + weight * np.arange(1 - people, people))
    even = _thresholds(np.array([0.0, -weight]))
    smokes = np.zeros((people, lanes), dtype=np.uint8)
    befriended = np.zeros((people, people, lanes), dtype=np.uint8)
    rng, draw, index = scratch(lanes)
    return _by_hand(
        lanes, lambda n: _friends(smokes, befriended, rng, own, even, draw, index, n), smokes, befriended
    )


def counts(people: int, courses: int, lanes: int) -> ByHand:
    """Counts, as `tests.benchmarks.kernel_models.COUNTS` has them."""
    log_weight = -np.abs(np.arange(people + 1) - 0.3 * people) / 40
    table = _thresholds(np.diff(log_weight))
    takes = np.zeros((people, courses, lanes), dtype=np.uint8)
    total = np.zeros((courses, lanes), dtype=np.int32)
    rng, draw, _ = scratch(lanes)
    return _by_hand(lanes, lambda n: _counts(takes, total, rng, table, draw, n), takes)


def scratch(lanes: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Generators [4, lanes], and room for random numbers and indexes."""
    rng = np.random.default_rng(1).integers(1, 2**32, (4, lanes), dtype=np.uint32)
    return rng, np.zeros(lanes, np.int32), np.zeros(lanes, np.int32)


def _by_hand(lanes: int, sweep: Callable[[int], object], *parts: States) -> ByHand:
    unknowns = sum(part.size for part in parts) // lanes

    def states() -> States:
        return np.concatenate([part.reshape(-1, lanes) for part in parts])

    return ByHand(unknowns, lanes, sweep, states)


def _thresholds(log_odds: FloatArray) -> npt.NDArray[np.int32]:
    """What a 31-bit draw must reach for state 1 (or any but 0), from the log odds for it."""
    below = 2.0**31 / (1 + np.exp(log_odds))
    return np.minimum(np.rint(below), 2**31 - 1).astype(np.int32)
