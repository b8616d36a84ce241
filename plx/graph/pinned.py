"""A graph with one of its variables put into a state."""

from __future__ import annotations

import numpy as np

from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, starts
from plx.graph.rows import unique_rows


def pinned(graph: FactorGraph, variable: int, state: int) -> FactorGraph:
    """The factor graph with a variable, which no derived node reads, in a state: the others keep their
    numbers, and the variable stays as one of one state that no factor is over.

    Factors over one scope are not merged; one over the variable alone stays, with a table of one entry.
    """
    owner = owners(graph.scope_start)
    entry = np.flatnonzero(graph.scope == variable)
    factor = owner[entry]
    card = graph.card.copy()
    card[variable] = 1
    if not len(factor):
        return graph._replace(card=card)
    place = entry - graph.scope_start[factor]
    arity = np.diff(graph.scope_start)[factor]
    width = int(arity.max())
    at = graph.scope_start[factor][:, None] + np.minimum(np.arange(width), arity[:, None] - 1)
    cards = np.where(np.arange(width) < arity[:, None], graph.card[graph.scope[at]], 0)
    first, kind = unique_rows(np.column_stack([graph.table_of[factor], place, cards]))
    weights, tables = [graph.weight], [graph.table]
    for i in first.tolist():
        shape = cards[i, : arity[i]]
        span = slice(*graph.table_start[graph.table_of[factor[i]] : graph.table_of[factor[i]] + 2])
        weights.append(graph.weight[span].reshape(shape).take(state, axis=int(place[i])).ravel())
        tables.append(graph.table[span].reshape(shape).take(state, axis=int(place[i])).ravel())
    table_of = graph.table_of.copy()
    table_of[factor] = graph.n_tables + kind
    kept = np.ones(len(graph.scope), dtype=bool)
    kept[entry[arity > 1]] = False
    sizes = [*np.diff(graph.table_start).tolist(), *(len(one) for one in weights[1:])]
    return graph._replace(
        card=card,
        scope_start=starts(np.bincount(owner[kept], minlength=graph.n_factors)),
        scope=graph.scope[kept],
        table_of=table_of,
        table_start=starts(sizes),
        table=np.concatenate(tables),
        weight=np.concatenate(weights),
    )
