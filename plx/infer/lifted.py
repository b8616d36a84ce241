"""Lifted sampling: Gibbs on the reduced model, averaged over orbits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plx.ground.assemble import variable_cards
from plx.ground.graph import GroundModel
from plx.ground.rows import starts
from plx.infer import ruled
from plx.infer.averages import Averages, averages
from plx.lift.find import find_symmetry, reduced_group
from plx.lift.reduced import Reduced, reduced_model
from plx.lift.slots import Slot, slots
from plx.values import FloatArray

SECONDS = 20.0
"""Seconds that the search for symmetries may take before chains start without those not found."""


_EVERY = 12
"""Sweeps for each draw that counts as many nodes as there are unknowns."""


@dataclass
class LiftedChains:
    """Chains on the reduced model; ``every`` sweeps are made for each one that is asked for."""

    chains: ruled.Chains
    averages: Averages
    every: int
    notes: tuple[str, ...]


def init(model: GroundModel, seed: int, chains: int, threads: int | None = None) -> LiftedChains:
    """Merge interchangeable values, find the symmetries of what is left, start chains there."""
    reduced = reduced_model(model)
    symmetry = find_symmetry(reduced.model, "vv", SECONDS)
    found = averages(reduced, symmetry, find_slots(reduced))
    started = ruled.init(found.model, seed, chains, threads)
    return LiftedChains(started, found, _thinning(found), symmetry.notes)


def find_slots(reduced: Reduced) -> list[Slot]:
    """Where the classes of interchangeable unknowns differ in size; what is not found in time is left out."""
    quotient = reduced.quotient
    multiplicity = quotient.multiplicity[quotient.pair_of()]
    if (multiplicity == 1).all():
        return []
    group, _ = reduced_group(reduced.given.values, quotient, SECONDS)
    return list(slots(group, starts(variable_cards(quotient.graph)), np.log(multiplicity)))


def step(chains: LiftedChains, draws: int, thin: int) -> FloatArray:
    """Counts for the targets of the given model, averaged, shape (chains, Σ states)."""
    return chains.averages.apply(ruled.step(chains.chains, draws, thin * chains.every), draws)


def _thinning(found: Averages) -> int:
    """Sweeps per draw, so that recording costs no more than sweeping, as it does in any run.

    Not less: sweeps that are not recorded are lost. With ten per draw, the KL divergence of sc_20_10 after a
    second is ten times that with one.
    """
    graph = found.model.graph
    nodes = np.array([t.node for query in found.model.queries for t in query.targets], dtype=np.int64)
    derived = np.unique(nodes[nodes >= graph.n_variables]) - graph.n_variables
    work = len(nodes) + int(np.diff(graph.input_start)[derived].sum())
    sweep = max(1, graph.n_variables, len(graph.scope) // 4)  # updates, or what they read if that is more
    return min(_EVERY, max(1, work // (2 * sweep)))
