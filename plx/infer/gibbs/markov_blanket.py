"""What an update of each variable depends on, as flat arrays.

An update of variable v changes v, the derived nodes above it (*affected*) and the factors over
any of these. *Rows* number what an update reads: variables from 0, states of derived nodes from
V, totals of derived nodes from V + D, candidate states of v's affected nodes from V + 2D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.graph.joins import Lookup
from plx.graph.model import FactorGraph
from plx.graph.ragged import segments
from plx.graph.subgraph import live_derived
from plx.graph.worlds import input_owner, scope_strides
from plx.infer.problem import Parts
from plx.values import IntArray, distinct


@dataclass(frozen=True)
class DerivedRows:
    """The derived nodes that are kept, renumbered: those that feed factors, then those queries need."""

    node: IntArray  # [D] original node
    row: IntArray  # [all derived] row, -1: not kept
    first_passive: int

    def of_nodes(self, graph: FactorGraph, nodes: npt.NDArray[np.integer]) -> IntArray:
        """The row of each node."""
        derived = nodes >= graph.n_variables
        out = nodes.astype(np.int64)
        out[derived] = graph.n_variables + self.row[nodes[derived] - graph.n_variables]
        return out


@dataclass(frozen=True)
class Structure:
    """Affected nodes, their edges, and the terms of every variable's conditional.

    ``pair_*`` lists (variable, affected derived row) sorted; ``edge_*`` the inputs of each pair
    that change with the variable; ``term_*`` (variable, factor) sorted by variable and table;
    ``operand_*`` what else a term's entry depends on.
    """

    pair_variable: IntArray
    pair_row: IntArray
    edge_pair: IntArray
    edge_source: IntArray  # -1: the variable, else a position among its affected nodes
    edge_contribution: IntArray
    term_variable: IntArray
    term_entry: IntArray
    term_stride: IntArray
    operand_term: IntArray
    operand_row: IntArray
    operand_stride: IntArray


def derived_rows(parts: Parts, asked: IntArray) -> DerivedRows:
    """Renumber the derived nodes that feed a factor or one of the nodes ``asked``."""
    graph, live = parts.graph, parts.live
    passive = live_derived(graph, asked) & ~live
    kept = np.concatenate([np.flatnonzero(live), np.flatnonzero(passive)])
    row = np.full(graph.n_derived, -1, dtype=np.int64)
    row[kept] = np.arange(len(kept))
    return DerivedRows(kept + graph.n_variables, row, int(live.sum()))


def structure(graph: FactorGraph, rows: DerivedRows) -> Structure:
    """Everything an update reads, for all variables at once."""
    n_rows = len(rows.node)
    source, owner, contribution = _live_edges(graph, rows)
    pair_key = _affected(graph.n_variables, n_rows, source, owner)
    pair_variable, pair_row = pair_key // max(1, n_rows), pair_key % max(1, n_rows)
    first = np.searchsorted(pair_variable, np.arange(graph.n_variables))
    edges = _edges(graph.n_variables, n_rows, pair_key, first, source, owner, contribution)
    terms = _terms(graph, rows, pair_key, first)
    return Structure(pair_variable, pair_row, *edges, *terms)


def _live_edges(graph: FactorGraph, rows: DerivedRows) -> tuple[IntArray, IntArray, IntArray]:
    """Inputs of the derived nodes that feed factors: source row, owner row, contribution start."""
    owner = rows.row[input_owner(graph)]
    entry = np.flatnonzero((owner >= 0) & (owner < rows.first_passive))
    source = rows.of_nodes(graph, graph.input_node[entry])
    return source, owner[entry], graph.contribution_start[graph.input_contribution[entry]]


def _affected(n: int, n_rows: int, source: IntArray, owner: IntArray) -> IntArray:
    """All pairs variable * n_rows + row such that the derived row depends on the variable, sorted."""
    direct = source < n
    found = distinct(source[direct] * n_rows + owner[direct])
    fresh = found
    above = Lookup(source[~direct] - n, n_rows)
    while len(fresh):
        at, edge = above.join(fresh % n_rows)
        reached = fresh[at] // n_rows * n_rows + owner[~direct][edge]
        fresh = np.setdiff1d(reached, found)
        found = np.union1d(found, fresh)
    return found


def _edges(
    n: int,
    n_rows: int,
    pair_key: IntArray,
    first: IntArray,
    source: IntArray,
    owner: IntArray,
    contribution: IntArray,
) -> tuple[IntArray, IntArray, IntArray]:
    """Per pair the inputs that change with its variable: pair, source position, contribution start."""
    direct = source < n
    nested = np.flatnonzero(~direct)
    at, edge = Lookup(source[nested] - n, n_rows).join(pair_key % max(1, n_rows))
    variable = pair_key[at] // max(1, n_rows)
    key = np.concatenate([source[direct] * n_rows + owner[direct], variable * n_rows + owner[nested[edge]]])
    pair = np.searchsorted(pair_key, key)
    position = np.concatenate([np.full(int(direct.sum()), -1), at - first[variable]])
    start = np.concatenate([contribution[direct], contribution[nested[edge]]])
    order = np.argsort(pair, kind="stable")
    return pair[order], position[order], start[order]


def _terms(
    graph: FactorGraph, rows: DerivedRows, pair_key: IntArray, first: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]:
    n, n_rows = graph.n_variables, len(rows.node)
    arity = np.diff(graph.scope_start)
    factor_of = np.repeat(np.arange(graph.n_factors), arity)
    scope = rows.of_nodes(graph, graph.scope)
    variable, factor = _depends(n, n_rows, scope, factor_of, pair_key)
    order = np.lexsort((factor, graph.table_of[factor], variable))
    variable, factor = variable[order], factor[order]
    term = np.repeat(np.arange(len(factor)), arity[factor])
    at = segments(graph.scope_start[factor], arity[factor])
    row, stride = scope[at], scope_strides(graph)[at]
    itself = row == variable[term]
    own = np.zeros(len(factor), dtype=np.int64)
    own[term[itself]] = stride[itself]
    term, row, stride = term[~itself], row[~itself], stride[~itself]
    derived = np.flatnonzero(row >= n)
    key = variable[term[derived]] * n_rows + row[derived] - n
    pair = np.searchsorted(pair_key, key)
    hit = (
        np.flatnonzero((pair < len(pair_key)) & (pair_key[np.minimum(pair, len(pair_key) - 1)] == key))
        if len(pair_key)
        else pair[:0]
    )
    row[derived[hit]] = n + 2 * n_rows + pair[hit] - first[variable[term[derived[hit]]]]
    return variable, graph.table_start[graph.table_of[factor]], own, term, row, stride


def _depends(
    n: int, n_rows: int, scope: IntArray, factor_of: IntArray, pair_key: IntArray
) -> tuple[IntArray, IntArray]:
    """All (variable, factor) such that the factor's entry depends on the variable."""
    direct = scope < n
    if direct.all():
        return scope, factor_of
    above = Lookup(pair_key % max(1, n_rows), n_rows)
    at, pair = above.join(scope[~direct] - n)
    variable = np.concatenate([scope[direct], pair_key[pair] // max(1, n_rows)])
    factor = np.concatenate([factor_of[direct], factor_of[~direct][at]])
    n_factors = int(factor_of.max(initial=-1)) + 1
    key = distinct(variable * max(1, n_factors) + factor)
    return key // max(1, n_factors), key % max(1, n_factors)
