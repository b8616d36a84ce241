"""Members taken out one by one, each summed over what it shares with those that are left, compiled.

See `plx.infer.kernels.turns` for what a turn is. Every term is positive. States are kept in hash tables, so
that those that cannot be reached cost nothing.
"""

from __future__ import annotations

import numpy as np

from plx.infer.kernels.turns import Floats, Ints, Turn, _begin, _key, _next, _path, _plus, _weight
from plx.jit import inner, kernel


@inner
def _slot(keys: Ints, key: int) -> int:
    """Where a key stands in a hash table of a power of two of slots, or may be put."""
    mask = len(keys) - 1
    at = ((key * 0x9E3779B97F4A7C1) >> 17) & mask
    while keys[at] != key and keys[at] >= 0:
        at = (at + 1) & mask
    return at


@kernel
def members_in_turn(
    turn: Turn, members: int, first_keys: Ints, first_logs: Floats, most: int, left: Floats
) -> tuple[Ints, Floats]:
    """The states that are left, and their logs, when so many members of the classes in order are gone.

    More than ``most`` states, or ``left`` [1] steps, which it counts down, end the work: the keys are then
    [-1]. A step is a look at how many of a class may go where.
    """
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
            logs[at] = _plus(logs[at], first_logs[i], turn.best)
    path = _path(turn)
    steps = 0.0
    for _ in range(members):
        new_width = 1024
        while new_width < 2 * used:
            new_width *= 2
        new_keys, new_logs = np.full(new_width, -1, dtype=np.int64), np.empty(new_width)
        new_used = 0
        for i in range(len(keys)):
            if keys[i] < 0:
                continue
            p, depth = _begin(turn, path, keys[i], logs[i])
            more = depth >= 0
            fresh = True
            while more:
                more, taken = _next(turn, path, depth, fresh)
                fresh = False
                steps += taken
                value = _weight(turn, path, p, depth) if more else -np.inf
                if value == -np.inf:
                    continue
                key = _key(path, keys[i])
                at = _slot(new_keys, key)
                if new_keys[at] >= 0:
                    new_logs[at] = _plus(new_logs[at], value, turn.best)
                    continue
                new_keys[at] = key
                new_logs[at] = value
                new_used += 1
                if 2 * new_used > new_width:
                    old_keys, old_logs = new_keys, new_logs
                    new_width *= 2
                    new_keys, new_logs = np.full(new_width, -1, dtype=np.int64), np.empty(new_width)
                    for j in range(len(old_keys)):
                        if old_keys[j] >= 0:
                            to = _slot(new_keys, old_keys[j])
                            new_keys[to] = old_keys[j]
                            new_logs[to] = old_logs[j]
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
