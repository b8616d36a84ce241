"""From factors to a circuit by a search that keeps what it has solved, compiled.

The search decides one node after the other (DPLL), sees what follows, splits what is left into components
that share no factor, and looks each up among those solved before (component caching: Bacchus, Dalmao &
Pitassi, Value elimination, UAI 2003; Sang et al., Combining component caching and clause learning, SAT 2004).
What it does is written down as a circuit (Huang & Darwiche, DPLL with a trace, IJCAI 2005): sums over the
states of the node decided, products of a weight, the states that followed and the components. So no two terms
of a sum have a world in common, no two parts of a product a node, and all terms of a sum are over the same
nodes: it is deterministic, decomposable and smooth.

A component is known by 128 bits of its nodes, their states that are left, and the residuals of its factors;
that two of 10^9 fall together has a chance of 10^-21.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.propagation import (
    FACTORS,
    NODES,
    STATES,
    Factors,
    Search,
    decide,
    new_search,
    only_state,
    propagated,
    settled,
    take_back,
)
from plx.infer.kernels.residuals import (
    CONSTANT,
    Residuals,
    _longer_bytes,
    _longer_floats,
    _longer_ints,
    mixed,
)
from plx.jit import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Stop = npt.NDArray[np.bool_]

DONE, STOPPED, TOO_MANY, TOO_LARGE = 0, 1, 2, 3
"""How compiling ended: done, by the flag, by the limit of decisions, by the limit of edges or entries."""

NOTHING = -1
"""The circuit of a component without a world."""


class Circuit(NamedTuple):
    """Sums and products, children before parents. Circuit nodes below L are the L states of all nodes.

    Circuit node ``L + i`` has the children ``child[start[i] : start[i + 1]]``; it is a sum, or a product with
    the log weight ``log[i]``.
    """

    start: Ints  # [n + 1]
    is_sum: Bytes  # [n]
    log: Floats  # [n]
    child: Ints


class Made(NamedTuple):
    """A circuit in the making, in arrays with room to spare; ``used`` [2] counts circuit nodes and edges."""

    used: Ints
    start: Ints
    is_sum: Bytes
    log: Floats
    child: Ints


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


class Frames(NamedTuple):
    """The decisions on the way, each about a component (a place in Parts)."""

    part: Ints  # [N + 1]
    state: Ints  # the next state to try
    factors: Ints  # lengths of the trails before the decision
    states: Ints
    nodes: Ints
    child: Ints  # the next part of the branch to solve, -1 before a branch
    child_end: Ints
    terms: Ints  # where its finished products begin
    items: Ints  # where the parts of its open product begin
    log: Floats  # the weight of the open product


def _emitted(made: Made, n_states: int, is_sum: int, log: float, items: Ints, begin: int, end: int) -> Made:
    """The circuit with one more node."""
    n, e = made.used[0], made.used[1]
    made = Made(
        made.used,
        _longer_ints(made.start, n + 2),
        _longer_bytes(made.is_sum, n + 1),
        _longer_floats(made.log, n + 1),
        _longer_ints(made.child, e + end - begin),
    )
    made.is_sum[n], made.log[n] = is_sum, log
    made.child[e : e + end - begin] = items[begin:end]
    made.used[0] += 1
    made.used[1] += end - begin
    made.start[n + 1] = made.used[1]
    return made


def _found(known: Known, first: np.uint64, second: np.uint64) -> int:
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


def _kept(known: Known, first: np.uint64, second: np.uint64, root: int) -> Known:
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


def _split(
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
            h2 += mixed(z + np.uint64(0xD1B54A32D192ED03))
            uses = 0.0
            active = False
            for u in range(factors.use_start[node], factors.use_start[node + 1]):
                f = factors.use_factor[u]
                r = search.current[f]
                if r == CONSTANT or pool.slot_at[pool.position_at[r] + factors.use_position[u]] < 0:
                    continue
                active = True
                if pool.axes[r] > 1:
                    uses += 4.0 ** (2 - pool.axes[r])
                if met[f] != stamp:
                    met[f] = stamp
                    z = mixed((np.uint64(f) << np.uint64(32)) + np.uint64(r) + np.uint64(0x632BE59BD9B4E019))
                    h1 += z
                    h2 += mixed(z + np.uint64(0xD1B54A32D192ED03))
                    base = factors.scope_start[f]
                    for p in range(pool.arity[r]):
                        if pool.slot_at[pool.position_at[r] + p] >= 0:
                            other = factors.scope[base + p]
                            if seen[other] != stamp:
                                seen[other] = stamp
                                parts.room[at] = other
                                at += 1
            if active:
                score = factors.priority[node] + by_use * uses / math.log2(1.0 * search.left[node])
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


@kernel
def compile_circuit(
    factors: Factors, pool: Residuals, by_use: float, decisions: int, edges: int, progress: Ints, stop: Stop
) -> tuple[int, int, Circuit]:
    """How it ended (DONE and so on), the circuit's root (NOTHING where there is no world) and the circuit.

    ``by_use`` weighs how many factors a node is in against its priority. ``progress`` [3] is kept up to date:
    decisions, components looked up, and found. At most so many ``decisions`` are made, and ``edges``.
    """
    n, n_states = len(factors.card), factors.state_at[len(factors.card)]
    search = new_search(factors)
    made = Made(
        np.zeros(2, dtype=np.int64),
        np.zeros(1024, dtype=np.int64),
        np.empty(1024, dtype=np.uint8),
        np.empty(1024, dtype=np.float64),
        np.empty(4096, dtype=np.int64),
    )
    known = Known(
        np.zeros(1, dtype=np.int64),
        np.empty(1024, dtype=np.uint64),
        np.empty(1024, dtype=np.uint64),
        np.full(1024, -2, dtype=np.int64),
    )
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
    frames = Frames(
        np.empty(n + 2, dtype=np.int64),
        np.empty(n + 2, dtype=np.int64),
        np.empty(n + 2, dtype=np.int64),
        np.empty(n + 2, dtype=np.int64),
        np.empty(n + 2, dtype=np.int64),
        np.empty(n + 2, dtype=np.int64),
        np.empty(n + 2, dtype=np.int64),
        np.empty(n + 2, dtype=np.int64),
        np.empty(n + 2, dtype=np.int64),
        np.empty(n + 2),
    )
    seen, met = np.zeros(n + 1, dtype=np.int64), np.zeros(len(factors.root), dtype=np.int64)
    items, terms = np.empty(4 * n + 4, dtype=np.int64), np.empty(n_states + 4, dtype=np.int64)
    n_items, n_terms = 0, 0
    status, root = DONE, NOTHING

    # The first frame is about all nodes and decides none: it has one branch.
    parts.begin[0], parts.end[0], parts.choice[0], parts.used[0] = 0, n, -1, 1
    depth = 0
    frames.part[0], frames.state[0], frames.child[0] = 0, 0, -1
    frames.factors[0], frames.states[0], frames.nodes[0] = 0, 0, 0
    frames.terms[0], frames.items[0] = 0, 0
    while depth >= 0:
        part = frames.part[depth]
        if frames.child[depth] < 0:
            # A branch begins: the next state that is alive, and what follows from it.
            node = parts.choice[part]
            search.log[0] = 0.0
            fine, tried = True, False
            if depth == 0:
                tried = frames.state[0] == 0
                frames.state[0] = 1
                if tried:
                    pool, fine = settled(factors, search, pool)
            else:
                state = frames.state[depth]
                while state < factors.card[node] and not search.alive[factors.state_at[node] + state]:
                    state += 1
                frames.state[depth] = state + 1
                tried = state < factors.card[node]
                if tried:
                    progress[0] += 1
                    if stop[0] or progress[0] > decisions or made.used[1] > edges or pool.used[3] > edges:
                        status = STOPPED if stop[0] else (TOO_MANY if progress[0] > decisions else TOO_LARGE)
                        break
                    decide(factors, search, node, state)
                    pool, fine = propagated(factors, search, pool)
            if not tried:
                # All branches are done: the sum of their products is what the component comes to.
                begin = frames.terms[depth]
                root = NOTHING
                if n_terms == begin + 1:
                    root = terms[begin]
                elif n_terms > begin:
                    root = n_states + made.used[0]
                    made = _emitted(made, n_states, 1, 0.0, terms, begin, n_terms)
                n_terms = begin
                depth -= 1
                if depth < 0:
                    break
                known = _kept(known, parts.first[part], parts.second[part], root)
                if root == NOTHING:
                    _given_up(search, frames, parts, depth)
                    n_items = frames.items[depth]
                else:
                    items[n_items] = root
                    n_items += 1
                    frames.child[depth] += 1
                continue
            if not fine:
                _given_up(search, frames, parts, depth)
                continue
            frames.log[depth] = search.log[0]
            frames.items[depth] = n_items
            for i in range(frames.nodes[depth], search.head[NODES]):
                decided = search.trail_node[i]
                items[n_items] = factors.state_at[decided] + only_state(factors, search, decided)
                n_items += 1
            frames.child[depth] = parts.used[0]
            _split(factors, search, pool, parts, parts.begin[part], parts.end[part], by_use, seen, met)
            frames.child_end[depth] = parts.used[0]
        child = frames.child[depth]
        if child == frames.child_end[depth]:
            # All parts of the branch are solved: their product is one term.
            begin = frames.items[depth]
            if n_items == begin + 1 and frames.log[depth] == 0.0:
                terms[n_terms] = items[begin]
            else:
                terms[n_terms] = n_states + made.used[0]
                made = _emitted(made, n_states, 0, frames.log[depth], items, begin, n_items)
            n_terms += 1
            n_items = begin
            _given_up(search, frames, parts, depth)
            continue
        progress[1] += 1
        found = _found(known, parts.first[child], parts.second[child])
        if found == -2 and parts.choice[child] < 0:
            # A node that no factor is about any more: the sum of its states.
            node = parts.order[parts.begin[child]]
            begin = n_terms
            for s in range(factors.state_at[node], factors.state_at[node + 1]):
                if search.alive[s]:
                    terms[n_terms] = s
                    n_terms += 1
            found = n_states + made.used[0]
            made = _emitted(made, n_states, 1, 0.0, terms, begin, n_terms)
            n_terms = begin
            known = _kept(known, parts.first[child], parts.second[child], found)
        if found == -2:
            depth += 1
            frames.part[depth], frames.state[depth], frames.child[depth] = child, 0, -1
            frames.factors[depth], frames.states[depth] = search.head[FACTORS], search.head[STATES]
            frames.nodes[depth] = search.head[NODES]
            frames.terms[depth], frames.items[depth] = n_terms, n_items
            continue
        progress[2] += 1
        if found == NOTHING:
            n_items = frames.items[depth]
            _given_up(search, frames, parts, depth)
        else:
            items[n_items] = found
            n_items += 1
            frames.child[depth] += 1
    used, used_edges = made.used[0], made.used[1]
    circuit = Circuit(
        made.start[: used + 1].copy(),
        made.is_sum[:used].copy(),
        made.log[:used].copy(),
        made.child[:used_edges].copy(),
    )
    return status, root, circuit


def _given_up(search: Search, frames: Frames, parts: Parts, depth: int) -> None:
    """Leave a branch: the search is where it was before the decision, and its parts are dropped."""
    take_back(search, frames.factors[depth], frames.states[depth], frames.nodes[depth])
    parts.used[0] = frames.child_end[depth - 1] if depth > 0 else 1
    frames.child[depth] = -1
