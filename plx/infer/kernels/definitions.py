"""A choice of definitions without cycles, compiled.

Variables become *known* one by one. A factor all of whose variables but one are known defines that
one, if it can; so a definition only needs what was known before, and there is no cycle. When no
factor does, the next variable in a given order becomes known without being defined.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.jit import inner, kernel

Int64 = npt.NDArray[np.int64]


@inner
def _learn(
    v: int, known: Int64, left: Int64, start: Int64, variable: Int64, rank: Int64, above_start: Int64,
    above: Int64, ready: Int64, top: Int64,
) -> None:  # fmt: skip
    """Make v known; put factors that now define something on the stack of their rank."""
    known[v] = 1
    for a in range(above_start[v], above_start[v + 1]):
        f = above[a]
        left[f] -= 1
        if left[f] == 1:
            _offer(f, known, start, variable, rank, ready, top)


@inner
def _offer(
    f: int, known: Int64, start: Int64, variable: Int64, rank: Int64, ready: Int64, top: Int64
) -> None:
    """Put a factor with one unknown variable on the stack of its rank, if it defines that."""
    for e in range(start[f], start[f + 1]):
        if not known[variable[e]] and rank[e] >= 0:
            k = rank[e]
            ready[k * (len(start) - 1) + top[k]] = e
            top[k] += 1


@kernel
def choose(
    start: Int64, variable: Int64, rank: Int64, above_start: Int64, above: Int64, order: Int64, taken: Int64
) -> None:
    """Set ``taken`` [entries] to 1 for definitions that are taken.

    Entry e, of factor f if ``start[f] <= e < start[f + 1]``, is a variable that f depends on. It is a
    definition of rank 0, preferred, or 1; rank -1 is none. ``above`` lists the factors of each variable.
    """
    n_factors, n = len(start) - 1, len(above_start) - 1
    known, left = np.zeros(n, dtype=np.int64), np.empty(n_factors, dtype=np.int64)
    ready, top = np.empty(2 * n_factors, dtype=np.int64), np.zeros(2, dtype=np.int64)
    for f in range(n_factors):
        left[f] = start[f + 1] - start[f]
        if left[f] == 1:
            _offer(f, known, start, variable, rank, ready, top)
    following = 0
    while following < len(order):
        if top[0] + top[1] > 0:
            k = 0 if top[0] > 0 else 1
            top[k] -= 1
            e = ready[k * n_factors + top[k]]
            if known[variable[e]]:
                continue
            taken[e] = 1
            v = variable[e]
        else:
            v = order[following]
            following += 1
            if known[v]:
                continue
        _learn(v, known, left, start, variable, rank, above_start, above, ready, top)
