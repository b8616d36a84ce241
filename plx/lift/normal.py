"""The normal form of a model that symmetries are looked for in: what rules say, not how they say it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from plx.graph.assemble import FactorBatch, assemble, factor_batches, variable_cards
from plx.graph.derived import derived_of
from plx.graph.model import FactorGraph
from plx.graph.ragged import owners, segments, starts
from plx.graph.sizes import joint_states
from plx.graph.tables import relevant_axes
from plx.lift.limits import ALL_NORMAL_ENTRIES, NORMAL_ENTRIES
from plx.values import FloatArray, IntArray, Values


def normalise(values: Values, graph: FactorGraph) -> FactorGraph:
    """An equal graph whose small factors are tables over variables, one per scope.

    A formula that reads the same unknowns as another adds to its table, whichever way it was
    written. Derived nodes that only queries read are gone. Variables keep their numbers (all have
    two states or more).
    """
    if graph.n_derived:
        small = _small_factors(graph)
        rest = np.ones(graph.n_factors, dtype=bool)
        rest[list(small)] = False
        batches = [*factor_batches(select(graph, rest)), *_expanded(graph, small)]
        graph = assemble(values, variable_cards(graph), batches, derived_of(graph)).graph
    while not _reads_all(graph):  # a sum of tables can lose an axis, and then falls on a smaller scope
        graph = assemble(values, variable_cards(graph), factor_batches(graph), derived_of(graph)).graph
    return graph


def _reads_all(graph: FactorGraph) -> bool:
    """Whether every table depends on every node of its scope."""
    return all(
        relevant_axes(batch.tables, graph.card[batch.scope[0]].tolist()).all()
        for batch in factor_batches(graph)
    )


def _small_factors(graph: FactorGraph) -> dict[int, list[int]]:
    """The factors that read derived nodes but few joint states, and the variables below them."""
    size = _log_sizes(graph)
    factor = owners(graph.scope_start)
    total = np.bincount(factor, weights=size[graph.scope], minlength=graph.n_factors)
    reads = np.bincount(factor, weights=graph.scope >= graph.n_variables, minlength=graph.n_factors)
    found, entries = {}, 0
    # An input may be counted several times, so the bound is loose; the support decides.
    for f in np.flatnonzero((reads > 0) & (total <= 3 * np.log(NORMAL_ENTRIES))).tolist():
        variables = sorted(_support(graph, graph.scope_of(f).tolist()))
        n = joint_states(graph.card[variables])
        if n <= NORMAL_ENTRIES:
            found[f] = variables
            entries += int(n)
        if entries > ALL_NORMAL_ENTRIES:
            return {}
    return found


def _log_sizes(graph: FactorGraph) -> FloatArray:
    """Log of the number of joint states below each node; inputs shared within it count twice."""
    size = np.log(graph.card.astype(np.float64))
    owner = owners(graph.input_start)
    size[graph.n_variables :] = 0
    inner = graph.input_node >= graph.n_variables
    below = np.bincount(owner[~inner], weights=size[graph.input_node[~inner]], minlength=graph.n_derived)
    size[graph.n_variables :] = below
    for e in np.flatnonzero(inner):  # inputs come before what reads them
        size[graph.n_variables + owner[e]] += size[graph.input_node[e]]
    return size


def select(graph: FactorGraph, factors: npt.NDArray[np.bool_]) -> FactorGraph:
    """The graph with some of its factors."""
    kept = np.flatnonzero(factors)
    arity = np.diff(graph.scope_start)[kept]
    return graph._replace(
        scope_start=starts(arity),
        scope=graph.scope[segments(graph.scope_start[kept], arity)],
        table_of=graph.table_of[kept],
        rule_of=graph.rule_of[kept],
    )


def _expanded(graph: FactorGraph, factors: dict[int, list[int]]) -> Iterator[FactorBatch]:
    """Each factor as a table over the variables below it."""
    for factor, variables in factors.items():
        cards = graph.card[variables].tolist()
        grid = np.indices(cards).reshape(len(cards), -1)
        state = dict(zip(variables, grid, strict=True))
        index = tuple(_state(graph, int(node), state) for node in graph.scope_of(factor))
        table = graph.table_weights(factor)[index][None]
        yield FactorBatch(np.array([variables]), np.zeros(1, dtype=np.int64), table, graph.rule_of[[factor]])


def _support(graph: FactorGraph, nodes: list[int]) -> set[int]:
    """The variables below some nodes."""
    found: set[int] = set()
    while nodes:
        node = nodes.pop()
        if node < graph.n_variables:
            found.add(node)
        else:
            nodes += graph.inputs_of(node - graph.n_variables)[0].tolist()
    return found


def _state(graph: FactorGraph, node: int, state: dict[int, IntArray]) -> IntArray:
    """The states of a node in every joint state of the variables; remembered in ``state``."""
    if node not in state:
        derived = node - graph.n_variables
        total = np.zeros_like(next(iter(state.values())))
        for source, vector in zip(*graph.inputs_of(derived), strict=True):
            total += graph.contribution_of(vector)[_state(graph, int(source), state)]
        state[node] = graph.output_map(derived)[total].astype(np.int64)
    return state[node]
