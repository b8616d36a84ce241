"""Worlds at which every other ladder begins: much colder than any that is sampled.

Ladders that begin at random err towards what is hot until they have mixed, these towards what is cold. Where
both say the same, neither errs much.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.model import FactorGraph
from plx.graph.worlds import log_weights, node_states
from plx.infer.tempering.ladders import Ladders, Updates, ladders_at
from plx.infer.tempering.limits import COLD, GROWING, QUENCH
from plx.infer.tempering.soft import Path
from plx.values import FloatArray

States = npt.NDArray[np.integer]


def cold(ladders: int) -> npt.NDArray[np.bool_]:
    """Which ladders begin cold."""
    odd: npt.NDArray[np.bool_] = np.arange(ladders) % 2 == 1
    return odd


def begun(updates: Updates, states: States, seed: int, threads: int | None) -> Ladders:
    """Ladders at one temperature of the plain path, each at its first world: those that begin hot at these
    ``states`` [V, ladders]."""
    cooled = replace(updates, path=Path(), part=None)
    ladders = ladders_at(cooled, states, np.array([COLD]), seed, threads)
    for _ in range(QUENCH):
        ladders.rounds(1, 1)
        if deadline.over():
            break
    begins_cold = cold(ladders.ladders)
    hot = np.flatnonzero(~begins_cold)
    ladders.put(states[:, hot], hot)
    graph = updates.plan.graph
    if graph.n_factors <= GROWING and (world := grown(graph)) is not None:
        weight = log_weights(graph, node_states(graph, world[:, None]))[0]
        colder = np.flatnonzero(begins_cold & (ladders.weights()[-1] < weight))
        ladders.put(np.repeat(world[:, None], len(colder), axis=1), colder)
    return ladders


def grown(graph: FactorGraph) -> States | None:
    """A world in which each unknown fits those before it, breadth first; None where a hard rule forbids it.

    Where factors over two unknowns do not frustrate each other it is the most probable world of these, also
    if they favour that states differ. Only factors over one or two unknowns are looked at.
    """
    gain = [np.zeros(card) for card in graph.card[: graph.n_variables].tolist()]
    near = _neighbours(graph, gain)
    states = np.full(graph.n_variables, -1, dtype=np.int64)
    for root in sorted(range(graph.n_variables), key=lambda v: -float(np.ptp(gain[v]))):
        waiting = deque([root])
        while waiting:
            v = waiting.popleft()
            if states[v] >= 0:
                continue
            states[v] = state = int(gain[v].argmax())
            for other, table in near[v]:
                if states[other] < 0:
                    gain[other] += table[state]
                    waiting.append(other)
    possible = np.isfinite(log_weights(graph, node_states(graph, states[:, None])))[0]
    return states if possible else None


def _neighbours(graph: FactorGraph, gain: list[FloatArray]) -> list[list[tuple[int, FloatArray]]]:
    """For each variable the others that it shares a factor with, and tables [own state, other's state]; what
    factors over one variable say is added to its gain."""
    near: list[list[tuple[int, FloatArray]]] = [[] for _ in gain]
    table = np.where(np.isfinite(graph.table), graph.table, -1e9)
    arity = np.diff(graph.scope_start)
    for f in np.flatnonzero(arity <= 2).tolist():
        scope = graph.scope[graph.scope_start[f] : graph.scope_start[f + 1]].tolist()
        if not scope or max(scope) >= graph.n_variables:
            continue
        t = int(graph.table_of[f])
        own = table[graph.table_start[t] : graph.table_start[t + 1]]
        if len(scope) == 1:
            gain[scope[0]] += own
            continue
        pair = own.reshape(len(gain[scope[0]]), len(gain[scope[1]]))
        near[scope[0]].append((scope[1], pair))
        near[scope[1]].append((scope[0], pair.T))
    return near
