"""All states of a small graph that its hard rules allow, and whether small changes connect them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from plx.deadline import OutOfTimeError
from plx.graph.components import smallest_reachable
from plx.graph.model import FactorGraph
from plx.graph.sizes import joint_states
from plx.graph.worlds import log_weights, node_states
from plx.infer.gibbs.limits import FOUND, LISTED

States = npt.NDArray[np.int32]


def feasible(graph: FactorGraph, limit: int) -> States | None:
    """The states of the variables that no factor forbids, shape (n, V); None if more than ``limit``,
    or too many to find, or to find in time."""
    cards = graph.card[: graph.n_variables].astype(np.int64)
    if joint_states(cards) > LISTED:
        from plx.infer.hard.sat import Satisfier

        try:
            return Satisfier(graph).all(min(limit, FOUND))
        except OutOfTimeError:
            return None
    states = np.array(np.unravel_index(np.arange(cards.prod()), cards), dtype=np.int32)
    states = states.reshape(len(cards), -1)
    possible = log_weights(graph, node_states(graph, states)) > -np.inf
    return states.T[possible] if possible.sum() <= limit else None


def connected(states: States, moves: Iterable[npt.NDArray[np.integer]]) -> bool:
    """Whether each of the states, (n, V), can be reached from each: a move changes some of its variables."""
    pairs: list[npt.NDArray[np.int64]] = []
    for move in moves:
        rest = np.delete(states, move, axis=1)
        _, first, inverse = np.unique(rest, axis=0, return_index=True, return_inverse=True)
        pairs.append(np.stack([np.arange(len(states)), first[inverse.ravel()]]))
    a, b = np.concatenate(pairs, axis=1)
    return bool((smallest_reachable(len(states), a, b) == 0).all())
