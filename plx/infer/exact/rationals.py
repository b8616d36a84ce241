"""Exact answers as fractions, of models of few worlds: each is weighed by how often it has each weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.rows import unique_rows
from plx.graph.sizes import joint_bits
from plx.graph.worlds import node_states
from plx.infer.problem import Problem
from plx.values import IMPOSSIBLE, IntArray, distinct
from plx.weights import exponential

_MOST_BITS = 18.0
"""log₂ of the worlds of unknowns that are listed."""


States = npt.NDArray[np.int32]
"""States of nodes, worlds as columns."""


class TooManyError(Exception):
    """There are too many worlds; the message says how many may be listed."""


def rationals(problem: Problem) -> tuple[Fraction, list[tuple[Fraction, ...]]]:
    """The sum over all worlds, and for each query the probabilities of the joint states of what evidence left
    open, in C order; none for `map`, and none of anything if no world is possible.

    Raises TooManyError, and NotRationalError for a weight whose exponential is no ratio.
    """
    model, graph = problem.model, problem.graph
    cards = graph.card[: graph.n_variables]
    if joint_bits(cards) > _MOST_BITS:
        raise TooManyError(f"there are more than {2**_MOST_BITS:,.0f} worlds to list")
    count = math.prod(cards.tolist())
    worlds = np.zeros((graph.n_variables, count), dtype=np.int32)
    if len(cards):
        worlds[:] = np.unravel_index(np.arange(count), cards.tolist())
    nodes = node_states(graph, worlds)
    row, weights = _weights(model, nodes)
    z = _total(row, weights)
    if not z:
        return z, []
    states = problem.targets.states(graph.card, nodes)
    found = []
    for query, target in zip(model.queries, problem.targets.of_query.tolist(), strict=True):
        size = int(np.diff(problem.targets.offset)[target])
        mine = states[target]
        shares = tuple(_total(row[mine == state], weights) / z for state in range(size))
        found.append((z,) if query.kind == "logz" else () if query.kind == "map" else shares)
    return z, found


def _total(row: IntArray, weights: Sequence[Fraction]) -> Fraction:
    often = np.bincount(row, minlength=len(weights)).tolist()
    return sum((n * weight for n, weight in zip(often, weights, strict=True) if n), Fraction(0))


def _weights(model: GroundModel, nodes: States) -> tuple[IntArray, list[Fraction]]:
    """Which of some weights each world has, and these."""
    graph, values = model.graph, model.values
    ids = distinct(graph.weight)
    often = np.zeros((nodes.shape[1], len(ids)), dtype=np.int32)
    everyone = np.arange(nodes.shape[1])
    for factor in range(graph.n_factors):
        deadline.check()
        entries = _entries(graph, factor, nodes)
        often[everyone, np.searchsorted(ids, graph.weight[entries])] += 1
    first, row = unique_rows(often)
    odds = [Fraction(0) if one == IMPOSSIBLE else exponential(values[one]) for one in ids.tolist()]  # type: ignore[arg-type]
    constant = int(model.constant_weight)
    whole = Fraction(0) if constant == IMPOSSIBLE else exponential(values[constant])  # type: ignore[arg-type]
    powers = [[(x, n) for x, n in zip(odds, some, strict=True) if n] for some in often[first].tolist()]
    return row, [math.prod((x**n for x, n in some), start=whole) for some in powers]


def _entries(graph: FactorGraph, factor: int, nodes: States) -> IntArray:
    """The table entry of a factor in each world."""
    at = np.zeros(nodes.shape[1], dtype=np.int64)
    for node in graph.scope_of(factor).tolist():
        at = at * int(graph.card[node]) + nodes[node]
    return at + int(graph.table_start[graph.table_of[factor]])
