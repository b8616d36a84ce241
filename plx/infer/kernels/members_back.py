"""One member taken out put back, in many worlds at once: what it shared with each of the others, chosen.

The terms of a turn of `plx.infer.kernels.members_in_turn` are gone through once more. Each world has a
number, and is of the term at which the running sum of those that lead to its state comes to that number.
Then the states that the member went through are drawn from the last to the first, and who of the others went
where. For the best world it is the largest term, and the best states.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.random import _below, _uniform
from plx.infer.kernels.turns import Floats, Ints, Path, Turn, _begin, _key, _next, _path, _weight
from plx.jit import inner, kernel

UInt64 = npt.NDArray[np.uint64]
Places = Annotated[npt.NDArray[np.int64], 2]
Codes = Annotated[npt.NDArray[np.int16], 3]


class Options(NamedTuple):
    """What one may share with another that moves it by a group: ``start`` [groups + 1], and of each option
    the state after each of its own ``after`` [O, S], −1 for none, a log weight and a code."""

    start: Ints
    after: Places
    log: Floats
    code: Ints


class Placed(NamedTuple):
    """Worlds: ``stand`` [W, n] are the classes of members, ``code`` [W, n, n] what each shares with those
    that were put back before it, ``key`` [W] the state of each."""

    stand: Places
    code: Codes
    key: Ints
    random: UInt64


@inner
def _chosen(logs: Floats, n: int, random: UInt64, world: int, best: bool) -> int:
    """One of the first n places of logs, by their weights, or the first of the largest."""
    top, first = -np.inf, 0
    for i in range(n):
        if logs[i] > top:
            top, first = logs[i], i
    if best:
        return first
    total = 0.0
    for i in range(n):
        total += np.exp(logs[i] - top)
    u = _uniform(random, world) * total
    last = 0
    for i in range(n):
        x = np.exp(logs[i] - top)
        if x > 0.0:
            last = i
            u -= x
            if u < 0.0:
                break
    return last


@inner
def _by_class(turn: Turn, worlds: Placed, w: int, placed: int, low: Ints, some: Ints) -> None:
    """The members of a world by class, those of class d from ``some[low[d]]`` on, in any order."""
    low[:] = 0
    for j in range(placed):
        low[worlds.stand[w, j] + 1] += 1
    for d in range(len(turn.radix)):
        low[d + 1] += low[d]
    for j in range(placed):
        d = worlds.stand[w, j]
        some[low[d]] = j
        low[d] += 1
    for d in range(len(turn.radix), 0, -1):
        low[d] = low[d - 1]
    low[0] = 0
    for d in range(len(turn.radix)):
        for j in range(low[d + 1] - 1, low[d] if not turn.best else low[d + 1], -1):
            k = low[d] + _below(worlds.random, w, j - low[d] + 1)
            some[j], some[k] = some[k], some[j]


@inner
def _put(
    turn: Turn, path: Path, options: Options, worlds: Placed, w: int, placed: int, p: int, depth: int,
    low: Ints, some: Ints, row: Floats, which: Ints,
) -> None:  # fmt: skip
    """Put a member of class ``p`` into a world by the term that ``path`` is at."""
    size = turn.accept.shape[1]
    _by_class(turn, worlds, w, placed, low, some)
    for s in range(size):
        row[s] = path.vector[depth, s] + turn.accept[turn.cell[p], s]
    to = _chosen(row, size, worlds.random, w, turn.best)
    for n in range(depth - 1, -1, -1):
        g, k = path.group[n], path.gone[n]
        matrix = turn.group_matrix[g]
        for s in range(size):
            row[s] = path.vector[n, s] + turn.powers[matrix, k, s * size + to]
        begin = _chosen(row, size, worlds.random, w, turn.best)
        s = begin
        for m in range(k - 1, -1, -1):
            n_options = 0
            for o in range(options.start[g], options.start[g + 1]):
                s1 = options.after[o, s]
                if s1 >= 0:
                    row[n_options] = options.log[o] + turn.powers[matrix, m, s1 * size + to]
                    which[n_options] = o
                    n_options += 1
            o = which[_chosen(row, n_options, worlds.random, w, turn.best)]
            j = some[low[turn.group_next[g]]]
            low[turn.group_next[g]] += 1
            worlds.stand[w, j] = path.of[n]
            worlds.code[w, placed, j] = options.code[o]
            s = options.after[o, s]
        to = begin
    worlds.stand[w, placed] = p


@kernel
def members_back(
    turn: Turn,
    options: Options,
    before_keys: Ints,
    before_logs: Floats,
    after_keys: Ints,
    after_logs: Floats,
    world_start: Ints,
    world: Ints,
    threshold: Floats,
    placed: int,
    worlds: Placed,
) -> None:
    """Put member ``placed`` into every world.

    ``before_keys``, ``before_logs`` [N] are all states before the turn, ``after_keys``, ``after_logs`` [T]
    those that worlds are in after it, sorted: ``world[world_start[t] : …]``, with numbers ``threshold`` from
    0 to 1, sorted. What is drawn is filled in, and its keys become the states before the turn.
    """
    path = _path(turn)
    total = np.zeros(len(after_keys))
    at_world = world_start[: len(after_keys)].copy()
    row = np.empty(max(turn.accept.shape[1], len(options.log)))
    which = np.empty(max(1, len(options.log)), dtype=np.int64)
    some = np.empty(placed + 1, dtype=np.int64)
    low = np.zeros(len(turn.radix) + 1, dtype=np.int64)
    for i in range(len(before_keys)):
        p, depth = _begin(turn, path, before_keys[i], before_logs[i])
        more = depth >= 0
        fresh = True
        while more:
            more, _ = _next(turn, path, depth, fresh)
            fresh = False
            value = _weight(turn, path, p, depth) if more else -np.inf
            if value == -np.inf:
                continue
            key = _key(path, before_keys[i])
            t = np.searchsorted(after_keys, key)
            if t == len(after_keys) or after_keys[t] != key:
                continue
            share = np.exp(value - after_logs[t])
            total[t] = max(total[t], share) if turn.best else total[t] + share
            while at_world[t] < world_start[t + 1] and threshold[at_world[t]] < total[t]:
                w = world[at_world[t]]
                at_world[t] += 1
                worlds.key[w] = before_keys[i]
                _put(turn, path, options, worlds, w, placed, p, depth, low, some, row, which)
