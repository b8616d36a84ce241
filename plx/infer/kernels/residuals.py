"""Tables under partial assignments, each kept once: what the compiler of circuits looks at, compiled.

A *residual* is what is left of a table when some of its axes are fixed: scaled to a maximum of 0 (the log of
the scale goes into the circuit), and without the axes that it does not depend on. Residuals are made when
they are first met and equal ones are one, so a clause that holds is the constant table, two contexts in which
a distribution is the same are one, and a zero is a state that is ruled out. Two numbers that rounding sets
apart make two residuals, which costs time alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.growing import longer
from plx.jit import kernel

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

UNKNOWN = -1
IMPOSSIBLE = -2
CONSTANT = 0
"""The residual that depends on nothing."""


class Residuals(NamedTuple):
    """A pool of residuals, in arrays with room to spare. Residual 0 is constant.

    A residual of a table over k nodes has k *positions*; ``slot_at`` of one is where its slots begin, one per
    state, and -1 where the table does not depend on it.
    """

    used: Ints  # [4] residuals, positions, slots, entries
    position_at: Ints  # [R] where its positions begin
    arity: Int32s  # [R]
    axes: Int32s  # [R] positions that it depends on
    dead: Bytes  # [R] whether some state of a node has no entry above -inf
    entry_at: Ints  # [R]
    slot_at: Ints  # [P]
    card: Int32s  # [P] states, 1 where the table does not depend on it
    next: Int32s  # [S] the residual when the node is in this state, UNKNOWN or IMPOSSIBLE
    scale: Floats  # [S] the log of what is pulled out then
    entry: Floats  # [E] log potentials in C order
    bucket: Int32s  # [H] open addressing, -1 where empty


def mixed(z: np.uint64) -> np.uint64:
    """A word whose bits all depend on all bits of z (the finaliser of splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


def empty_residuals() -> Residuals:
    """The constant residual alone."""
    return Residuals(
        np.array([1, 0, 0, 1], dtype=np.int64),
        np.zeros(64, dtype=np.int64),
        np.zeros(64, dtype=np.int32),
        np.zeros(64, dtype=np.int32),
        np.zeros(64, dtype=np.uint8),
        np.zeros(64, dtype=np.int64),
        np.zeros(256, dtype=np.int64),
        np.zeros(256, dtype=np.int32),
        np.zeros(256, dtype=np.int32),
        np.zeros(256, dtype=np.float64),
        np.zeros(256, dtype=np.float64),
        np.full(256, -1, dtype=np.int32),
    )


def copied(pool: Residuals) -> Residuals:
    """A copy, as compiling writes to a pool."""
    return Residuals(
        pool.used.copy(),
        pool.position_at.copy(),
        pool.arity.copy(),
        pool.axes.copy(),
        pool.dead.copy(),
        pool.entry_at.copy(),
        pool.slot_at.copy(),
        pool.card.copy(),
        pool.next.copy(),
        pool.scale.copy(),
        pool.entry.copy(),
        pool.bucket.copy(),
    )


def _without_idle(values: Floats, card: Ints) -> Floats:
    """The table without axes that it does not depend on; their entries of ``card`` become 1."""
    size = len(values)
    inner = 1
    for p in range(len(card) - 1, -1, -1):
        c = card[p]
        if c > 1:
            block = inner * c
            idle = True
            for base in range(0, size, block):
                for j in range(inner, block):
                    if values[base + j] != values[base + j - inner]:
                        idle = False
                        break
                if not idle:
                    break
            if idle:
                kept = np.empty(size // c)
                for i in range(size // block):
                    kept[i * inner : (i + 1) * inner] = values[i * block : i * block + inner]
                values = kept
                size //= c
                card[p] = 1
            else:
                inner = block
    return values


def _hash(values: Floats, card: Ints) -> np.uint64:
    bits = values.view(np.uint64)
    h = np.uint64(len(card))
    for p in range(len(card)):
        h = mixed(h ^ np.uint64(card[p]))
    for i in range(len(bits)):
        h = mixed(h ^ bits[i])
    return h


def _same(pool: Residuals, r: int, values: Floats, card: Ints) -> bool:
    if pool.arity[r] != len(card):
        return False
    for p in range(len(card)):
        if pool.card[pool.position_at[r] + p] != card[p]:
            return False
    at = pool.entry_at[r]
    equal = True
    for i in range(len(values)):
        equal = equal and pool.entry[at + i] == values[i]
    return equal


def _rehashed(pool: Residuals) -> Residuals:
    """The pool with twice the buckets once they are half full."""
    if 2 * pool.used[0] < len(pool.bucket):
        return pool
    bucket = np.full(2 * len(pool.bucket), -1, dtype=np.int32)
    for r in range(1, pool.used[0]):
        size = 1
        card = np.empty(pool.arity[r], dtype=np.int64)
        for p in range(len(card)):
            card[p] = pool.card[pool.position_at[r] + p]
            size *= card[p]
        at = np.int64(
            _hash(pool.entry[pool.entry_at[r] : pool.entry_at[r] + size], card) & np.uint64(len(bucket) - 1)
        )
        while bucket[at] >= 0:
            at = (at + 1) & (len(bucket) - 1)
        bucket[at] = r
    return Residuals(
        pool.used,
        pool.position_at,
        pool.arity,
        pool.axes,
        pool.dead,
        pool.entry_at,
        pool.slot_at,
        pool.card,
        pool.next,
        pool.scale,
        pool.entry,
        bucket,
    )


def _with_room(pool: Residuals, positions: int, slots: int, entries: int) -> Residuals:
    """The pool with room for one more residual of this size."""
    r, p, s, e = pool.used[0] + 1, pool.used[1] + positions, pool.used[2] + slots, pool.used[3] + entries
    return Residuals(
        pool.used,
        longer(pool.position_at, r),
        longer(pool.arity, r),
        longer(pool.axes, r),
        longer(pool.dead, r),
        longer(pool.entry_at, r),
        longer(pool.slot_at, p),
        longer(pool.card, p),
        longer(pool.next, s),
        longer(pool.scale, s),
        longer(pool.entry, e),
        pool.bucket,
    )


def interned(pool: Residuals, values: Floats, card: Ints) -> tuple[Residuals, int, float]:
    """The residual of a table over positions with these cards, and the log of its scale.

    ``card`` is written over. IMPOSSIBLE where no entry is above -inf.
    """
    top = -np.inf
    for i in range(len(values)):
        top = max(top, values[i])
    if top == -np.inf:
        return pool, IMPOSSIBLE, 0.0
    values = _without_idle(values, card)
    if len(values) == 1:
        return pool, CONSTANT, top
    values = values - top
    pool = _rehashed(pool)
    at = np.int64(_hash(values, card) & np.uint64(len(pool.bucket) - 1))
    while pool.bucket[at] >= 0:
        if _same(pool, pool.bucket[at], values, card):
            return pool, int(pool.bucket[at]), top
        at = (at + 1) & (len(pool.bucket) - 1)
    slots, axes = 0, 0
    for p in range(len(card)):
        if card[p] > 1:
            slots += card[p]
            axes += 1
    pool = _with_room(pool, len(card), slots, len(values))
    r = pool.used[0]
    pool.bucket[at] = r
    pool.position_at[r], pool.entry_at[r] = pool.used[1], pool.used[3]
    pool.arity[r], pool.axes[r] = len(card), axes
    pool.entry[pool.used[3] : pool.used[3] + len(values)] = values
    _fill_slots(pool, r, values, card)
    pool.used[0] += 1
    pool.used[1] += len(card)
    pool.used[2] += slots
    pool.used[3] += len(values)
    return pool, int(r), top


def _fill_slots(pool: Residuals, r: int, values: Floats, card: Ints) -> None:
    """The slots of a new residual: impossible where a slice is -inf throughout, else not known yet."""
    at, slot = pool.position_at[r], pool.used[2]
    inner = len(values)
    for p in range(len(card)):
        pool.card[at + p] = card[p]
        if card[p] == 1:
            pool.slot_at[at + p] = -1
            continue
        pool.slot_at[at + p] = slot
        inner //= card[p]
        pool.next[slot : slot + card[p]] = IMPOSSIBLE
        state = 0
        for i in range(0, len(values), inner):
            for j in range(i, i + inner):
                if values[j] > -np.inf:
                    pool.next[slot + state] = UNKNOWN
            state += 1
            if state == card[p]:
                state = 0
        slot += card[p]
    pool.dead[r] = 0
    for s in range(pool.used[2], slot):
        if pool.next[s] == IMPOSSIBLE:
            pool.dead[r] = 1


def restricted(pool: Residuals, r: int, position: int, state: int) -> tuple[Residuals, int]:
    """The residual where the node at a position is in a state; its scale stands in the slot then.

    IMPOSSIBLE where no entry is left.
    """
    at = pool.position_at[r]
    slot = pool.slot_at[at + position] + state
    found = int(pool.next[slot])
    if found != UNKNOWN:
        return pool, found
    card = np.empty(pool.arity[r], dtype=np.int64)
    outer, inner = 1, 1
    for p in range(len(card)):
        card[p] = pool.card[at + p]
        if p < position:
            outer *= card[p]
        elif p > position:
            inner *= card[p]
    own = card[position]
    card[position] = 1
    values = np.empty(outer * inner)
    for i in range(outer):
        start = pool.entry_at[r] + (i * own + state) * inner
        values[i * inner : (i + 1) * inner] = pool.entry[start : start + inner]
    pool, found, scale = interned(pool, values, card)
    pool.next[slot] = found
    pool.scale[slot] = scale
    return pool, found


@kernel
def intern(pool: Residuals, values: Floats, card: Ints) -> tuple[Residuals, int, float]:
    """`interned`, for the tables of a model: residual, or IMPOSSIBLE, and the log of its scale."""
    return interned(pool, values, card)
