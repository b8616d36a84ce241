"""The worlds that hard rules leave, where they are few: found by a SAT solver, listed and summed.

A puzzle has one world or a handful however wide its rules are, and elimination sees their width alone. The
solver rules out every world that it has found and looks for another one, until there is none.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph, GroundModel, GroundQuery
from plx.graph.sizes import joint_states
from plx.graph.subgraph import hard_factors, reached
from plx.graph.worlds import log_weights, node_states
from plx.infer.answers import exact_answer, free_nodes
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import Answer, Inference, Way
from plx.numerals import counted
from plx.values import FloatArray, IntArray

_MOST = 1 << 9
"""So many worlds are listed;"""

_LARGEST = 1 << 15
"""they are looked for in graphs of at most so many nodes and entries of scopes,"""

_CONFLICTS = 2_000
"""and each of them for so many conflicts of the solver."""


def few_worlds(model: GroundModel) -> Way | None:
    """The way for models of few possible worlds; None if they may be many. Raises OutOfTimeError."""
    graph = model.graph
    if (worlds := _listed(graph)) is None:
        return None
    n = worlds.shape[1]
    operations = float(max(1, n) * (graph.n_nodes + len(graph.scope) + len(graph.input_node)))
    reason = f"{counted(n, 'world')} {'keeps' if n == 1 else 'keep'} every hard rule, found by a SAT solver"
    return Way(reason, operations, lambda: _answered(model, worlds, reason))


def _listed(graph: FactorGraph) -> npt.NDArray[np.int32] | None:
    """The worlds that no factor forbids, shape (V, worlds); None if they are many, or not found soon."""
    hard = hard_factors(graph)
    if not len(hard) or graph.n_nodes + len(graph.scope) + len(graph.input_node) > _LARGEST:
        return None
    free = np.flatnonzero(~reached(graph, hard)[: graph.n_variables] & (graph.card[: graph.n_variables] > 1))
    most = int(_MOST / joint_states(graph.card[free]))
    if not most:
        return None
    from plx.infer.hard.sat import Satisfier

    found = Satisfier(graph).all(most, _CONFLICTS)
    return None if found is None else _with_free(graph, found.T, free)


def _with_free(graph: FactorGraph, worlds: npt.NDArray[np.int32], free: IntArray) -> npt.NDArray[np.int32]:
    """Every world with every joint state of the unknowns that no hard rule is about."""
    cards = graph.card[free].tolist()
    states = np.indices(cards, dtype=np.int32).reshape(len(free), int(np.prod(cards, dtype=np.int64)))
    out = np.repeat(worlds, states.shape[1], axis=1)
    out[free] = np.tile(states, worlds.shape[1])
    return out


def _answered(model: GroundModel, worlds: npt.NDArray[np.int32], reason: str) -> Inference:
    """Every answer, summed over the worlds. Raises NoWorldError if there is none."""
    nodes = node_states(model.graph, worlds)
    logs = log_weights(model.graph, nodes)
    log_z = float(np.logaddexp.reduce(logs, initial=-np.inf))
    if log_z == -np.inf:
        raise contradiction(model)
    p = np.exp(logs - log_z)
    answers = tuple(_answer(model, query, nodes, p) for query in model.queries)
    return Inference("exact", reason, answers, log_z=log_z + model.log_constant)


def _answer(model: GroundModel, query: GroundQuery, nodes: npt.NDArray[np.int32], p: FloatArray) -> Answer:
    """The answer to a query; `map` and `logz`, which have no targets, are filled in later."""
    if not query.targets:
        return Answer()
    free = list(free_nodes(query))
    cards = tuple(model.graph.card[free].tolist())
    state = np.ravel_multi_index(tuple(nodes[free]), cards) if free else np.zeros(len(p), dtype=np.int64)
    joint = np.zeros(int(np.prod(cards, dtype=np.int64)))
    np.add.at(joint, state, p)
    return exact_answer(model, query, joint)
