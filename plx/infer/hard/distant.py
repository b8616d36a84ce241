"""Log weights too far apart for doubles: worlds that are out of reach of the best are left out.

A double holds 53 bits: beside a log weight of 10^16, one of 1 is lost. Large tables have their maximum at 0
(`plx/graph/merge.py`), so nothing is lost where some world has a small sum. A world whose log weight is lower
than that of a known one by more than a double can tell, taken over all worlds, is as good as impossible, and
is made so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from plx.errors import Diagnostic, Note, PlxError
from plx.graph.assemble import assemble, factor_batches, reassembled, variable_cards
from plx.graph.derived import derived_of
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.node_map import nodes_of
from plx.graph.queries import singles
from plx.graph.subgraph import hard_factors, subgraph
from plx.graph.worlds import log_weights, node_states
from plx.values import FARTHEST, IMPOSSIBLE, ZERO, FloatArray
from plx.weights import shown

RESOLVED = 2.0**30
"""Sums of log weights up to this are known to seven digits behind the point."""

_OUT_OF_REACH = 1000.0
"""e to the power of minus this is 0 as a double."""

_LEVELS = (2.0**10, 2.0**20, RESOLVED)
"""A good world is one without a log weight lower than minus the first of these that is possible."""

DISTANT = f"worlds less probable than e^-{_OUT_OF_REACH:.0f} beside the best are left out"
"""What is to be said of the k best worlds."""


def without_distant(model: GroundModel) -> GroundModel:
    """The model as doubles can hold it. Its answers are the same, but worlds out of reach have probability 0.

    Raises PlxError, naming rules, where every world needs log weights so large that small ones are lost
    beside them, and where the log weight of every world is past the range of doubles and asked for.
    """
    model = _with_finite_constant(model)
    if _lowest(model.graph) >= -RESOLVED:
        return model
    graph = model.graph
    best = _known_log_weight(model)
    if best is None:
        return model
    top = _largest_of_tables(graph)
    slack = float(top[graph.table_of].sum()) - best
    if slack > 2 * RESOLVED:
        raise _lost(model, -RESOLVED)
    worlds = float(np.log(variable_cards(graph)).sum())
    lowest = np.repeat(top, np.diff(graph.table_start)) - (slack + worlds + _OUT_OF_REACH)
    return _assembled(model, _hardened(graph, graph.table < lowest))


def is_resolved(model: GroundModel) -> bool:
    """Whether the constant of a model is in the range of doubles."""
    return abs(model.log_constant) < FARTHEST


def _with_finite_constant(model: GroundModel) -> GroundModel:
    if is_resolved(model):
        return model
    for _, query in singles(model.queries):
        if query.kind in ("map", "logz"):
            constant = shown(model.values[model.constant_weight])  # type: ignore[arg-type]
            message = f"the log weights of all worlds are near {constant}, past the range of doubles"
            hint = "take smaller weights, or ask for probabilities"
            raise PlxError(Diagnostic(message, query.span, hint))
    return replace(model, constant_weight=ZERO)


def _lowest(graph: FactorGraph) -> float:
    """The lowest log weight that is not impossible, at most 0."""
    return float(graph.table[graph.table > -np.inf].min(initial=0.0))


def _largest_of_tables(graph: FactorGraph) -> FloatArray:
    return np.maximum.reduceat(graph.table, graph.table_start[:-1])


def _known_log_weight(model: GroundModel) -> float | None:
    """The log weight of a good world; None where hard rules leave no world at all.

    Raises PlxError where every world has a log weight that is too low.
    """
    graph = model.graph
    for level in _LEVELS:
        world = _world(_hardened(graph, graph.table < -level))
        if world is not None:
            return float(log_weights(graph, node_states(graph, world[:, None]))[0])
    if _world(graph) is None:
        return None
    raise _lost(model, -RESOLVED)


def _world(graph: FactorGraph) -> npt.NDArray[np.int32] | None:
    """A world without impossible log weights, if there is one."""
    from plx.infer.hard.sat import Satisfier

    states = np.zeros(graph.n_variables, dtype=np.int32)
    rules, variables = subgraph(graph, hard_factors(graph))
    found = Satisfier(rules).near(np.zeros(len(variables), dtype=np.int32))
    if found is None:
        return None
    states[variables] = found
    return states


def _hardened(graph: FactorGraph, entries: npt.NDArray[np.bool_]) -> FactorGraph:
    """The graph with some entries of its tables made impossible."""
    return graph._replace(
        table=np.where(entries, -np.inf, graph.table), weight=np.where(entries, IMPOSSIBLE, graph.weight)
    )


def _assembled(model: GroundModel, graph: FactorGraph) -> GroundModel:
    """The model over another graph of the same nodes."""
    assembly = assemble(
        model.values,
        variable_cards(graph),
        factor_batches(graph),
        derived_of(graph),
        keep=nodes_of(model.queries),
    )
    return reassembled(model, assembly)


def _lost(model: GroundModel, level: float) -> PlxError:
    """Which rules have the large weights that clash."""
    from plx.infer.hard.contradiction import contradiction

    graph = model.graph
    clash = contradiction(replace(model, graph=_hardened(graph, graph.table < level))).diagnostics[0]
    message = "weights past 10^9 contradict one another, and beside them small ones are lost"
    notes = (Note(clash.message, clash.span), *clash.notes)
    return PlxError(
        Diagnostic(message, clash.span, "state what must hold with `require`, or use smaller weights", notes)
    )
