"""States of nodes fixed and ruled out under the search of the circuit compiler, and taken back, compiled.

Every factor has a residual (see `residuals`). Where a node has one state left, the residuals of its factors
move on; where one of them rules a state out, that state goes; where a node of several states has lost some,
its factors are looked through for states that nothing supports any more (generalised arc consistency).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.residuals import CONSTANT, IMPOSSIBLE, Residuals, restricted

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

MOST_REVISED = 1 << 12
"""Tables of more entries are not looked through for states without support."""

FACTORS, STATES, NODES, READ, CHANGED = 0, 1, 2, 3, 4
"""Places of `Search.head`: lengths of the three trails, nodes propagated so far, nodes that lost states."""


class Factors(NamedTuple):
    """Nodes, factors over them, and which factors a node is in; states of all nodes are numbered."""

    card: Ints  # [N]
    state_at: Ints  # [N + 1]
    scope_start: Ints  # [F + 1]
    scope: Ints
    root: Ints  # [F] residuals
    use_start: Ints  # [N + 1]
    use_factor: Ints
    use_position: Ints
    priority: Floats  # [N] larger is decided first


class Search(NamedTuple):
    """Where the search stands, and the trails by which it comes back."""

    current: Ints  # [F] residual of each factor
    alive: Bytes  # states that are not ruled out
    left: Ints  # [N] how many
    trail_factor: Ints
    trail_residual: Ints
    trail_state: Ints
    trail_owner: Ints
    trail_node: Ints  # nodes with one state left, in the order in which that came out
    changed: Ints  # [N] nodes of several states that have lost some, to be looked at
    is_changed: Bytes  # [N]
    head: Ints  # [5]
    log: Floats  # [1] what residuals have pulled out since it was last set to 0


def new_search(factors: Factors) -> Search:
    """The start: nothing ruled out."""
    n, f = len(factors.card), len(factors.root)
    states = factors.state_at[n]
    moves = len(factors.scope) + f + 1
    return Search(
        factors.root.copy(),
        np.ones(states, dtype=np.uint8),
        factors.card.copy(),
        np.empty(moves, dtype=np.int64),
        np.empty(moves, dtype=np.int64),
        np.empty(states, dtype=np.int64),
        np.empty(states, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.zeros(n, dtype=np.uint8),
        np.zeros(5, dtype=np.int64),
        np.zeros(1),
    )


def only_state(factors: Factors, search: Search, node: int) -> int:
    """The state of a node that has one left."""
    state = 0
    while not search.alive[factors.state_at[node] + state]:
        state += 1
    return state


def rule_out(factors: Factors, search: Search, node: int, state: int) -> bool:
    """Rule a state out that is alive; False where none is left then."""
    at = factors.state_at[node] + state
    search.alive[at] = 0
    search.trail_state[search.head[STATES]] = at
    search.trail_owner[search.head[STATES]] = node
    search.head[STATES] += 1
    search.left[node] -= 1
    if search.left[node] == 0:
        return False
    if search.left[node] == 1:
        search.trail_node[search.head[NODES]] = node
        search.head[NODES] += 1
    elif not search.is_changed[node]:
        search.is_changed[node] = 1
        search.changed[search.head[CHANGED]] = node
        search.head[CHANGED] += 1
    return True


def decide(factors: Factors, search: Search, node: int, state: int) -> None:
    """Rule all other states of a node out; some other one is alive."""
    for other in range(factors.card[node]):
        if other != state and search.alive[factors.state_at[node] + other]:
            rule_out(factors, search, node, other)


def _moved(search: Search, f: int, residual: int) -> None:
    """Give a factor a residual; the one before goes onto the trail."""
    search.trail_factor[search.head[FACTORS]] = f
    search.trail_residual[search.head[FACTORS]] = search.current[f]
    search.head[FACTORS] += 1
    search.current[f] = residual


def _dead_gone(factors: Factors, search: Search, pool: Residuals, f: int, r: int) -> bool:
    """Rule out the states that the residual of a factor gives no world."""
    at = pool.position_at[r]
    for p in range(pool.arity[r]):
        slot = pool.slot_at[at + p]
        if slot >= 0:
            node = factors.scope[factors.scope_start[f] + p]
            for state in range(pool.card[at + p]):
                if (
                    pool.next[slot + state] == IMPOSSIBLE
                    and search.alive[factors.state_at[node] + state]
                    and not rule_out(factors, search, node, state)
                ):
                    return False
    return True


def _revised(factors: Factors, search: Search, pool: Residuals, f: int) -> bool:
    """Rule out the states of a factor's nodes that no entry over states alive supports.

    Where all these entries are the same, the factor becomes constant. False where there are none.
    """
    r = search.current[f]
    at, arity = pool.position_at[r], pool.arity[r]
    size = 1
    for p in range(arity):
        size *= pool.card[at + p]
    if size > MOST_REVISED:
        return True
    first = factors.scope_start[f]
    state = np.zeros(arity, dtype=np.int64)
    slots = 0
    for p in range(arity):
        if pool.slot_at[at + p] >= 0:
            slots += pool.card[at + p]
    base = np.int64(-1)
    for p in range(arity):
        if pool.slot_at[at + p] >= 0 and base < 0:
            base = pool.slot_at[at + p]
    supported = np.zeros(slots, dtype=np.uint8)
    low, high = np.inf, -np.inf
    for entry in range(size):
        value = pool.entry[pool.entry_at[r] + entry]
        inside = True
        for p in range(arity):
            if (
                pool.slot_at[at + p] >= 0
                and not search.alive[factors.state_at[factors.scope[first + p]] + state[p]]
            ):
                inside = False
        if inside:
            low, high = min(low, value), max(high, value)
            if value > -np.inf:
                for p in range(arity):
                    if pool.slot_at[at + p] >= 0:
                        supported[pool.slot_at[at + p] - base + state[p]] = 1
        for p in range(arity - 1, -1, -1):
            state[p] += 1
            if state[p] < pool.card[at + p]:
                break
            state[p] = 0
    if high == -np.inf:
        return False
    if low == high:
        _moved(search, f, CONSTANT)
        search.log[0] += high
        return True
    if low > -np.inf:
        return True
    for p in range(arity):
        slot = pool.slot_at[at + p]
        if slot >= 0:
            node = factors.scope[first + p]
            for s in range(pool.card[at + p]):
                if (
                    search.alive[factors.state_at[node] + s]
                    and not supported[slot - base + s]
                    and not rule_out(factors, search, node, s)
                ):
                    return False
    return True


def _spread(factors: Factors, search: Search, pool: Residuals, node: int) -> tuple[Residuals, bool]:
    """Move the residuals of all factors of a node that has one state left; False at a contradiction."""
    state = only_state(factors, search, node)
    for i in range(factors.use_start[node], factors.use_start[node + 1]):
        f, p = factors.use_factor[i], factors.use_position[i]
        r = search.current[f]
        if r == CONSTANT:
            continue
        slot = pool.slot_at[pool.position_at[r] + p]
        if slot < 0:
            continue
        after = int(pool.next[slot + state])
        if after < 0:
            pool, after = restricted(pool, r, p, state)
            if after == IMPOSSIBLE:
                return pool, False
        search.log[0] += pool.scale[slot + state]
        _moved(search, f, after)
        if after != CONSTANT and pool.dead[after] and not _dead_gone(factors, search, pool, f, after):
            return pool, False
        reduced = after != CONSTANT and _is_reduced(factors, search, pool, f, after)
        if reduced and not _revised(factors, search, pool, f):
            return pool, False
    return pool, True


def _is_reduced(factors: Factors, search: Search, pool: Residuals, f: int, r: int) -> bool:
    """Whether a node of several states that a residual depends on has lost some of them."""
    at = pool.position_at[r]
    for p in range(pool.arity[r]):
        if pool.card[at + p] > 2:
            node = factors.scope[factors.scope_start[f] + p]
            if 1 < search.left[node] < pool.card[at + p]:
                return True
    return False


def propagated(factors: Factors, search: Search, pool: Residuals) -> tuple[Residuals, bool]:
    """Follow up what was ruled out until nothing more follows; False at a contradiction."""
    while search.head[READ] < search.head[NODES] or search.head[CHANGED] > 0:
        if search.head[READ] < search.head[NODES]:
            node = search.trail_node[search.head[READ]]
            search.head[READ] += 1
            pool, fine = _spread(factors, search, pool, node)
        else:
            search.head[CHANGED] -= 1
            node = search.changed[search.head[CHANGED]]
            search.is_changed[node] = 0
            fine = search.left[node] == 1 or _looked_through(factors, search, pool, node)
        if not fine:
            while search.head[CHANGED] > 0:
                search.head[CHANGED] -= 1
                search.is_changed[search.changed[search.head[CHANGED]]] = 0
            return pool, False
    return pool, True


def _looked_through(factors: Factors, search: Search, pool: Residuals, node: int) -> bool:
    """Revise the factors of a node that has lost states."""
    for i in range(factors.use_start[node], factors.use_start[node + 1]):
        f = factors.use_factor[i]
        r = search.current[f]
        if r != CONSTANT and pool.slot_at[pool.position_at[r] + factors.use_position[i]] >= 0:
            if not _revised(factors, search, pool, f):
                return False
            if search.left[node] == 1:
                return True
    return True


def take_back(search: Search, n_factors: int, n_states: int, n_nodes: int) -> None:
    """Come back to where the trails had these lengths."""
    while search.head[FACTORS] > n_factors:
        search.head[FACTORS] -= 1
        i = search.head[FACTORS]
        search.current[search.trail_factor[i]] = search.trail_residual[i]
    while search.head[STATES] > n_states:
        search.head[STATES] -= 1
        i = search.head[STATES]
        search.alive[search.trail_state[i]] = 1
        search.left[search.trail_owner[i]] += 1
    search.head[NODES] = n_nodes
    search.head[READ] = n_nodes


def settled(factors: Factors, search: Search, pool: Residuals) -> tuple[Residuals, bool]:
    """Rule out at the start what tables forbid by themselves, and what follows; False at a contradiction."""
    for node in range(len(factors.card)):
        if factors.card[node] == 1:
            search.trail_node[search.head[NODES]] = node
            search.head[NODES] += 1
    for f in range(len(factors.root)):
        r = factors.root[f]
        if r != CONSTANT and pool.dead[r] and not _dead_gone(factors, search, pool, f, r):
            return pool, False
    return propagated(factors, search, pool)
