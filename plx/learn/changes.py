"""What moves change: the table entries that a world picks before and after each, derived nodes included."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plx.graph.model import FactorGraph, Int32Array
from plx.graph.ragged import entries_of, owners, starts
from plx.graph.rows import unique_keys
from plx.graph.worlds import derived_depth, derived_totals, entries, input_owner, node_states, scope_strides
from plx.learn.blocks import Moves
from plx.values import IntArray


class Changes(NamedTuple):
    """What n moves change: entries of factors' tables, before and after."""

    move: IntArray
    before: IntArray
    after: IntArray


def changes(graph: FactorGraph, states: IntArray, moves: Moves) -> Changes:
    """All table entries that differ after each move from the states of the variables, (V,)."""
    nodes = node_states(graph, states[:, None])
    move, node, new = moves.move, moves.variable, moves.state
    for level in range(1, int(derived_depth(graph).max(initial=0)) + 1):
        more = _derived_changes(graph, nodes, (move, node, new), level)
        move, node, new = (np.concatenate(pair) for pair in zip((move, node, new), more, strict=True))
    by_node = np.argsort(graph.scope, kind="stable")
    first = starts(np.bincount(graph.scope, minlength=graph.n_nodes))
    at, change = entries_of(first, node)
    entry = by_node[at]
    moved = scope_strides(graph)[entry] * (new - nodes[node, 0])[change]
    factor = owners(graph.scope_start)[entry]
    which, inverse = unique_keys(move[change] * graph.n_factors + factor)
    shift = np.bincount(inverse, moved, len(which)).astype(np.int64)
    before = entries(graph, nodes)[factor[which], 0]
    return Changes(move[change][which], before, before + shift)


def _derived_changes(
    graph: FactorGraph, nodes: Int32Array, changed: tuple[IntArray, IntArray, IntArray], level: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The moves that change derived nodes of a depth, these nodes, and their new states."""
    move, node, new = changed
    owner = input_owner(graph)
    deep = np.flatnonzero(derived_depth(graph)[owner] == level)
    by_node = deep[np.argsort(graph.input_node[deep], kind="stable")]
    first = starts(np.bincount(graph.input_node[deep], minlength=graph.n_nodes))
    at, change = entries_of(first, node)
    entry = by_node[at]
    vector = graph.contribution_start[graph.input_contribution[entry]]
    moved = (
        graph.contribution[vector + new[change]].astype(np.int64)
        - graph.contribution[vector + nodes[node[change], 0]]
    )
    which, inverse = unique_keys(move[change] * max(graph.n_derived, 1) + owner[entry])
    shift = np.bincount(inverse, moved, len(which)).astype(np.int64)
    derived = owner[entry][which]
    total = derived_totals(graph, nodes, derived)[:, 0] + shift if len(which) else shift
    state = graph.output[graph.output_start[graph.output_of[derived]] + total].astype(np.int64)
    kept = state != nodes[graph.n_variables + derived, 0]
    return move[change][which][kept], graph.n_variables + derived[kept], state[kept]
