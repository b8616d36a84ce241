"""Members taken out one by one, each summed over what it shares with those that are left, compiled.

A state is how many members are in each class: a cell, and how far each of a member's counts has come. The
member that is taken out is of the first class, in a given order, that has one; it meets all others, which
moves these to other classes and counts for itself. Alike members are met together: how many of a class move
where is a multinomial coefficient, and what that says of the one taken out is a power of a small matrix.
Every term is positive. States are kept in hash tables, so that those that cannot be reached cost nothing.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from plx.jit import inner, kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Grid = Annotated[npt.NDArray[np.float64], 2]
Cube = Annotated[npt.NDArray[np.float64], 3]


@inner
def _plus(a: float, b: float) -> float:
    """The log of the sum of two exponentials."""
    if a < b:
        a, b = b, a
    if b < a - 40.0:
        return a
    return float(a + np.log1p(np.exp(b - a)))


@inner
def _slot(keys: Ints, key: int) -> int:
    """Where a key stands in a hash table of a power of two of slots, or may be put."""
    mask = len(keys) - 1
    at = ((key * 0x9E3779B97F4A7C1) >> 17) & mask
    while keys[at] != key and keys[at] >= 0:
        at = (at + 1) & mask
    return at


@inner
def _times(vector: Floats, power: Floats, out: Floats) -> bool:
    """A row of logs times a matrix of logs; whether anything is possible."""
    size = len(vector)
    some = False
    for t in range(size):
        total = -np.inf
        for s in range(size):
            x = vector[s] + power[s * size + t]
            if x > -np.inf:
                total = _plus(total, x) if total > -np.inf else x
        out[t] = total
        if total > -np.inf:
            some = True
    return some


@kernel
def members_in_turn(
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
    members: int,
    first_keys: Ints,
    first_logs: Floats,
    most: int,
    left: Floats,
) -> tuple[Ints, Floats]:
    """The states that are left, and their logs, when so many members of the classes in ``order`` are gone.

    A key is Σ_d count_d Π_{e < d} radix_e, and a tag times what comes after, which stays as it is. Class d is
    ``cell[d]``, ``state[d]``. One of cell c meets those of class d in the groups ``group_start[c D + d] …``:
    they become class ``group_next``, and ``powers[matrix, k]`` [S²] are logs of what k of them say of its
    states.
    ``accept`` [cells, S] is the log weight of a final state.
    More than ``most`` states, or ``left`` [1] steps, which it counts down, end the work: the keys are then
    [-1]. A step is a look at how many of a class may go where.
    """
    classes, size = len(radix), accept.shape[1]
    stride = np.ones(classes, dtype=np.int64)
    for d in range(1, classes):
        stride[d] = stride[d - 1] * radix[d - 1]
    whole = stride[classes - 1] * radix[classes - 1] if classes > 0 else 1
    width = 1024
    while width < 4 * len(first_keys):
        width *= 2
    keys, logs = np.full(width, -1, dtype=np.int64), np.empty(width)
    used = 0
    for i in range(len(first_keys)):
        at = _slot(keys, first_keys[i])
        if keys[at] < 0:
            keys[at] = first_keys[i]
            logs[at] = first_logs[i]
            used += 1
        else:
            logs[at] = _plus(logs[at], first_logs[i])
    levels = len(group_next) + 1
    steps = 0.0
    h = np.zeros(classes, dtype=np.int64)
    new = np.zeros(classes, dtype=np.int64)
    of = np.zeros(levels, dtype=np.int64)  # the class of every level
    group = np.zeros(levels, dtype=np.int64)
    last = np.zeros(levels, dtype=np.int64)
    count = np.zeros(levels, dtype=np.int64)
    rest = np.zeros(levels + 1, dtype=np.int64)
    weight = np.zeros(levels + 1)
    vector = np.full((levels + 1, size), -np.inf)
    for _ in range(members):
        new_width = 1024
        while new_width < 2 * used:
            new_width *= 2
        new_keys, new_logs = np.full(new_width, -1, dtype=np.int64), np.empty(new_width)
        new_used = 0
        for i in range(len(keys)):
            if keys[i] < 0:
                continue
            key = keys[i]
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
            base = logs[i]
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
                steps += 1.0
                if level == depth:
                    total = -np.inf
                    for s in range(size):
                        x = vector[level, s] + accept[c, s]
                        if x > -np.inf:
                            total = _plus(total, x) if total > -np.inf else x
                    if total > -np.inf:
                        value = total + weight[level]
                        key = tag * whole
                        for d in range(classes):
                            key += new[d] * stride[d]
                        at = _slot(new_keys, key)
                        if new_keys[at] < 0:
                            new_keys[at] = key
                            new_logs[at] = value
                            new_used += 1
                            if 2 * new_used > new_width:
                                old_keys, old_logs = new_keys, new_logs
                                new_width *= 2
                                new_keys = np.full(new_width, -1, dtype=np.int64)
                                new_logs = np.empty(new_width)
                                for j in range(len(old_keys)):
                                    if old_keys[j] >= 0:
                                        to = _slot(new_keys, old_keys[j])
                                        new_keys[to] = old_keys[j]
                                        new_logs[to] = old_logs[j]
                        else:
                            new_logs[at] = _plus(new_logs[at], value)
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
                matrix = group_matrix[g]
                if not _times(vector[level], powers[matrix, k], vector[level + 1]):
                    level -= 1  # nor with more of them
                    fresh = False
                    continue
                count[level] = k
                new[group_next[g]] += k
                weight[level + 1] = weight[level] - factorial[k]
                level += 1
                fresh = True
        keys, logs, used = new_keys, new_logs, new_used
        if used > most or steps > left[0]:
            return np.full(1, -1, dtype=np.int64), np.zeros(1)
    left[0] -= steps
    found_keys, found_logs = np.empty(used, dtype=np.int64), np.empty(used)
    at = 0
    for i in range(len(keys)):
        if keys[i] >= 0:
            found_keys[at] = keys[i]
            found_logs[at] = logs[i]
            at += 1
    return found_keys, found_logs
