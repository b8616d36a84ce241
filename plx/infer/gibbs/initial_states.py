"""A first state for every chain that satisfies every hard rule.

In a Bayesian network worlds are drawn forward, each unknown given its parents; without evidence that is all.

Else a SAT solver says first whether there is one. Then all chains search at once from such states, or
random ones: Gibbs sweeps on the hard rules alone, broken at a growing price. A chain that does not get there
takes a solution of the solver that keeps some of its unknowns. So does every second chain, and
these show the states that queries ask about: where the rules separate worlds, or nearly so, chains
then disagree, and R-hat tells.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.deadline import OutOfTimeError, seconds_left, within
from plx.errors import Diagnostic, PlxError
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.node_map import nodes_of
from plx.graph.ragged import segments
from plx.graph.subgraph import below
from plx.graph.worlds import log_weights, node_states
from plx.infer.gibbs.forward import forward_states, is_network
from plx.infer.hard.contradiction import contradiction
from plx.infer.problem import Problem
from plx.infer.streams import Stream, generator
from plx.values import FloatArray, IntArray

_PRICES = (2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 14.0, 16.0)
"""Log weight that an impossible entry costs, round by round."""

_SWEEPS = 8
"""Sweeps of each round."""

_SPREADING = 0.25
"""The share of the time in which starts are moved apart, once one is known."""

_ROWS = 1 << 13
"""Variables whose random states are drawn together, for all chains, so that they stay in the cache."""

_LARGE, _FEW = 10_000, 8
"""Where hard rules are about more unknowns than this, only so many chains start apart."""


def initial_states(
    problem: Problem, seed: int, chains: int, threads: int | None = None
) -> npt.NDArray[np.integer]:
    """States of the variables of positive probability, shape (V, chains), different for every chain.

    Where the time to search apart is over, several may start at one world. Raises NoWorldError, naming rules
    that clash, if there is no such state, and PlxError if none is found by the deadline.
    """
    model, graph = problem.model, problem.graph
    first: npt.NDArray[np.integer]
    if is_network(model):
        first, is_exact = forward_states(model, seed, chains)
        if is_exact:
            return first
    else:
        first = _random_worlds(graph, seed, chains)
    if not len(problem.parts.hard_factors):
        return first
    states = first.astype(np.int32, copy=False)
    from plx.infer.hard.sat import Satisfier

    rules, ruled = problem.parts.hard_part
    satisfier = Satisfier(rules)
    try:
        world = satisfier.near(states[ruled, 0])
    except OutOfTimeError:
        raise _undecided() from None
    if world is None:
        raise contradiction(model)
    with within(_SPREADING * seconds_left()):
        searched, broken = _search(
            Problem(replace(model, graph=rules, queries=())), states[ruled], seed, threads
        )
        wishes = _wishes(model, ruled, seed)
        for chain in range(chains):
            apart = chain % 2 == 1 and (chain < _FEW or len(ruled) <= _LARGE)
            near = states[ruled, chain] if apart else searched[:, chain]
            states[ruled, chain] = world if broken[chain] else searched[:, chain]
            if broken[chain] or apart:
                wish = tuple(wishes[chain // 2 % len(wishes)]) if len(wishes) and apart else None
                with suppress(OutOfTimeError):
                    states[ruled, chain] = satisfier.spread(near, generator(seed, Stream.PINS, chain), wish)
    return states


def _undecided() -> PlxError:
    message = "no world that keeps every hard rule was found in the time given; there may be none"
    return PlxError(
        Diagnostic(message, hint="give the run more --seconds, or state the rules in another way")
    )


def _wishes(model: GroundModel, ruled: IntArray, seed: int) -> IntArray:
    """What first states should show, so that no possible answer is overlooked: rows (position in ``ruled``,
    state) for all states of ruled variables that queries depend on, in random order."""
    graph = model.graph
    depends = below(graph, nodes_of(model.queries))
    position = np.flatnonzero(depends[ruled])
    card = graph.card[ruled[position]].astype(np.int64)
    wishes = np.stack([np.repeat(position, card), segments(np.zeros_like(card), card)], axis=1)
    shuffled: IntArray = generator(seed, Stream.WISHES).permutation(wishes)
    return shuffled


def _random_worlds(graph: FactorGraph, seed: int, chains: int) -> npt.NDArray[np.unsignedinteger]:
    """Each variable uniform over its states, shape (V, chains), in as few bytes as hold them; every second
    chain starts opposite to the one before it."""
    card = graph.card[: graph.n_variables]
    states = np.empty((len(card), chains), dtype=np.min_scalar_type(max(1, int(card.max(initial=1)) - 1)))
    random = [generator(seed, Stream.FIRST_STATES, chain) for chain in range(0, chains, 2)]
    for first in range(0, len(card), _ROWS):
        rows, size = states[first : first + _ROWS], card[first : first + _ROWS]
        for k, one in enumerate(random):
            rows[:, 2 * k] = one.random(len(size)) * size
        rows[:, 1::2] = (size - 1)[:, None] - rows[:, : chains - chains % 2 : 2]
    return states


def _search(
    rules: Problem, states: npt.NDArray[np.int32], seed: int, threads: int | None
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """For every chain the first state that breaks no rule, or else its last; and which these are."""
    from plx.infer.gibbs.chains import chains_at, sweep
    from plx.infer.gibbs.compiled import compile_model

    found = states.copy()
    broken = _cost(rules.graph, states) > 0
    if not broken.any():
        return found, broken
    plan = compile_model(rules)
    chains = chains_at(plan, states, seed, threads, stream=Stream.SEARCH)
    for price in _PRICES:
        chains.plan = plan.with_potentials(np.where(rules.graph.table == -np.inf, -price, 0.0))
        sweep(chains, _SWEEPS)
        now = chains.states
        found[:, broken] = now[:, broken]
        broken = broken & (_cost(rules.graph, now) > 0)
        if not broken.any() or deadline.over():
            break
    return found, broken


def _cost(rules: FactorGraph, states: npt.NDArray[np.int32]) -> FloatArray:
    """How many rules each state breaks, shape (chains,)."""
    broken = rules._replace(table=np.where(rules.table == -np.inf, 1.0, 0.0))
    return log_weights(broken, node_states(rules, states))
