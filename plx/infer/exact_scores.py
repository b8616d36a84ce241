"""Exact log weights of worlds, and what rounding leaves open where doubles or integers chose the best.

Solvers add numbers of limited precision, so worlds of nearly one weight may come in the wrong order. Where
the weights are whole multiples of a unit and no world has 2^53 of them, solvers get whole numbers and round
nothing. Elsewhere a sum may be off by ``rounding``, and a world is proven best only if its exact log weight
is at least what any world that was not listed can have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cmp_to_key

import numpy as np
import numpy.typing as npt

from plx.graph.model import FactorGraph, GroundModel
from plx.graph.ragged import owners
from plx.graph.tables import total_weight
from plx.graph.worlds import node_states, scope_strides
from plx.infer.inference import World
from plx.values import IMPOSSIBLE, FloatArray, IntArray, distinct
from plx.weights import Number, compare, to_float

States = npt.NDArray[np.int32]
"""Worlds as columns, shape (V, n)."""

LARGEST_WHOLE = 2.0**52
"""Whole numbers that doubles add without rounding, with room for one more."""

CLOSE = 32
"""So many worlds more than asked for are looked at where rounding may have confused their order."""


@dataclass(frozen=True)
class Sums:
    """A graph whose tables are in ``unit``, and how far the sum of a world may be off, in log weight."""

    graph: FactorGraph
    unit: float
    rounding: float


def sums_of(model: GroundModel) -> Sums:
    """The tables of a model as whole numbers of a unit, if they fit; else as they are."""
    graph = model.graph
    unit = _unit(model)
    if unit is not None:
        whole = graph._replace(table=_in_units(model, unit))
        if _reach(whole) < LARGEST_WHOLE:
            return Sums(whole, to_float(unit), 0.0)
    steps = graph.n_factors + 2 * graph.n_nodes + 4
    return Sums(graph, 1.0, steps * 2.0**-52 * _reach(graph))


def ranked(model: GroundModel, states: States) -> list[World]:
    """Worlds (V, n) with their log weights, the constant left out, in the exact order, best first."""
    totals: list[Number] = [model.values[i] for i in _totals(model, states).tolist()]  # type: ignore[misc]
    key = cmp_to_key(compare)
    order = sorted(range(len(totals)), key=lambda i: key(totals[i]), reverse=True)
    return [World(states[:, i].copy(), to_float(totals[i])) for i in order]


def proven(
    model: GroundModel,
    sums: Sums,
    count: int,
    listed: Callable[[int], tuple[States, FloatArray]],
    affordable: Callable[[int], bool] = lambda k: True,
) -> tuple[World, ...]:
    """The ``count`` best worlds, best first, each with a proof or a bound.

    ``listed(k)`` gives the k worlds of the largest sums, largest first, and these sums in units.
    """
    more = 1 if sums.rounding and affordable(count + 1) else 0
    states, totals = listed(count + more)
    worlds, ceiling = ranked(model, states), _ceiling(sums, totals, count + more)
    if not _is_proven(worlds[:count], ceiling) and affordable(count + CLOSE):
        states, totals = listed(count + CLOSE)
        worlds, ceiling = ranked(model, states), _ceiling(sums, totals, count + CLOSE)
    return tuple(bounded(world, ceiling) for world in worlds[:count])


def bounded(world: World, ceiling: float) -> World:
    """The world, without a proof if others may have a log weight of up to ``ceiling``, which is more."""
    return world if world.log_weight >= ceiling else replace(world, optimal=False, bound=ceiling)


def told(worlds: tuple[World, ...], way: str) -> tuple[tuple[World, ...], str]:
    """The worlds of a search that ended, and what is proven of them."""
    open_ = [world for world in worlds if not world.optimal]
    if not open_:
        return worlds, f"the most probable world is proven best, by {way}"
    within = max(world.bound - world.log_weight for world in open_ if world.bound is not None)
    return worlds, (
        f"the most probable world was found by {way}, and is best to rounding: no other has a log weight"
        f" that is larger by more than {within:.2g}"
    )


def _is_proven(worlds: list[World], ceiling: float) -> bool:
    return not worlds or worlds[-1].log_weight >= ceiling


def _ceiling(sums: Sums, totals: FloatArray, wanted: int) -> float:
    """The largest log weight of worlds that are not listed, if it may be above that of one that is."""
    if not sums.rounding or len(totals) < wanted:
        return -math.inf
    return float(totals[-1]) * sums.unit + 2 * sums.rounding


def _totals(model: GroundModel, states: States) -> IntArray:
    """The ids of the exact log weights of worlds, shape (n,)."""
    graph, nodes = model.graph, node_states(model.graph, states)
    stride = scope_strides(graph)
    first, once = graph.table_start[graph.table_of], np.ones(graph.n_factors, dtype=np.int64)
    owner = owners(graph.scope_start)
    out = []
    for world in nodes.T:
        entry = first.copy()
        np.add.at(entry, owner, stride * world[graph.scope])
        out.append(total_weight(model.values, graph.weight[entry], once))
    return np.array(out, dtype=np.int64)


def _unit(model: GroundModel) -> Fraction | None:
    """The largest number of which all weights are whole multiples; None if there is none, or it is tiny."""
    weights = model.graph.weight
    numbers = [model.values[int(i)] for i in distinct(weights[weights != IMPOSSIBLE])]
    if not all(isinstance(number, int | Fraction) for number in numbers):
        return None
    top, bottom = 0, 1
    for number in numbers:
        exact = Fraction(number)  # type: ignore[arg-type]
        scale = math.lcm(bottom, exact.denominator)
        top = math.gcd(top * (scale // bottom), exact.numerator * (scale // exact.denominator))
        bottom = scale
        if bottom > LARGEST_WHOLE:
            return None
    return Fraction(top, bottom) if top else Fraction(1)


def _in_units(model: GroundModel, unit: Fraction) -> FloatArray:
    """The tables of a graph in a unit; what is past all doubles is past every limit, too."""
    ids = distinct(model.graph.weight)
    in_units = [
        -np.inf if i == IMPOSSIBLE else to_float(Fraction(model.values[i]) / unit)  # type: ignore[arg-type]
        for i in ids.tolist()
    ]
    return np.array(in_units)[np.searchsorted(ids, model.graph.weight)]


def _reach(graph: FactorGraph) -> float:
    """The largest sum, up or down, that a world may have."""
    size = np.where(graph.table > -np.inf, np.abs(graph.table), 0.0)
    per_table = np.maximum.reduceat(size, graph.table_start[:-1]) if len(size) else size
    return float(per_table[graph.table_of].sum())
