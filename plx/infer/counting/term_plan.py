"""A graph → log Z as a sum of terms: components, each kind once, counted where they are symmetric.

A component that is not may be once one of its unknowns has a value: an unknown that ties pairs of others
together is split on, and the sum is over its values.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from plx import deadline
from plx.graph.components import components
from plx.graph.isomorphic import Runs, equal_parts
from plx.graph.model import FactorGraph
from plx.graph.pinned import pinned
from plx.graph.ragged import owners, ranks
from plx.graph.subgraph import live_derived, subgraph
from plx.graph.worlds import input_owner
from plx.infer.counting.counted_terms import counted_term
from plx.infer.counting.histograms import components_of
from plx.infer.counting.symmetric_core import find_core
from plx.infer.counting.terms import ZERO, Items, Terms
from plx.values import IntArray

MOST_SPLIT = 6.0
"""log₂ of the joint states of all unknowns that are split on."""

MOST_KINDS = 500
"""With more kinds of components than this there is little to share."""

Sum = Counter[int]
"""Terms, and how often each is added."""


def sum_of_terms(graph: FactorGraph, terms: Terms, bits: float = MOST_SPLIT) -> Items | None:
    """log Z of a graph whose ``weight`` are terms; None if counting does not do it. No world: ((-1, 1),)."""
    graph, total = _without_constants(graph)
    live = live_derived(graph)
    label = components(graph, live)
    met = np.zeros(graph.n_variables, dtype=bool)
    label_of_factor = label[graph.scope[graph.scope_start[:-1]]]
    kept = np.unique(label_of_factor)
    met = np.isin(label[: graph.n_variables], kept)
    for card, n in zip(*np.unique(graph.card[: graph.n_variables][~met], return_counts=True), strict=True):
        total[terms.log_sum([()] * int(card))] += int(n)
    kinds = equal_parts(_runs(graph, label, label_of_factor), kept)
    if len(kinds) > MOST_KINDS:
        return None
    by_label = np.argsort(label_of_factor, kind="stable")
    ordered = label_of_factor[by_label]
    for alike in kinds:
        deadline.check()
        first, last = np.searchsorted(ordered, [alike[0], alike[0] + 1])
        part, _ = subgraph(graph, np.sort(by_label[first:last]))
        found = _connected(part, terms, bits)
        if found is None:
            return None
        for term, times in found:
            total[term] += times * len(alike)
    return terms.sum(total.items()) if min(total, default=ZERO) >= 0 else ((-1, 1),)


def _connected(graph: FactorGraph, terms: Terms, bits: float) -> Items | None:
    """The same of one component."""
    core = find_core(graph, tables=terms)
    if core is not None:
        used, often = np.unique(core.peeled.factors.over(0).table, return_counts=True)
        total: Sum = Counter()
        for table, n in zip(used.tolist(), often.tolist(), strict=True):
            total[int(terms.tables[table].item())] += n
        counted = [counted_term(component, terms) for component in components_of(core)]
        if None not in counted:
            total.update(term for term in counted if term is not None)
            return tuple(total.items())
    variable = _splitting(graph)
    if variable is None or bits < math.log2(graph.card[variable]):
        return None
    rows = []
    for state in range(int(graph.card[variable])):
        found = sum_of_terms(pinned(graph, variable, state), terms, bits - math.log2(graph.card[variable]))
        if found is None:
            return None
        row = terms.sum(found)
        if row is not None:
            rows.append(row)
    return ((terms.log_sum(rows), 1),)


def _splitting(graph: FactorGraph) -> int | None:
    """The unknown in most factors over three or more; None if there is none."""
    wide = np.diff(graph.scope_start) > 2
    scope = graph.scope[wide[owners(graph.scope_start)]]
    degree = np.bincount(scope, minlength=graph.n_nodes)[: graph.n_variables]
    degree[graph.input_node[graph.input_node < graph.n_variables]] = 0
    return int(degree.argmax()) if degree.max(initial=0) else None


def _without_constants(graph: FactorGraph) -> tuple[FactorGraph, Sum]:
    """The graph without factors whose tables are of one term, and these terms."""
    begin = graph.table_start[:-1]
    low, high = (of.reduceat(graph.weight, begin) if len(begin) else begin for of in (np.minimum, np.maximum))
    constant = (low == high)[graph.table_of]
    total: Sum = Counter()
    for term, n in zip(*np.unique(low[graph.table_of[constant]], return_counts=True), strict=True):
        total[int(term)] += int(n)
    if not constant.any():
        return graph, total
    keep = np.flatnonzero(~constant)
    entry = np.isin(owners(graph.scope_start), keep)
    count = np.diff(graph.scope_start)[keep]
    rest = graph._replace(
        scope_start=np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
        scope=graph.scope[entry],
        table_of=graph.table_of[keep],
        rule_of=graph.rule_of[keep],
    )
    return rest, total


def _runs(graph: FactorGraph, label: IntArray, label_of_factor: IntArray) -> list[Runs]:
    """All components spelt out, the nodes of each numbered from 0."""
    count = int(label.max(initial=-1)) + 1
    alive = np.flatnonzero(label >= 0)
    rank = np.full(graph.n_nodes, -1, dtype=np.int64)
    rank[alive] = ranks(label[alive], count)
    derived = graph.n_variables + np.flatnonzero(label[graph.n_variables :] >= 0)
    d = derived - graph.n_variables
    entry = np.flatnonzero(label[input_owner(graph) + graph.n_variables] >= 0)
    of_entry = label[input_owner(graph)[entry] + graph.n_variables]
    of_scope = label_of_factor[owners(graph.scope_start)]
    return [
        Runs.by_owner(graph.card[alive], label[alive], count),
        Runs.by_owner(graph.table_of, label_of_factor, count),
        Runs.by_owner(np.diff(graph.scope_start), label_of_factor, count),
        Runs.by_owner(rank[graph.scope], of_scope, count),
        Runs.by_owner(rank[derived], label[derived], count),
        Runs.by_owner(np.diff(graph.input_start)[d], label[derived], count),
        Runs.by_owner(graph.output_of[d], label[derived], count),
        Runs.by_owner(rank[graph.input_node[entry]], of_entry, count),
        Runs.by_owner(graph.input_contribution[entry], of_entry, count),
    ]
