"""The components that a search falls apart into, each known by what is left of it, compiled.

A component is known by 128 bits of its nodes, their states that are left, and the residuals of its factors;
that two of 10^9 fall together has a chance of 10^-21.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.propagation import Factors, Search
from plx.infer.kernels.residuals import CONSTANT, Residuals, mixed

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class Known(NamedTuple):
    """Components solved, by their two hashes: open addressing."""

    used: Ints  # [1]
    first: Words
    second: Words
    root: Ints  # circuit node, or NOTHING; -2 where empty


class Parts(NamedTuple):
    """The components on the way to where the search stands: ranges of ``order``."""

    order: Ints  # [N] the nodes, so that each component is a range of it
    room: Ints  # [N]
    begin: Ints  # [2N + 2]
    end: Ints
    choice: Ints  # the node to decide; -1 where no factor is left
    first: Words
    second: Words
    used: Ints  # [1]


def nothing_known() -> Known:
    """No components solved yet."""
    return Known(
        np.zeros(1, dtype=np.int64),
        np.empty(1024, dtype=np.uint64),
        np.empty(1024, dtype=np.uint64),
        np.full(1024, -2, dtype=np.int64),
    )


def one_part(n: int) -> Parts:
    """One component of all n nodes, which decides none."""
    parts = Parts(
        np.arange(n),
        np.empty(n, dtype=np.int64),
        np.empty(2 * n + 2, dtype=np.int64),
        np.empty(2 * n + 2, dtype=np.int64),
        np.empty(2 * n + 2, dtype=np.int64),
        np.empty(2 * n + 2, dtype=np.uint64),
        np.empty(2 * n + 2, dtype=np.uint64),
        np.zeros(1, dtype=np.int64),
    )
    parts.begin[0], parts.end[0], parts.choice[0], parts.used[0] = 0, n, -1, 1
    return parts


def found_part(known: Known, first: np.uint64, second: np.uint64) -> int:
    """The circuit node of a component, or -2."""
    at = np.int64(first & np.uint64(len(known.root) - 1))
    while known.root[at] != -2:
        if known.first[at] == first and known.second[at] == second:
            return int(known.root[at])
        at = (at + 1) & (len(known.root) - 1)
    return -2


def _put(known: Known, first: np.uint64, second: np.uint64, root: int) -> None:
    at = np.int64(first & np.uint64(len(known.root) - 1))
    while known.root[at] != -2:
        at = (at + 1) & (len(known.root) - 1)
    known.first[at], known.second[at], known.root[at] = first, second, root


def kept_part(known: Known, first: np.uint64, second: np.uint64, root: int) -> Known:
    """The solved components with one more."""
    if 2 * (known.used[0] + 1) > len(known.root):
        size = 2 * len(known.root)
        other = Known(
            known.used,
            np.empty(size, dtype=np.uint64),
            np.empty(size, dtype=np.uint64),
            np.full(size, -2, dtype=np.int64),
        )
        for i in range(len(known.root)):
            if known.root[i] != -2:
                _put(other, known.first[i], known.second[i], known.root[i])
        known = other
    _put(known, first, second, root)
    known.used[0] += 1
    return known


def split_parts(
    factors: Factors,
    search: Search,
    pool: Residuals,
    parts: Parts,
    begin: int,
    end: int,
    by_use: float,
    seen: Ints,
    met: Ints,
) -> None:
    """Add the components of the open nodes among ``order[begin:end]`` to the parts, small ones first."""
    seen[len(seen) - 1] += 1
    stamp = seen[len(seen) - 1]
    at = begin
    first_part = parts.used[0]
    for i in range(begin, end):
        start = parts.order[i]
        if search.left[start] == 1 or seen[start] == stamp:
            continue
        part = parts.used[0]
        parts.used[0] += 1
        parts.begin[part] = at
        h1, h2 = np.uint64(0), np.uint64(0)
        best, choice = -np.inf, -1
        seen[start] = stamp
        parts.room[at] = start
        at += 1
        read = at - 1
        while read < at:
            node = parts.room[read]
            read += 1
            word = np.uint64(node)
            if factors.card[node] > search.left[node]:
                for s in range(factors.state_at[node], factors.state_at[node + 1]):
                    if search.alive[s]:
                        word = mixed(word + np.uint64(s) + np.uint64(0x2545F4914F6CDD1D))
            z = mixed(word + np.uint64(0x9E3779B97F4A7C15))
            h1 += z
            h2 += z * (z ^ np.uint64(0xD1B54A32D192ED03))
            uses = 0.0
            active = False
            for u in range(factors.use_start[node], factors.use_start[node + 1]):
                f = factors.use_factor[u]
                r = search.current[f]
                if r == CONSTANT or pool.slot_at[pool.position_at[r] + factors.use_position[u]] < 0:
                    continue
                active = True
                if 1 < pool.axes[r] < 32:
                    uses += 1.0 / (1 << (2 * pool.axes[r] - 4))
                if met[f] != stamp:
                    met[f] = stamp
                    z = mixed((np.uint64(f) << np.uint64(32)) + np.uint64(r) + np.uint64(0x632BE59BD9B4E019))
                    h1 += z
                    h2 += z * (z ^ np.uint64(0xD1B54A32D192ED03))
                    base = factors.scope_start[f]
                    for p in range(pool.arity[r]):
                        if pool.slot_at[pool.position_at[r] + p] >= 0:
                            other = factors.scope[base + p]
                            if seen[other] != stamp:
                                seen[other] = stamp
                                parts.room[at] = other
                                at += 1
            if active:
                score = factors.priority[node]
                if by_use > 0.0:
                    score += by_use * uses / math.log2(1.0 * search.left[node])
                if score > best or (score == best and node < choice):
                    best, choice = score, node
        parts.end[part] = at
        parts.choice[part] = choice
        parts.first[part], parts.second[part] = h1, h2
    for i in range(begin, end):
        if search.left[parts.order[i]] == 1:
            parts.room[at] = parts.order[i]
            at += 1
    parts.order[begin:end] = parts.room[begin:end]
    _sorted_by_size(parts, first_part)


def _sorted_by_size(parts: Parts, first: int) -> None:
    """Put the parts from the first on in the order of their sizes."""
    for i in range(first + 1, parts.used[0]):
        j = i
        while j > first and parts.end[j] - parts.begin[j] < parts.end[j - 1] - parts.begin[j - 1]:
            parts.begin[j], parts.begin[j - 1] = parts.begin[j - 1], parts.begin[j]
            parts.end[j], parts.end[j - 1] = parts.end[j - 1], parts.end[j]
            parts.choice[j], parts.choice[j - 1] = parts.choice[j - 1], parts.choice[j]
            first_word, second_word = parts.first[j], parts.second[j]
            parts.first[j], parts.second[j] = parts.first[j - 1], parts.second[j - 1]
            parts.first[j - 1], parts.second[j - 1] = first_word, second_word
            j -= 1
