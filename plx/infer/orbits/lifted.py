"""Lifted sampling: leaves are summed out, values merged, the rest is sampled and averaged over orbits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plx.deadline import seconds_left
from plx.graph.assemble import variable_cards
from plx.graph.node_map import nodes_of
from plx.graph.queries import blocks, singles
from plx.graph.ragged import owners, starts
from plx.infer.chains import Chains
from plx.infer.gibbs import blocked
from plx.infer.gibbs.chains import SteppedChains
from plx.infer.inference import Standing
from plx.infer.orbits.collapse import Collapsed, collapse
from plx.infer.orbits.leaf_conditionals import LeafConditionals, leaf_conditionals
from plx.infer.orbits.orbit_averages import OrbitAverages, orbit_averages
from plx.infer.orbits.search_time import symmetry_seconds
from plx.infer.orbits.slot_counts import SlotCounts
from plx.infer.problem import Problem
from plx.lift.exchangeable_sets import ExchangeableSet, exchangeable_sets
from plx.lift.find import find_symmetry, no_symmetry, reduced_group
from plx.lift.reduced import Reduced, reduced_model
from plx.lift.symmetry import Symmetry
from plx.values import FloatArray, IntArray

SECONDS = 20.0
"""Seconds that each search for symmetries may take at most."""

_LEAST = 0.02
"""With fewer seconds no search is begun."""

_NO_TIME = "there was no time to search for symmetries"

_SETTING_UP = 1e-6
"""Seconds that it takes for an unknown or a factor of a large model to sum out leaves, merge values and plan
averages, before any search."""

_IMAGED = 256
"""What leaves depend on is searched for images for at most so many different things."""

_EVERY = 12
"""Sweeps for each draw that counts as many nodes as there are unknowns."""


@dataclass
class LiftedChains(Chains):
    """Chains on the reduced model; ``every`` sweeps are made for each one that is asked for.

    Where there was no time to set that up they are on the model itself, with no ``averages``.
    """

    chains: SteppedChains
    averages: OrbitAverages | None
    every: int
    symmetry: Symmetry | None  # of the reduced model

    def notes(self) -> tuple[str, ...]:
        """What the search for symmetries left out."""
        return (_NO_TIME,) if self.symmetry is None else self.symmetry.notes

    def pooled(self) -> FloatArray | None:
        """Of how many counts each one is an average, shape (Σ states,)."""
        return None if self.averages is None else self.averages.pooled

    def sweeps(self) -> int:
        """Sweeps that are made for each one asked for."""
        return self.every

    def standing(self) -> Standing:
        """Where the chains stand in the reduced model. Answers are averages over its orbits."""
        return self.chains.standing(None if self.symmetry is None else self.symmetry.orbits)

    def taken(self, first: int, last: int, threads: int) -> LiftedChains:
        """Some of the chains, see `Chains.taken`."""
        return replace(self, chains=self.chains.taken(first, last, threads))


def init(problem: Problem, seed: int, chains: int, threads: int | None = None) -> LiftedChains:
    """Sum out leaves, merge interchangeable values, find the symmetries, start chains on what is left.

    Where that would take most of the time there is, chains start on the model as it is.
    """
    if _SETTING_UP * (problem.graph.n_variables + problem.graph.n_factors) > seconds_left() / 2:
        return LiftedChains(blocked.init(problem, seed, chains, threads), None, 1, None)
    setting = set_up(collapse(problem.model))
    scattered = _scattered(setting)
    if len(scattered):
        setting = set_up(collapse(problem.model, scattered))
    found = orbit_averages(setting.leaves, setting.reduced, setting.symmetry, setting.slots)
    started = blocked.init(Problem(found.model), seed, chains, threads)
    return LiftedChains(started, found, _thinning(found), setting.symmetry)


class Setting(NamedTuple):
    """What the chains are made from."""

    leaves: LeafConditionals
    reduced: Reduced
    symmetry: Symmetry
    slots: list[ExchangeableSet]


def set_up(collapsed: Collapsed) -> Setting:
    """The reduced model of what is left, its symmetries, and what leaves depend on in it."""
    reduced = reduced_model(collapsed.model)
    seconds = symmetry_seconds(SECONDS)
    if seconds < _LEAST:
        symmetry = no_symmetry(reduced.model, "vv", _NO_TIME)
        return Setting(leaf_conditionals(collapsed, reduced), reduced, symmetry, [])
    symmetry = find_symmetry(reduced.model, "vv", seconds)
    return Setting(leaf_conditionals(collapsed, reduced), reduced, symmetry, find_slots(reduced))


def _scattered(setting: Setting) -> IntArray:
    """Leaves that had better stay: too many that depend on unknowns that move in orbits, but in no slot.

    As unknowns they are averaged over their own orbits.
    """
    leaves, symmetry = setting.leaves, setting.symmetry
    if len(leaves.table) <= _IMAGED:
        return np.empty(0, dtype=np.int64)
    moves = np.bincount(symmetry.orbits)[symmetry.orbits] > 1
    variable = owners(symmetry.start)
    moved = np.append(np.bincount(variable[moves], minlength=len(symmetry.start)) > 0, False)
    outside = SlotCounts(setting.slots, symmetry.start).slot_of(leaves) < 0
    imaged = outside & moved[leaves.nodes].any(axis=1)
    if imaged.sum() <= _IMAGED:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero((leaves.of >= 0) & imaged[leaves.of])


def find_slots(reduced: Reduced) -> list[ExchangeableSet]:
    """Where the classes of interchangeable unknowns differ in size; what is not found in time is left out."""
    quotient = reduced.quotient
    multiplicity = quotient.multiplicity[quotient.pair_of()]
    if (multiplicity == 1).all():
        return []
    group, _ = reduced_group(reduced.original.values, quotient, symmetry_seconds(SECONDS))
    return exchangeable_sets(group, starts(variable_cards(quotient.graph)), np.log(multiplicity))


def step(chains: LiftedChains, draws: int, thin: int) -> npt.NDArray[np.number]:
    """Counts for the targets of the original model, averaged, shape (chains, Σ states)."""
    counts = chains.chains.step(draws, thin * chains.every)
    return counts if chains.averages is None else chains.averages.apply(counts, draws)


def _thinning(found: OrbitAverages) -> int:
    """Sweeps per draw, so that recording costs no more than sweeping, as it does in any run.

    Not less: sweeps that are not recorded are lost. With ten per draw, the KL divergence of sc_20_10 after a
    second is ten times that with one.
    """
    graph = found.model.graph
    nodes, queries = nodes_of(found.model.queries), found.model.queries
    derived = nodes[nodes >= graph.n_variables] - graph.n_variables
    asked = sum(len(query.targets) for _, query in singles(queries)) + sum(len(b) for _, b in blocks(queries))
    work = asked + int(np.diff(graph.input_start)[derived].sum())
    sweep = max(1, graph.n_variables, len(graph.scope) // 4)  # updates, or what they read if that is more
    return min(_EVERY, max(1, work // (2 * sweep)))
