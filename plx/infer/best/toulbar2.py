"""The most probable worlds by toulbar2, a solver of weighted constraint networks.

Weights become integer costs, exactly if they are whole multiples of a unit and
fit, else rounded to as many decimals as fit; hard rules and derived nodes become forbidden tuples. The log
weights of the worlds found are computed anew from the model, exactly.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.graph.model import GroundModel
from plx.infer.best.limits import LARGEST_TABLES
from plx.infer.best.solver_process import Problem, Solution, solve
from plx.infer.exact.network import Network
from plx.infer.exact.split import split
from plx.infer.exact_scores import CLOSE, LARGEST_WHOLE, Sums, bounded, ranked, sums_of
from plx.infer.inference import World
from plx.values import FloatArray

_FORBIDDEN = math.inf


@dataclass(frozen=True)
class _Costs:
    """Tables as integer costs: ``cost = round((largest − log weight) · scale)``.

    The cost of a world is off by at most ``rounding``; 0 where all costs are exact.
    """

    scopes: list[list[int]]
    tables: list[list[float]]
    scale: float
    largest: float  # Σ of the largest log weights: the weight of cost 0
    rounding: float

    def log_weight(self, cost: float) -> float:
        """The largest log weight of worlds of at least this cost."""
        return self.largest - (cost - self.rounding) / self.scale


class Found(NamedTuple):
    """Worlds, best first, and whether the time ended before the last of them was proven."""

    worlds: tuple[World, ...]
    timed_out: bool


def installed() -> bool:
    """Whether the extra ``plx[map]`` is there."""
    return importlib.util.find_spec("pytoulbar2") is not None


def search(model: GroundModel, count: int = 1) -> Found | None:
    """The ``count`` different worlds of highest weight, best first.

    Each world is found anew with the earlier ones forbidden. One that was not proven best when the
    time ended has ``optimal=False`` and a ``bound`` that no remaining world exceeds, and ends the
    search. Where costs had to be rounded, the worlds that may be better by that are looked at too.
    None if the solver was given too little time to find any world, or if the tables are too
    large to hand over; no worlds if none is possible.
    """
    sums = sums_of(model)
    network = split(sums.graph)
    if not network.n_nodes:
        return Found((World(np.empty(0, dtype=np.int32), 0.0),), False)
    if _entries(network) > LARGEST_TABLES:
        return None
    solver = _Solver(network, _costs(network, sums))
    bound: float | None = None
    while len(solver.taken) < count and bound is None:
        found, bound = solver.best(share=count - len(solver.taken))
        if found is None:
            break
    if not solver.taken:
        return None if bound is not None else Found((), False)
    timed_out = bound is not None
    ceiling = solver.ceiling() if bound is None else bound
    variables = network.node[: model.graph.n_variables]
    states = np.array(solver.taken, dtype=np.int32)[:, variables].T
    worlds = ranked(model, states)[:count]
    if timed_out:
        *first, last = worlds
        first = [bounded(world, ceiling) for world in first] if solver.costs.rounding else first
        return Found((*first, replace(last, optimal=False, bound=max(ceiling, last.log_weight))), True)
    return Found(tuple(bounded(world, ceiling) for world in worlds), False)


class _Solver:
    """Searches for one world after another; ``taken`` are the states of all nodes in those found."""

    def __init__(self, network: Network, costs: _Costs) -> None:
        self.network, self.costs = network, costs
        self.taken: list[list[int]] = []

    def best(self, below: float | None = None, share: int = 1) -> tuple[list[int] | None, float | None]:
        """The next best world, if any of a cost ``below`` that is left; and a bound on log weights if it
        was not proven best in one of so many shares of the time."""
        cards, costs = self.network.card.tolist(), self.costs
        try:
            with within(seconds_left() / share):
                found = solve(Problem(cards, costs.scopes, costs.tables, self.taken, below))
        except OutOfTimeError:
            found = Solution(None, proven=False)
        if found.states:
            self.taken.append(found.states)
        return found.states or None, None if found.proven else costs.log_weight(found.bound)

    def ceiling(self) -> float:
        """The largest log weight of worlds that were not found, if it may be above that of one that was."""
        if not self.costs.rounding:
            return -math.inf
        worst = max(self._cost(states) for states in self.taken)
        below = worst + 2 * math.ceil(self.costs.rounding) + 1
        for _ in range(CLOSE):
            found, bound = self.best(below)
            if found is None:
                return self.costs.log_weight(below) if bound is None else bound
        return self.costs.log_weight(worst)

    def _cost(self, states: list[int]) -> float:
        """The cost of a world."""
        cards = self.network.card
        return sum(
            table[int(np.ravel_multi_index([states[v] for v in scope], cards[scope]))]
            for scope, table in zip(self.costs.scopes, self.costs.tables, strict=True)
        )


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


def _costs(network: Network, sums: Sums) -> _Costs:
    logs = [_table(network, f) for f in range(network.n_factors)]
    finite = [table[table > -np.inf] for table in logs]
    spread = sum(float(np.ptp(part)) for part in finite if len(part))
    largest = [float(part.max()) if len(part) else 0.0 for part in finite]
    scale = 1.0 if not sums.rounding else 10.0 ** math.floor(math.log10(LARGEST_WHOLE / max(spread, 1e-9)))
    tables = [np.rint((high - table) * scale).tolist() for high, table in zip(largest, logs, strict=True)]
    scopes = [network.scope[a:b].tolist() for a, b in itertools.pairwise(network.scope_start)]
    families = [network.family[a:b].tolist() for a, b in itertools.pairwise(network.family_start)]
    functions = [_function(network, g) for g in range(network.n_functions)]
    return _Costs(
        scopes + families,
        tables + functions,
        scale / sums.unit,
        math.fsum(largest) * sums.unit,
        network.n_factors + sums.rounding * scale if sums.rounding else 0.0,
    )


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
