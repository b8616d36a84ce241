"""First states of a Bayesian network by forward sampling: every unknown is drawn given its parents.

Without evidence that is a draw of the distribution itself (Henrion 1988, *Propagating uncertainty in Bayesian
networks by probabilistic logic sampling*). What evidence has made of the distribution of an observed unknown
weighs the last of its parents that is drawn, so that zeros in it are honoured where they can be.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from plx.graph.barren import Distributions, leaves
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.ragged import owners, starts
from plx.graph.room import pieces
from plx.graph.rows import BoolArray
from plx.graph.worlds import input_owner, scope_strides
from plx.infer.kernels.forward import draw_worlds
from plx.infer.streams import Stream, generator
from plx.values import IntArray

T = TypeVar("T", bound=np.generic)

_NETWORK = frozenset({"random", "require", "observe"})
"""The kinds of rules that a Bayesian network with evidence consists of."""


class ForwardStates(NamedTuple):
    """States [V, chains], and whether they are draws of the model's own distribution."""

    states: npt.NDArray[np.int32]
    is_exact: bool


def is_network(model: GroundModel) -> bool:
    """Whether all factors come from conditional distributions and evidence."""
    used = np.zeros(len(model.rules), dtype=bool)
    for part in pieces(model.graph.n_factors):
        used[model.graph.rule_of[part]] = True
    kinds = {model.rules[rule].kind for rule in np.flatnonzero(used).tolist()}
    return "random" in kinds and kinds <= _NETWORK


def forward_states(model: GroundModel, seed: int, chains: int) -> ForwardStates:
    """A world for every chain, drawn along the network; see `is_network`."""
    graph = model.graph
    distributions = Distributions(graph)
    held_out = ~_normalised(distributions)
    found = leaves(distributions, np.zeros(graph.n_nodes, dtype=bool), held_out)
    taken = np.zeros(graph.n_variables, dtype=bool)
    taken[found.variable] = True
    order = np.concatenate([np.flatnonzero(~taken), found.variable[::-1]])
    states = _draw(graph, order, seed, chains)
    return ForwardStates(states, bool(taken.all() and not held_out.any()))


def _normalised(distributions: Distributions) -> BoolArray:
    """Which factors are a conditional distribution of one of their variables."""
    graph = distributions.graph
    entries = np.flatnonzero(graph.scope < graph.n_variables)
    out = np.zeros(graph.n_factors, dtype=bool)
    out[owners(graph.scope_start)[entries[distributions.of_entries(entries)]]] = True
    return out


def _draw(graph: FactorGraph, order: IntArray, seed: int, chains: int) -> npt.NDArray[np.int32]:
    """Worlds drawn in an order of the variables."""
    known = _known_at(graph, order)
    node, node_start = _grouped(known[graph.n_variables :], len(order))
    last = np.zeros(graph.n_factors, dtype=np.int64)
    np.maximum.at(last, owners(graph.scope_start), known[graph.scope])
    factor, factor_start = _grouped(last, len(order))
    states = np.zeros((graph.n_nodes, chains), dtype=np.int32)
    random = [generator(seed, Stream.FORWARD, chain).random(len(order)) for chain in range(chains)]
    card = graph.card[: graph.n_variables]
    if not len(card):
        return states
    steps = chains * (len(graph.scope) + len(graph.input_node) + len(order)) * float(card.mean() + 1)
    draw_worlds.sized(steps)(
        order,
        _writable(graph.card),
        node_start,
        node + graph.n_variables,
        factor_start,
        factor,
        _writable(graph.scope_start),
        _writable(graph.scope),
        scope_strides(graph),
        graph.table_start[graph.table_of],
        _writable(graph.table),
        _writable(graph.input_start),
        _writable(graph.input_node),
        graph.contribution_start[graph.input_contribution],
        _writable(graph.contribution),
        graph.output_start[graph.output_of],
        _writable(graph.output),
        graph.n_variables,
        np.ascontiguousarray(np.stack(random, axis=1)),
        np.empty(int(card.max(initial=1))),
        states,
    )
    return states[: graph.n_variables]


def _writable(array: npt.NDArray[T]) -> npt.NDArray[T]:
    """The array as kernels take it, whose types are those of writable ones."""
    return np.require(array, requirements=("C", "W"))


def _known_at(graph: FactorGraph, order: IntArray) -> IntArray:
    """The place in the order of variables at which each node [V + D] is known."""
    known = np.zeros(graph.n_nodes, dtype=np.int64)
    known[order] = np.arange(len(order))
    owner = input_owner(graph) + graph.n_variables
    while True:
        deeper = known.copy()
        np.maximum.at(deeper, owner, known[graph.input_node])
        if np.array_equal(deeper, known):
            return known
        known = deeper


def _grouped(place: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """What stands at each place 0 … n-1, in its own order, and where each place begins."""
    return np.argsort(place, kind="stable"), starts(np.bincount(place, minlength=n))
