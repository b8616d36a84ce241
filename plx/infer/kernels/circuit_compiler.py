"""From factors to a circuit by a search that keeps what it has solved, compiled.

The search decides one node after the other (DPLL), sees what follows, splits what is left into components
that share no factor, and looks each up among those solved before (component caching: Bacchus, Dalmao &
Pitassi, Value elimination, UAI 2003; Sang et al., Combining component caching and clause learning, SAT 2004).
What it does is written down as a circuit (Huang & Darwiche, DPLL with a trace, IJCAI 2005): sums over the
states of the node decided, products of a weight, the states that followed and the components. So no two terms
of a sum have a world in common, no two parts of a product a node, and all terms of a sum are over the same
nodes: it is deterministic, decomposable and smooth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.infer.kernels.circuit import NOTHING, Made, emitted, empty_circuit
from plx.infer.kernels.circuit_components import (
    Known,
    Parts,
    found_part,
    kept_part,
    nothing_known,
    one_part,
    split_parts,
)
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
from plx.infer.kernels.residuals import Residuals
from plx.jit import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Stop = npt.NDArray[np.bool_]

DONE, STOPPED, TOO_MANY, TOO_LARGE = 0, 1, 2, 3
"""How compiling ended: done, by the flag, by the limit of decisions, by the limit of edges or entries."""

DEPTH, ITEMS, TERMS, DECISIONS = 0, 1, 2, 3
"""Places of `Compiling.at`."""


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


class Compiling(NamedTuple):
    """A search that stands somewhere and can go on. ``done`` [1] is about what share of it is done."""

    pool: Residuals
    search: Search
    made: Made
    known: Known
    parts: Parts
    frames: Frames
    seen: Ints  # [N + 1]
    met: Ints  # [F]
    items: Ints
    terms: Ints
    at: Ints  # [4] the depth, the lengths of items and terms, and the decisions made
    done: Floats


def started(factors: Factors, pool: Residuals) -> Compiling:
    """The start of a search, which writes to the pool."""
    n = len(factors.card)

    def ints(size: int) -> Ints:
        return np.zeros(size, dtype=np.int64)

    frames = Frames(
        part=ints(n + 2),
        state=ints(n + 2),
        factors=ints(n + 2),
        states=ints(n + 2),
        nodes=ints(n + 2),
        child=ints(n + 2),
        child_end=ints(n + 2),
        terms=ints(n + 2),
        items=ints(n + 2),
        log=np.zeros(n + 2),
    )
    frames.child[0] = -1  # the first frame is about all nodes and decides none: it has one branch
    return Compiling(
        pool,
        new_search(factors),
        empty_circuit(),
        nothing_known(),
        one_part(n),
        frames,
        ints(n + 1),
        ints(len(factors.root)),
        ints(4 * n + 4),
        ints(int(factors.state_at[n]) + 4),
        ints(4),
        np.zeros(1),
    )


@kernel
def compile_on(
    factors: Factors, begun: Compiling, by_use: float, decisions: int, edges: int, stop: Stop
) -> tuple[int, int, Compiling]:
    """Go on until so many decisions are made in all: how it ended (DONE and so on), where the search stands,
    and once it is done the circuit's root (NOTHING where there is no world).

    ``by_use`` weighs how many factors a node is in against its priority.
    """
    n_states = factors.state_at[len(factors.card)]
    pool, search, made, known = begun.pool, begun.search, begun.made, begun.known
    parts, frames, items, terms = begun.parts, begun.frames, begun.items, begun.terms
    depth, n_items, n_terms = begun.at[DEPTH], begun.at[ITEMS], begun.at[TERMS]
    status, root = DONE, NOTHING
    while depth >= 0:
        part = frames.part[depth]
        if frames.child[depth] < 0:
            # A branch begins: the next state that is alive, and what follows from it.
            if stop[0] or begun.at[DECISIONS] >= decisions or made.used[1] > edges or pool.used[3] > edges:
                many = begun.at[DECISIONS] >= decisions
                status = STOPPED if stop[0] else (TOO_MANY if many else TOO_LARGE)
                break
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
                    begun.at[DECISIONS] += 1
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
                    made = emitted(made, 1, 0.0, terms, begin, n_terms)
                n_terms = begin
                depth -= 1
                if depth < 0:
                    break
                known = kept_part(known, parts.first[part], parts.second[part], root)
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
            split_parts(
                factors,
                search,
                pool,
                parts,
                parts.begin[part],
                parts.end[part],
                by_use,
                begun.seen,
                begun.met,
            )
            frames.child_end[depth] = parts.used[0]
        child = frames.child[depth]
        if child == frames.child_end[depth]:
            # All parts of the branch are solved: their product is one term.
            begin = frames.items[depth]
            if n_items == begin + 1 and frames.log[depth] == 0.0:
                terms[n_terms] = items[begin]
            else:
                terms[n_terms] = n_states + made.used[0]
                made = emitted(made, 0, frames.log[depth], items, begin, n_items)
            n_terms += 1
            n_items = begin
            _given_up(search, frames, parts, depth)
            continue
        found = found_part(known, parts.first[child], parts.second[child])
        if found == -2 and parts.choice[child] < 0:
            # A node that no factor is about any more: the sum of its states.
            node = parts.order[parts.begin[child]]
            begin = n_terms
            for s in range(factors.state_at[node], factors.state_at[node + 1]):
                if search.alive[s]:
                    terms[n_terms] = s
                    n_terms += 1
            found = n_states + made.used[0]
            made = emitted(made, 1, 0.0, terms, begin, n_terms)
            n_terms = begin
            known = kept_part(known, parts.first[child], parts.second[child], found)
        if found == -2:
            depth += 1
            frames.part[depth], frames.state[depth], frames.child[depth] = child, 0, -1
            frames.factors[depth], frames.states[depth] = search.head[FACTORS], search.head[STATES]
            frames.nodes[depth] = search.head[NODES]
            frames.terms[depth], frames.items[depth] = n_terms, n_items
            continue
        if found == NOTHING:
            n_items = frames.items[depth]
            _given_up(search, frames, parts, depth)
        else:
            items[n_items] = found
            n_items += 1
            frames.child[depth] += 1
    begun.at[DEPTH], begun.at[ITEMS], begun.at[TERMS] = depth, n_items, n_terms
    begun.done[0] = _done(factors, parts, frames, depth)
    now = Compiling(
        pool,
        search,
        made,
        known,
        parts,
        frames,
        begun.seen,
        begun.met,
        items,
        terms,
        begun.at,
        begun.done,
    )
    return status, root, now


def _done(factors: Factors, parts: Parts, frames: Frames, depth: int) -> float:
    """About what share of the search is done, if all branches, and all parts of one, took as long."""
    done, share = 0.0, 1.0
    for d in range(depth + 1):
        tried, first = frames.state[d], 1
        if d > 0:
            share /= factors.card[parts.choice[frames.part[d]]]
            first = frames.child_end[d - 1]
        if frames.child[d] < 0:
            return float(done + share * tried)
        n = max(1, frames.child_end[d] - first)
        done += share * (tried - 1 + (frames.child[d] - first) / n)
        share /= n
    return float(done)


def _given_up(search: Search, frames: Frames, parts: Parts, depth: int) -> None:
    """Leave a branch: the search is where it was before the decision, and its parts are dropped."""
    take_back(search, frames.factors[depth], frames.states[depth], frames.nodes[depth])
    parts.used[0] = frames.child_end[depth - 1] if depth > 0 else 1
    frames.child[depth] = -1
