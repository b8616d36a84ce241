"""The non-equicardinal chain of the paper: Gibbs on the reduced model, and weighed moves along its orbits.

A symmetry of the reduced model proposes a state that stands for more or fewer original states than the
present one, so it is accepted as Metropolis & Hastings do, with min(1, c(proposed)/c(present)),
c the number of original states behind a reduced one. Each piece of the group proposes for itself: one
proposal for the whole model is hardly ever accepted once the model is large. A proposal is a uniform
element of a group or, by a fair coin, its inverse, so it is symmetric. Pieces that permute blocks in
all ways draw the arrangement in proportion to c, and refuse nothing. Where hard rules define unknowns,
which are then computed, the moves are along symmetries that keep c. Values within a class are equally
likely: their counts are shared out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plx.graph.assemble import variable_cards
from plx.graph.ragged import starts
from plx.infer.chains import Chains
from plx.infer.gibbs import blocked
from plx.infer.inference import Standing
from plx.infer.orbits import orbital
from plx.infer.orbits.collapse import not_collapsed
from plx.infer.orbits.group_moves import moves_of
from plx.infer.orbits.leaf_conditionals import leaf_conditionals
from plx.infer.orbits.orbit_averages import OrbitAverages, orbit_averages
from plx.infer.orbits.search_time import symmetry_seconds
from plx.infer.problem import Problem
from plx.lift.find import no_symmetry, reduced_group
from plx.lift.reduced import reduced_model
from plx.values import FloatArray


@dataclass
class NecChains(Chains):
    """Chains on the reduced model, and what shares their counts out."""

    chains: orbital.OrbitalChains
    shares: OrbitAverages

    def notes(self) -> tuple[str, ...]:
        """What was left out, and how many proposals were accepted."""
        tried, accepted = self.chains.accepted.sum(axis=0).tolist()
        if not tried:
            return self.chains.notes()
        share = f"{accepted / tried:.0%}"
        return (*self.chains.notes(), f"{share} of the moves that can be refused were accepted")

    def standing(self) -> Standing:
        """Where the chains stand in the reduced model."""
        return self.chains.standing()

    def taken(self, first: int, last: int, threads: int) -> NecChains:
        """Some of the chains, see `Chains.taken`."""
        return replace(self, chains=self.chains.taken(first, last, threads))

    def update_singly(self, seed: int) -> None:
        """From here on a sweep is one update, of a variable of the reduced model picked at random."""
        self.chains.update_singly(seed)


def init(problem: Problem, seed: int, chains: int, threads: int | None = None) -> NecChains:
    """Merge interchangeable values, find the symmetries of what is left, start chains there."""
    model = problem.model
    reduced = reduced_model(model)
    quotient = reduced.quotient
    shares = orbit_averages(
        leaf_conditionals(not_collapsed(model), reduced),
        reduced,
        no_symmetry(reduced.model, "vv", ""),
    )
    inner = Problem(shares.model)
    started = blocked.init(inner, seed, chains, threads)
    if len(inner.parts.hard_factors):
        return NecChains(orbital.with_symmetries(started, "vv", seed), shares)
    group, notes = reduced_group(model.values, quotient, symmetry_seconds(orbital.SECONDS))
    weight = np.log(quotient.multiplicity[quotient.pair_of()])
    moves, left_out = moves_of(group, starts(variable_cards(quotient.graph)), weight)
    return NecChains(orbital.with_moves(started, moves, seed, (*notes, *left_out)), shares)


def step(chains: NecChains, draws: int, thin: int) -> FloatArray:
    """Moves and sweeps; counts for the targets of the original model, shape (chains, Σ states)."""
    return chains.shares.apply(orbital.step(chains.chains, draws, thin), draws)
