"""What an update of each variable depends on, as flat arrays.

An update of variable v changes v, the derived nodes above it (*affected*) and the factors over
any of these. *Rows* number what an update reads: variables from 0, states of derived nodes from
V, totals of derived nodes from V + D, candidate states of v's affected nodes from V + 2D.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from plx.graph.joins import Lookup
from plx.graph.model import FactorGraph
from plx.graph.ragged import segments, starts
from plx.graph.room import pieces
from plx.graph.subgraph import live_derived
from plx.graph.worlds import input_owner, run_strides
from plx.infer.problem import Parts
from plx.values import IntArray, distinct

_PORTION = 1 << 20
"""Nodes that the terms of variables read which are looked at together."""


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
class Dependents:
    """The derived nodes that change with each variable, and by which of their inputs.

    ``pair_*`` lists (variable, affected derived row) sorted; ``edge_*`` the inputs of each pair
    that change with the variable.
    """

    pair_variable: IntArray
    pair_row: IntArray
    edge_pair: IntArray
    edge_source: IntArray  # -1: the variable, else a position among its affected nodes
    edge_contribution: IntArray


@dataclass(frozen=True)
class Structure:
    """Affected nodes, their edges, and the terms of the conditionals of a portion of the variables.

    The variables of a portion are consecutive, and numbered from 0 here. ``pair_*`` and ``edge_*`` are
    theirs of `Dependents`; ``term_*`` (variable, factor) sorted by variable and table; ``operand_*`` what
    else a term's entry depends on, as rows.
    """

    card: IntArray  # [variables of the portion]
    pair_variable: IntArray
    pair_row: IntArray
    edge_pair: IntArray
    edge_source: IntArray
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


def dependents(graph: FactorGraph, rows: DerivedRows) -> Dependents:
    """What is above all variables."""
    n_rows = len(rows.node)
    source, owner, contribution = _live_edges(graph, rows)
    pair_key = _affected(graph.n_variables, n_rows, source, owner)
    pair_variable, pair_row = pair_key // max(1, n_rows), pair_key % max(1, n_rows)
    first = np.searchsorted(pair_variable, np.arange(graph.n_variables)) if len(pair_key) else pair_key
    edges = _edges(graph.n_variables, n_rows, pair_key, first, source, owner, contribution)
    return Dependents(pair_variable, pair_row, *edges)


def structures(graph: FactorGraph, rows: DerivedRows, above: Dependents) -> Iterator[Structure]:
    """Everything an update reads, for all variables, some at a time: what is at hand at once does not grow
    with the model."""
    bounds = _bounds(graph, rows, above)
    place, start = _by_portion(graph, bounds)
    derived = _derived_scopes(graph, rows)
    for k, (first, last) in enumerate(pairwise(bounds.tolist())):
        pairs = slice(*np.searchsorted(above.pair_variable, [first, last]).tolist())
        edges = slice(*np.searchsorted(above.edge_pair, [pairs.start, pairs.stop]).tolist())
        variable, row = above.pair_variable[pairs] - first, above.pair_row[pairs]
        mine = place[start[k] : start[k + 1]]
        yield Structure(
            graph.card[first:last].astype(np.int64),
            variable,
            row,
            above.edge_pair[edges] - pairs.start,
            above.edge_source[edges],
            above.edge_contribution[edges],
            *_terms(graph, rows, first, *_depends(graph, mine, first, variable, row, derived), variable, row),
        )


def _bounds(graph: FactorGraph, rows: DerivedRows, above: Dependents) -> IntArray:
    """Where portions of consecutive variables begin, whose terms read about `_PORTION` nodes together."""
    n = graph.n_variables
    if len(graph.scope) + len(above.pair_row) <= _PORTION and not len(above.pair_row):
        return np.array([0, n])
    read = np.zeros(n + len(rows.node), dtype=np.int64)
    for part in pieces(graph.n_factors):
        begin = graph.scope_start[part.start : part.stop + 1]
        arity = np.diff(begin)
        np.add.at(read, rows.of_nodes(graph, graph.scope[begin[0] : begin[-1]]), np.repeat(arity, arity))
    total = read[:n]
    np.add.at(total, above.pair_variable, read[n + above.pair_row])
    before = np.cumsum(total) - total
    heads = np.flatnonzero(np.diff(before // _PORTION)) + 1
    return np.concatenate([[0], heads, [n]])


def _by_portion(graph: FactorGraph, bounds: IntArray) -> tuple[npt.NDArray[np.integer], IntArray]:
    """The places in ``scope`` of the variables of each portion, in order, portion by portion, and starts."""
    n, scope, portions = graph.n_variables, graph.scope, len(bounds) - 1
    if portions == 1:
        place = np.flatnonzero(scope < n)
        return place, np.array([0, len(place)])
    kind = np.min_scalar_type(portions)  # few bytes are sorted by their digits
    of = np.repeat(np.arange(portions + 1, dtype=kind), np.append(np.diff(bounds), graph.n_derived))
    count = np.zeros(portions + 1, dtype=np.int64)
    for part in pieces(len(scope)):
        count += np.bincount(of[scope[part]], minlength=portions + 1)
    start = starts(count)
    narrow = np.int32 if len(scope) < 1 << 31 else np.int64
    out: npt.NDArray[np.integer] = np.empty(len(scope), dtype=narrow)
    free = start[:-1].copy()
    for part in pieces(len(scope)):
        portion = of[scope[part]]
        size = np.bincount(portion, minlength=portions + 1)
        out[segments(free, size)] = np.argsort(portion, kind="stable") + part.start
        free += size
    return out, start


def _derived_scopes(graph: FactorGraph, rows: DerivedRows) -> tuple[Lookup, IntArray]:
    """The factors over each derived row, as positions in an array of them."""
    place = np.flatnonzero(graph.scope >= graph.n_variables)
    row = rows.of_nodes(graph, graph.scope[place]) - graph.n_variables
    return Lookup(row, len(rows.node)), _factor_at(graph, place)


def _factor_at(graph: FactorGraph, place: npt.NDArray[np.integer]) -> IntArray:
    """The factors that places in ``scope`` belong to."""
    found: IntArray = np.searchsorted(graph.scope_start, place, side="right") - 1
    return found


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


def _depends(
    graph: FactorGraph,
    place: npt.NDArray[np.integer],
    first: int,
    pair_variable: IntArray,
    pair_row: IntArray,
    derived: tuple[Lookup, IntArray],
) -> tuple[IntArray, IntArray]:
    """All (variable, factor) such that the factor's entry depends on the variable, sorted by variable and
    table. ``place`` are the variables of the portion in ``scope``."""
    variable, factor = graph.scope[place].astype(np.int64) - first, _factor_at(graph, place)
    if len(pair_row):
        over, of = derived
        at, entry = over.join(pair_row)
        key = np.concatenate([variable, pair_variable[at]]) * max(1, graph.n_factors)
        key = distinct(key + np.concatenate([factor, of[entry]]))
        variable, factor = key // max(1, graph.n_factors), key % max(1, graph.n_factors)
    # factors are in order before
    order = np.argsort(variable * max(1, graph.n_tables) + graph.table_of[factor], kind="stable")
    return variable[order], factor[order]


def _terms(
    graph: FactorGraph,
    rows: DerivedRows,
    first: int,
    variable: IntArray,
    factor: IntArray,
    pair_variable: IntArray,
    pair_row: IntArray,
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]:
    n, n_rows = graph.n_variables, len(rows.node)
    begin = graph.scope_start[factor]
    arity = graph.scope_start[factor + 1] - begin
    term = np.repeat(np.arange(len(factor)), arity)
    node = graph.scope[segments(begin, arity)]
    row, stride = rows.of_nodes(graph, node), run_strides(graph.card[node], starts(arity))
    itself = row == variable[term] + first
    own = np.zeros(len(factor), dtype=np.int64)
    own[term[itself]] = stride[itself]
    term, row, stride = term[~itself], row[~itself], stride[~itself]
    if len(pair_row):
        pair_key = pair_variable * n_rows + pair_row
        derived = np.flatnonzero(row >= n)
        key = variable[term[derived]] * n_rows + row[derived] - n
        pair = np.minimum(np.searchsorted(pair_key, key), len(pair_key) - 1)
        hit = np.flatnonzero(pair_key[pair] == key)
        of = variable[term[derived[hit]]]
        row[derived[hit]] = n + 2 * n_rows + pair[hit] - np.searchsorted(pair_variable, of)
    return variable, graph.table_start[graph.table_of[factor]], own, term, row, stride
