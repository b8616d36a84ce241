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

from plx.infer.kernels.circuit import NOTHING, Circuit, circuit_of, emitted, empty_circuit
from plx.infer.kernels.circuit_components import (
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
    made, known, parts = empty_circuit(), nothing_known(), one_part(n)
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
            split_parts(factors, search, pool, parts, parts.begin[part], parts.end[part], by_use, seen, met)
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
        progress[1] += 1
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
        progress[2] += 1
        if found == NOTHING:
            n_items = frames.items[depth]
            _given_up(search, frames, parts, depth)
        else:
            items[n_items] = found
            n_items += 1
            frames.child[depth] += 1
    return status, root, circuit_of(made)


def _given_up(search: Search, frames: Frames, parts: Parts, depth: int) -> None:
    """Leave a branch: the search is where it was before the decision, and its parts are dropped."""
    take_back(search, frames.factors[depth], frames.states[depth], frames.nodes[depth])
    parts.used[0] = frames.child_end[depth - 1] if depth > 0 else 1
    frames.child[depth] = -1
