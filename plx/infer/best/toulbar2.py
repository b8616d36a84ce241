"""The most probable worlds by toulbar2, a solver of weighted constraint networks.

Weights become integer costs of up to `_DIGITS` decimals, as many as
fit; hard rules and derived nodes become forbidden tuples. The log weights of the worlds found are
computed anew from the model.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
from dataclasses import dataclass

import numpy as np

from plx.deadline import OutOfTime, seconds_left, within
from plx.graph.model import GroundModel
from plx.graph.worlds import log_weights, node_states
from plx.infer.best.solver_process import Problem, solve
from plx.infer.exact.network import Network
from plx.infer.exact.split import split
from plx.infer.inference import World
from plx.values import FloatArray

_DIGITS = 9
_LARGEST_COST = 1e15
"""Costs of whole worlds stay below this, far from where the solver's integers end."""

_LARGEST_TABLES = 1_000_000
"""Entries of tables and functions that are handed over, one by one."""

_FORBIDDEN = math.inf


@dataclass(frozen=True)
class _Costs:
    """Tables as integer costs: ``cost = round((largest − log weight) · scale)``."""

    scopes: list[list[int]]
    tables: list[list[float]]
    scale: float
    largest: float  # Σ of the largest log weights: the weight of cost 0


def installed() -> bool:
    """Whether the extra ``plx[map]`` is there."""
    return importlib.util.find_spec("pytoulbar2") is not None


def search(model: GroundModel, count: int = 1) -> tuple[World, ...] | None:
    """The ``count`` different worlds of highest weight, best first.

    Each world is found anew with the earlier ones forbidden. One that was not proven best when the
    time ended has ``optimal=False`` and a ``bound`` that no remaining world exceeds, and ends the
    search. None if the solver was given too little time to find any world, or if the tables are too
    large to hand over; an empty tuple if no world is possible.
    """
    network = split(model.graph)
    if not network.n_nodes:
        return (World(np.empty(0, dtype=np.int32), 0.0),)
    if _entries(network) > _LARGEST_TABLES:
        return None
    costs = _costs(network)
    worlds: list[World] = []
    taken: list[list[int]] = []
    while len(worlds) < count:
        try:
            with within(seconds_left() / (count - len(worlds))):
                found = _best(network, costs, taken)
        except OutOfTime:
            found = None
        if found is None:
            return tuple(worlds) or None
        if not found[0]:
            break
        taken.append(found[0])
        worlds.append(_world(model, network, *found))
        if not worlds[-1].optimal:
            break
    return tuple(worlds)


def _world(model: GroundModel, network: Network, states: list[int], bound: float | None) -> World:
    variables = network.node[: model.graph.n_variables]
    world = np.array(states, dtype=np.int32)[variables]
    weight = float(log_weights(model.graph, node_states(model.graph, world[:, None]))[0])
    if bound is None:
        return World(world, weight)
    return World(world, weight, optimal=False, bound=max(bound, weight))


def _best(network: Network, costs: _Costs, taken: list[list[int]]) -> tuple[list[int], float | None] | None:
    """States of all nodes, and None if they are proven best, else a bound on log weights.

    No states at all if every world is forbidden; None if the time was too short to find one.
    """
    found = solve(Problem(network.card.tolist(), costs.scopes, costs.tables, taken))
    if found.states is None:
        return None
    return found.states, None if found.proven else costs.largest - found.bound / costs.scale


def _entries(network: Network) -> float:
    """How many entries all tables have together, those of functions with their outputs."""
    bits = np.log2(network.card)
    return sum(
        float((2.0 ** np.add.reduceat(bits[node], start[:-1])).sum()) if len(node) else 0.0
        for start, node in (
            (network.scope_start, network.scope),
            (network.family_start, network.family),
        )
    )


def _costs(network: Network) -> _Costs:
    logs = [_table(network, f) for f in range(network.n_factors)]
    finite = [table[table > -np.inf] for table in logs]
    spread = sum(float(np.ptp(part)) for part in finite if len(part))
    largest = [float(part.max()) if len(part) else 0.0 for part in finite]
    scale = 10.0 ** min(_DIGITS, math.floor(math.log10(_LARGEST_COST / max(spread, 1e-9))))
    tables = [np.rint((high - table) * scale).tolist() for high, table in zip(largest, logs, strict=True)]
    scopes = [network.scope[a:b].tolist() for a, b in itertools.pairwise(network.scope_start)]
    families = [network.family[a:b].tolist() for a, b in itertools.pairwise(network.family_start)]
    functions = [_function(network, g) for g in range(network.n_functions)]
    return _Costs(scopes + families, tables + functions, scale, sum(largest))


def _table(network: Network, factor: int) -> FloatArray:
    first, last = network.scope_start[factor : factor + 2]
    at = network.table_at[factor]
    return network.table[at : at + math.prod(network.card[network.scope[first:last]].tolist())]


def _function(network: Network, g: int) -> list[float]:
    """The costs over inputs and output of a function: all but its graph is forbidden."""
    first, last = network.family_start[g : g + 2]
    cards = network.card[network.family[first:last]].tolist()
    size = math.prod(cards[:-1])
    costs = np.full((size, cards[-1]), _FORBIDDEN)
    at = network.map_at[g]
    costs[np.arange(size), network.map[at : at + size]] = 0.0
    return costs.ravel().tolist()
