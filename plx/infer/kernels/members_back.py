"""One member taken out put back, in many worlds at once: what it shared with each of the others, drawn.

The terms of a turn of `plx.infer.kernels.members_in_turn` are gone through once more. Each world has a
number, and is of the term at which the running sum of those that lead to its state comes to that number.
Then the states that the member went through are drawn from the last to the first, and who of the others went
where.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.members_in_turn import _times
from plx.infer.kernels.random import _below, _uniform
from plx.jit import inner, kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Grid = Annotated[npt.NDArray[np.float64], 2]
Cube = Annotated[npt.NDArray[np.float64], 3]
Places = Annotated[npt.NDArray[np.int64], 2]
Codes = Annotated[npt.NDArray[np.int16], 3]


@inner
def _drawn(logs: Floats, n: int, random: UInt64, world: int) -> int:
    """One of the first n places of logs, by their weights."""
    top = -np.inf
    for i in range(n):
        top = max(top, logs[i])
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


@kernel
def members_back(
    radix: Ints,
    cell: Ints,
    state: Ints,
    order: Ints,
    group_start: Ints,
    group_next: Ints,
    group_matrix: Ints,
    powers: Cube,
    accept: Grid,
    factorial: Floats,
    option_start: Ints,
    option_after: Places,
    option_log: Floats,
    option_code: Ints,
    before_keys: Ints,
    before_logs: Floats,
    after_keys: Ints,
    after_logs: Floats,
    world_start: Ints,
    world: Ints,
    threshold: Floats,
    placed: int,
    stand: Places,
    code: Codes,
    key_of: Ints,
    random: UInt64,
) -> None:
    """Put member ``placed`` into every world; ``stand`` [W, n] are the classes of members.

    ``before_keys``, ``before_logs`` [N] are all states before the turn, ``after_keys``, ``after_logs`` [T]
    those that worlds are in after it, sorted: ``world[world_start[t] : …]``, with numbers ``threshold`` from
    0 to 1, sorted. ``option_start`` [groups + 1]: what one may share with another that moves it so, each
    option with the state after each of its own ``option_after`` [O, S], −1 for none, a log weight and a code.
    ``code`` [W, placed, others] is filled in, and ``key_of`` [W] are the states before the turn.
    """
    classes, size = len(radix), accept.shape[1]
    stride = np.ones(classes, dtype=np.int64)
    for d in range(1, classes):
        stride[d] = stride[d - 1] * radix[d - 1]
    whole = stride[classes - 1] * radix[classes - 1]
    levels = len(group_next) + 1
    h = np.zeros(classes, dtype=np.int64)
    new = np.zeros(classes, dtype=np.int64)
    of = np.zeros(levels, dtype=np.int64)
    group = np.zeros(levels, dtype=np.int64)
    last = np.zeros(levels, dtype=np.int64)
    count = np.zeros(levels, dtype=np.int64)
    rest = np.zeros(levels + 1, dtype=np.int64)
    weight = np.zeros(levels + 1)
    vector = np.full((levels + 1, size), -np.inf)
    total = np.zeros(len(after_keys))
    at_world = world_start[: len(after_keys)].copy()
    row = np.empty(max(size, len(option_log)))
    which = np.empty(max(1, len(option_log)), dtype=np.int64)
    some = np.empty(placed + 1, dtype=np.int64)
    low = np.zeros(classes + 1, dtype=np.int64)
    for i in range(len(before_keys)):
        key = before_keys[i]
        for d in range(classes):
            h[d] = key % radix[d]
            key //= radix[d]
            new[d] = 0
        tag = key
        p = -1
        for d in order:
            if h[d] > 0:
                p = d
                break
        h[p] -= 1
        c = cell[p]
        depth = 0
        possible = True
        base = before_logs[i]
        for d in range(classes):
            if h[d] == 0:
                continue
            begin, end = group_start[c * classes + d], group_start[c * classes + d + 1]
            if begin == end:
                possible = False
                break
            base += factorial[h[d]]
            for g in range(begin, end):
                of[depth] = d
                group[depth] = g
                last[depth] = 1 if g == end - 1 else 0
                depth += 1
        if not possible:
            continue
        for s in range(size):
            vector[0, s] = -np.inf
        vector[0, state[p]] = 0.0
        weight[0] = base
        level = 0
        fresh = True
        while level >= 0:
            if level == depth:
                top = -np.inf
                for s in range(size):
                    top = max(top, vector[level, s] + accept[c, s])
                if top > -np.inf:
                    mass = 0.0
                    for s in range(size):
                        mass += np.exp(vector[level, s] + accept[c, s] - top)
                    key = tag * whole
                    for d in range(classes):
                        key += new[d] * stride[d]
                    t = np.searchsorted(after_keys, key)
                    if t < len(after_keys) and after_keys[t] == key:
                        total[t] += np.exp(top + np.log(mass) + weight[level] - after_logs[t])
                        while at_world[t] < world_start[t + 1] and threshold[at_world[t]] < total[t]:
                            w = world[at_world[t]]
                            at_world[t] += 1
                            key_of[w] = before_keys[i]
                            # the others by class, in any order
                            low[:] = 0
                            for j in range(placed):
                                low[stand[w, j] + 1] += 1
                            for d in range(classes):
                                low[d + 1] += low[d]
                            for j in range(placed):
                                d = stand[w, j]
                                some[low[d]] = j
                                low[d] += 1
                            for d in range(classes, 0, -1):
                                low[d] = low[d - 1]
                            low[0] = 0
                            for d in range(classes):
                                for j in range(low[d + 1] - 1, low[d], -1):
                                    k = low[d] + _below(random, w, j - low[d] + 1)
                                    some[j], some[k] = some[k], some[j]
                            for s in range(size):
                                row[s] = vector[depth, s] + accept[c, s]
                            to = _drawn(row, size, random, w)
                            for n in range(depth - 1, -1, -1):
                                g, k = group[n], count[n]
                                matrix = group_matrix[g]
                                for s in range(size):
                                    row[s] = vector[n, s] + powers[matrix, k, s * size + to]
                                begin_state = _drawn(row, size, random, w)
                                s = begin_state
                                for m in range(k - 1, -1, -1):
                                    n_options = 0
                                    for o in range(option_start[g], option_start[g + 1]):
                                        s1 = option_after[o, s]
                                        if s1 >= 0:
                                            row[n_options] = option_log[o] + powers[matrix, m, s1 * size + to]
                                            which[n_options] = o
                                            n_options += 1
                                    o = which[_drawn(row, n_options, random, w)]
                                    j = some[low[group_next[g]]]
                                    low[group_next[g]] += 1
                                    stand[w, j] = of[n]
                                    code[w, placed, j] = option_code[o]
                                    s = option_after[o, s]
                                to = begin_state
                            stand[w, placed] = p
                level -= 1
                fresh = False
                continue
            g = group[level]
            if fresh:
                starts = level == 0 or last[level - 1] == 1
                rest[level] = h[of[level]] if starts else rest[level - 1] - count[level - 1]
                k = rest[level] if last[level] == 1 else 0
            else:
                new[group_next[g]] -= count[level]
                k = count[level] + 1
                if last[level] == 1 or k > rest[level]:
                    level -= 1
                    continue
            if not _times(vector[level], powers[group_matrix[g], k], vector[level + 1]):
                level -= 1  # nor with more of them
                fresh = False
                continue
            count[level] = k
            new[group_next[g]] += k
            weight[level + 1] = weight[level] - factorial[k]
            level += 1
            fresh = True
