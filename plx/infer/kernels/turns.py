"""The terms of a turn, in which a member is taken out: where those that it meets may go, one by one.

A state is how many members are in each class: a cell, and how far each of a member's counts has come. The
member that is taken out is of the first class, in a given order, that has one; it meets all others, which
moves these to other classes and counts for itself. Alike members are met together: how many of a class move
where is a multinomial coefficient, and what that says of the one taken out is a power of a small matrix.
Terms are added, or the largest is taken, where the best world is looked for.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from plx.jit import inner

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Grid = Annotated[npt.NDArray[np.float64], 2]
Cube = Annotated[npt.NDArray[np.float64], 3]


class Turn(NamedTuple):
    """What a turn goes by.

    A key is Σ_d count_d Π_{e < d} radix_e, and a tag times what comes after, which stays as it is. Class d is
    ``cell[d]``, ``state[d]``. One of cell c meets those of class d in the groups ``group_start[c D + d] …``:
    they become class ``group_next``, and ``powers[matrix, k]`` [S²] are logs of what k of them say of its
    states. ``accept`` [cells, S] is the log weight of a final state. ``factorial`` are logs, and 0 for the
    ``best`` world, to whose weight it is the same who goes where.
    """

    radix: Ints
    cell: Ints
    state: Ints
    order: Ints
    group_start: Ints
    group_next: Ints
    group_matrix: Ints
    powers: Cube
    accept: Grid
    factorial: Floats
    best: bool


class Path(NamedTuple):
    """Where the search for terms stands. Levels are the groups that those left may go by, class after class:
    ``gone`` go by each, ``rest`` are left of the class, and ``new`` are in each class by then. ``vector``
    [levels + 1, S] are the logs of the states of the one taken out, ``weight`` those of the ways to choose
    who goes."""

    whole: int
    stride: Ints
    h: Ints
    new: Ints
    of: Ints
    group: Ints
    last: Ints
    gone: Ints
    rest: Ints
    weight: Floats
    vector: Grid


@inner
def _path(turn: Turn) -> Path:
    """Room for the terms of any state."""
    classes, size = len(turn.radix), turn.accept.shape[1]
    stride = np.ones(classes, dtype=np.int64)
    for d in range(1, classes):
        stride[d] = stride[d - 1] * turn.radix[d - 1]
    whole = stride[classes - 1] * turn.radix[classes - 1] if classes > 0 else 1
    levels = len(turn.group_next) + 1
    return Path(
        whole,
        stride,
        np.zeros(classes, dtype=np.int64),
        np.zeros(classes, dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.zeros(levels + 1, dtype=np.int64),
        np.zeros(levels + 1),
        np.full((levels + 1, size), -np.inf),
    )


@inner(inline=True)
def _plus(a: float, b: float, best: bool) -> float:
    """The log of the sum of two exponentials, or the larger one."""
    if a < b:
        a, b = b, a
    if best or b < a - 40.0:
        return a
    return float(a + np.log1p(np.exp(b - a)))


@inner(inline=True)
def _times(turn: Turn, path: Path, level: int, power: Floats) -> bool:
    """The states of a level become those of the next, by a matrix of logs; whether anything is possible."""
    vector, size = path.vector, path.vector.shape[1]
    some = False
    for t in range(size):
        total = -np.inf
        for s in range(size):
            x = vector[level, s] + power[s * size + t]
            if x > -np.inf:
                total = _plus(total, x, turn.best) if total > -np.inf else x
        vector[level + 1, t] = total
        if total > -np.inf:
            some = True
    return some


@inner(inline=True)
def _begin(turn: Turn, path: Path, key: int, log: float) -> tuple[int, int]:
    """The class whose member a state takes out, and how many levels its terms have; −1 if there is none."""
    classes = len(turn.radix)
    h, new = path.h, path.new
    for d in range(classes):
        h[d] = key % turn.radix[d]
        key //= turn.radix[d]
        new[d] = 0
    p = -1
    for d in turn.order:
        if h[d] > 0:
            p = d
            break
    h[p] -= 1
    depth = 0
    for d in range(classes):
        if h[d] == 0:
            continue
        at = turn.cell[p] * classes + d
        begin, end = turn.group_start[at], turn.group_start[at + 1]
        if begin == end:
            return p, -1
        log += turn.factorial[h[d]]
        for g in range(begin, end):
            path.of[depth] = d
            path.group[depth] = g
            path.last[depth] = 1 if g == end - 1 else 0
            depth += 1
    path.vector[0, :] = -np.inf
    path.vector[0, turn.state[p]] = 0.0
    path.weight[0] = log
    return p, depth


@inner(inline=True)
def _next(turn: Turn, path: Path, depth: int, fresh: bool) -> tuple[bool, int]:
    """Go on to the first term, if ``fresh``, or to the next; whether there is one, and the steps taken."""
    h, new, of, group, last = path.h, path.new, path.of, path.group, path.last
    gone, rest, weight = path.gone, path.rest, path.weight
    level = 0 if fresh else depth - 1
    steps = 1
    while 0 <= level < depth:
        steps += 1
        g = group[level]
        if fresh:
            starts = level == 0 or last[level - 1] == 1
            rest[level] = h[of[level]] if starts else rest[level - 1] - gone[level - 1]
            k = rest[level] if last[level] == 1 else 0
        else:
            new[turn.group_next[g]] -= gone[level]
            k = gone[level] + 1
            if last[level] == 1 or k > rest[level]:
                level -= 1
                continue
        if not _times(turn, path, level, turn.powers[turn.group_matrix[g], k]):
            level -= 1  # nor with more of them
            fresh = False
            continue
        gone[level] = k
        new[turn.group_next[g]] += k
        weight[level + 1] = weight[level] - turn.factorial[k]
        level += 1
        fresh = True
    return level == depth, steps


@inner(inline=True)
def _weight(turn: Turn, path: Path, p: int, depth: int) -> float:
    """The log weight of a term, −inf if the one taken out ends as it may not."""
    total = -np.inf
    for s in range(turn.accept.shape[1]):
        x = path.vector[depth, s] + turn.accept[turn.cell[p], s]
        if x > -np.inf:
            total = _plus(total, x, turn.best) if total > -np.inf else x
    return float(total + path.weight[depth])


@inner(inline=True)
def _key(path: Path, key: int) -> int:
    """The state that a term leads to, from one of some key."""
    found = key // path.whole * path.whole
    for d in range(len(path.new)):
        found += path.new[d] * path.stride[d]
    return found
