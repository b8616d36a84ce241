"""Some factors of a graph, with only the nodes that they are about."""

from __future__ import annotations

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.ragged import segments, starts
from plx.graph.rows import AnyInt, BoolArray
from plx.values import IntArray


def hard_factors(graph: FactorGraph) -> IntArray:
    """The factors with an impossible entry."""
    hard = np.zeros(graph.n_tables, dtype=bool)
    hard[np.searchsorted(graph.table_start, np.flatnonzero(graph.table == -np.inf), side="right") - 1] = True
    return np.flatnonzero(hard[graph.table_of])


def reached(graph: FactorGraph, factors: IntArray) -> BoolArray:
    """Which nodes the factors are about: their scopes and all inputs, shape (V + D,)."""
    return below(graph, _scopes(graph, factors))


def below(graph: FactorGraph, nodes: AnyInt) -> BoolArray:
    """These nodes and all inputs of them, shape (V + D,)."""
    seen = np.zeros(graph.n_nodes, dtype=bool)
    fresh = _marked(graph, nodes)
    while fresh.any():
        seen |= fresh
        derived = np.flatnonzero(fresh[graph.n_variables :])
        fresh = _marked(graph, graph.input_node[_inputs(graph, derived)]) & ~seen
    return seen


def live_derived(graph: FactorGraph, seeds: IntArray | None = None) -> BoolArray:
    """Which derived nodes feed a factor, or one of the nodes ``seeds``; shape (D,)."""
    if not graph.n_derived:
        return np.zeros(0, dtype=bool)
    nodes = graph.scope if seeds is None else np.concatenate([graph.scope, seeds.astype(graph.scope.dtype)])
    return below(graph, nodes)[graph.n_variables :]


def subgraph(graph: FactorGraph, factors: IntArray) -> tuple[FactorGraph, IntArray]:
    """The graph of some factors alone, and which variable each of its variables is."""
    seen = reached(graph, factors)
    number = np.cumsum(seen) - 1
    derived = np.flatnonzero(seen[graph.n_variables :])
    entries = _inputs(graph, derived)
    variables = np.flatnonzero(seen[: graph.n_variables])
    part = graph._replace(
        n_variables=len(variables),
        card=graph.card[seen],
        input_start=starts(np.diff(graph.input_start)[derived]),
        input_node=number[graph.input_node[entries]].astype(np.int32),
        input_contribution=graph.input_contribution[entries],
        output_of=graph.output_of[derived],
        scope_start=starts(np.diff(graph.scope_start)[factors]),
        scope=number[_scopes(graph, factors)].astype(np.int32),
        table_of=graph.table_of[factors],
        rule_of=graph.rule_of[factors],
    )
    return part, variables


def without_factors(graph: FactorGraph, factors: IntArray) -> FactorGraph:
    """The graph without some of its factors: all nodes stay."""
    kept = np.setdiff1d(np.arange(graph.n_factors), factors)
    return graph._replace(
        scope_start=starts(np.diff(graph.scope_start)[kept]),
        scope=graph.scope[scope_entries(graph, kept)[0]],
        table_of=graph.table_of[kept],
        rule_of=graph.rule_of[kept],
    )


def scope_entries(graph: FactorGraph, factors: IntArray) -> tuple[IntArray, IntArray]:
    """Where the scopes of factors are in ``graph.scope``, and the position of the factor of each entry."""
    arity = np.diff(graph.scope_start)[factors]
    return segments(graph.scope_start[factors], arity), np.repeat(np.arange(len(factors)), arity)


def _scopes(graph: FactorGraph, factors: IntArray) -> IntArray:
    return graph.scope[scope_entries(graph, factors)[0]].astype(np.int64)


def _marked(graph: FactorGraph, nodes: AnyInt) -> BoolArray:
    out = np.zeros(graph.n_nodes, dtype=bool)
    out[nodes] = True
    return out


def _inputs(graph: FactorGraph, derived: IntArray) -> IntArray:
    start = graph.input_start[derived]
    return segments(start, graph.input_start[derived + 1] - start)
