"""Which unknowns move together, such that no factor is about more than two of them, all others given.

Wide factors are then factors over one or two unknowns, whose tables the others choose. Unknowns that counts
or other derived nodes of factors depend on stay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plx.graph.ragged import owners
from plx.graph.rows import BoolArray
from plx.graph.subgraph import below
from plx.infer.problem import Parts
from plx.values import IntArray


class Entries(NamedTuple):
    """Where factors meet unknowns that may move: factor and variable of each entry of a scope."""

    factor: IntArray
    variable: IntArray
    place: IntArray  # in graph.scope


def entries(parts: Parts, movable: BoolArray) -> Entries:
    """The entries of movable variables, in order."""
    graph = parts.graph
    variable = graph.scope < graph.n_variables
    place = np.flatnonzero(variable & movable[np.where(variable, graph.scope, 0)])
    return Entries(owners(graph.scope_start)[place], graph.scope[place].astype(np.int64), place)


def movable(parts: Parts) -> BoolArray:
    """Which variables no derived node of a factor depends on, shape (V,)."""
    graph = parts.graph
    live = graph.n_variables + np.flatnonzero(parts.live)
    free: BoolArray = ~below(graph, live)[: graph.n_variables]
    return free


def mobile_set(parts: Parts, free: BoolArray, first: BoolArray) -> BoolArray:
    """A largest set of the variables ``free`` with at most two in each factor: those that are ``first``, then
    those that are in most factors, ties broken at random but repeatably.

    As in Luby 1986, *A simple parallel algorithm for the maximal independent set problem*, in rounds.
    """
    graph = parts.graph
    found = entries(parts, free)
    many = np.bincount(found.factor, minlength=graph.n_factors)[found.factor] > 2
    factor, variable = found.factor[many], found.variable[many]
    degree = np.bincount(found.variable, minlength=graph.n_variables)
    tie = np.random.default_rng(0).permutation(graph.n_variables)
    rank = np.empty(graph.n_variables, dtype=np.int64)
    rank[np.lexsort((tie, -degree, ~first))] = np.arange(graph.n_variables)
    chosen, open_ = free.copy(), np.zeros(graph.n_variables, dtype=bool)
    open_[variable] = True
    chosen[variable] = False
    while open_.any():
        left = 2 - np.bincount(factor, weights=chosen[variable], minlength=graph.n_factors).astype(np.int64)
        waits = open_[variable]
        order = np.lexsort((rank[variable[waits]], factor[waits]))
        mine, who = factor[waits][order], variable[waits][order]
        head = np.flatnonzero(np.diff(mine, prepend=-1))
        place = np.arange(len(mine)) - np.repeat(head, np.diff(np.append(head, len(mine))))
        beaten = np.zeros(graph.n_variables, dtype=bool)
        beaten[who[place >= left[mine]]] = True
        taken = open_ & ~beaten
        chosen |= taken
        full = np.bincount(factor, weights=chosen[variable], minlength=graph.n_factors) >= 2
        out = np.zeros(graph.n_variables, dtype=bool)
        out[variable[full[factor]]] = True
        open_ &= ~(taken | out)
    return chosen
