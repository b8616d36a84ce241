"""Replica exchange (parallel tempering), non-reversible: worlds of ladders of chains move between
temperatures.

At inverse temperature β weights are β times as large and hard rules stay; at β = 0 unknowns are independent
but for these. Even and odd pairs of neighbours exchange in turn (Okabe et al. 2001; Syed et al. 2022,
*Non-reversible parallel tempering: a scalable highly parallel MCMC scheme*).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.graph.worlds import log_weights, node_states
from plx.infer.best.quick import LOOKING, has_wide_rules, quick_best
from plx.infer.chains import Bridges, BridgeSums, Chains
from plx.infer.gibbs.blocked import Readout, block_moves, readout, started
from plx.infer.gibbs.chains import gathered, state_type
from plx.infer.gibbs.compiled import CompiledModel, compile_model
from plx.infer.gibbs.initial_states import initial_states
from plx.infer.gibbs.limits import TABLE_ENTRIES
from plx.infer.hard.substitute import Substituted
from plx.infer.inference import Standing, World
from plx.infer.moves.cluster import ClusterMove, Clusters, cluster_sets
from plx.infer.moves.moved import stay
from plx.infer.problem import Problem
from plx.infer.tempering.cold import begun, cold
from plx.infer.tempering.jackpot import Jackpot
from plx.infer.tempering.jumps import jumps
from plx.infer.tempering.ladders import Flip, Ladders, Updates, of_blocks
from plx.infer.tempering.limits import (
    EVERY,
    ODD,
    SMALL_TABLES,
    TABLES,
    UNEVEN,
)
from plx.infer.tempering.matched import Reference, reference
from plx.infer.tempering.reference import log_worlds
from plx.infer.tempering.schedule import first_temperatures
from plx.infer.tempering.soft import Path
from plx.infer.tempering.solvable import solvable_part
from plx.infer.tempering.tuning import Tuned, tune
from plx.values import FloatArray, IntArray


@dataclass
class TemperedChains(Chains):
    """Ladders as chains: what is counted is where their lanes at β = 1 stand. ``found``: where hard rules
    are."""

    problem: Problem
    found: Substituted | None
    readout: Readout | None
    ladders: Ladders
    tuned: Tuned
    bridge: Bridges
    jackpot: Jackpot | None
    before: int
    trips: int = 0

    @property
    def states(self) -> npt.NDArray[np.int32]:
        """The states of the variables at β = 1, shape (V, ladders)."""
        own = self.ladders.states_of(np.arange(self.ladders.updates.plan.graph.n_variables))
        return own.astype(np.int32) if self.found is None else self.found.original(self.problem, own)

    def standing(self) -> Standing:
        """Where the lanes at β = 1 stand, in the original model."""
        if self.found is None:
            return Standing(self.problem.model, self.ladders.states_of)
        return Standing(self.problem.model, self._states_of)

    def _states_of(self, variables: IntArray) -> npt.NDArray[np.integer]:
        return self.states[variables]

    def notes(self) -> tuple[str, ...]:
        """How many temperatures there are, and why."""
        n, tuned, part = len(self.ladders.beta), self.tuned, self.ladders.updates.part
        said = (
            f"{n} temperatures for a communication barrier of {tuned.barrier:.1f}, "
            f"{self.trips:,} round trips between the ends"
        )
        if tuned.apart > UNEVEN:
            said += "; exchanges between some of them are much rarer than between others"
        if part is not None:
            left, every = int(part.cut.sum()), len(part.cut)
            said += f"; β is on {left:,} of {every:,} factors, the others are drawn from exactly at β = 0"
        return (said, *(self.jackpot.notes() if self.jackpot else ()))

    def missed(self) -> bool:
        """Whether no ladder but those that began there came near the most probable world."""
        return self.jackpot is not None and self.jackpot.missed

    def sweeps(self) -> int:
        """Sweeps of all temperatures."""
        return len(self.ladders.beta) * self.ladders.sweeps

    def rounds_before(self) -> int:
        """Rounds in which temperatures were placed."""
        return self.before

    def bridges(self) -> Bridges:
        """What log Z is estimated from."""
        return self.bridge

    def want_log_z(self) -> None:
        """From here on control variates are added up too."""
        self.ladders.control()

    def _look(self, jackpot: Jackpot, best: FloatArray) -> None:
        """What ladders weigh at β = 1, of which exchanges see all where β is on all factors; else it is
        looked at here."""
        now = self.ladders.weights()[-1]
        if self.ladders.updates.part is not None:
            graph = self.ladders.updates.plan.graph
            worlds = self.ladders.states_of(np.arange(graph.n_variables))
            best = now = log_weights(graph, node_states(graph, worlds))
        jackpot.see(best, now)

    def step(self, draws: int, thin: int) -> npt.NDArray[np.integer]:
        """Counts of the targets' states at β = 1, shape (ladders, Σ states)."""
        counts = gathered(self.ladders.rounds(draws, thin))
        control = self.ladders.controlled()
        tally = self.ladders.tallies()
        self.trips += int(tally.trips.sum())
        if self.jackpot is not None:
            self._look(self.jackpot, tally.best)
        self.bridge.add(
            BridgeSums(tally.above, tally.below, tally.total, tally.line, control, tally.trips, draws * thin)
        )
        return counts if self.readout is None else self.readout.apply(counts, draws)


def init(problem: Problem, seed: int, chains: int, threads: int | None = None) -> TemperedChains:
    """Ladders whose temperatures are tuned, at first states that satisfy every hard rule.

    Raises NoWorldError, naming rules that clash, if there is no such state.
    """
    if len(problem.parts.hard_factors):
        found, states = started(problem, seed, chains, threads, with_structures=True)
        own, read = found.problem, readout(problem, found)
    else:
        found, read, own = None, None, problem
        states = initial_states(problem, seed, chains, threads)
    stays = solvable_part(own.parts)
    apart = None if stays is None else reference(own.graph, stays)
    if apart is not None:
        own = Problem(replace(own.model, graph=apart.graph))
    updates, alone = _updates(own, apart)
    best, ladders = _best(own), begun(updates, states, seed, threads)
    _follow(ladders, own, updates, apart, best)
    first = ladders.turn
    tuned, part = tune(ladders), ladders.updates.part
    jackpot = _at_the_best(best, ladders)
    at_zero = log_worlds(own) if part is None else part.log_z
    start = None if at_zero is None else at_zero + own.model.log_constant
    flat = not len(ladders.soft.group_entry)
    least = -np.inf if best is None else best.log_weight + own.model.log_constant
    bridge = Bridges(start, np.diff(ladders.beta), ladders.middle, cold(chains), alone, flat, least)
    return TemperedChains(problem, found, read, ladders, tuned, bridge, jackpot, ladders.turn - first)


def _best(own: Problem) -> World | None:
    """The most probable world, where it is found soon."""
    time = min(LOOKING, deadline.seconds_left() / 4) if has_wide_rules(own.graph) else 0.0
    return quick_best(own.model, time)


def _updates(own: Problem, apart: Reference | None) -> tuple[Updates, bool]:
    """What moves lanes on the plain path, and whether clusters move all unknowns at each temperature."""
    plan = _compiled(own, apart)
    kinds = block_moves(own.parts, plan.rows, state_type(plan.graph))
    sets = tuple(one for one in cluster_sets(plan) if one.promising())
    clusters = partial(_clusters_at, plan, sets) if sets else None
    alone = any(len(one.label) == plan.graph.n_variables for one in sets)
    return Updates(plan, tuple(map(of_blocks, kinds)), clusters), alone


def _follow(
    ladders: Ladders, own: Problem, updates: Updates, apart: Reference | None, best: World | None
) -> None:
    """Let ladders stand at first temperatures, each at its first world: of a path on which a part stays at
    β = 0 and is matched with what is at β = 1, if there is one, and with jumps, where these help."""
    if apart is not None:
        every = np.arange(ladders.ladders)
        worlds = ladders.states_of(np.arange(own.graph.n_variables))
        path = apart.path(apart.gains(ladders))
        updates = replace(updates, path=path, part=apart.solved(path))
        ladders.put(worlds, every)
    leaps = None if best is None else jumps(own, updates.plan, updates.part, best.states, ladders.seed)
    if leaps is not None:
        updates = replace(updates, moves=(*updates.moves, leaps.at))
    ladders.follow(updates, first_temperatures())


def _clusters_at(plan: CompiledModel, sets: tuple[Clusters, ...], path: Path, beta: float) -> Flip:
    """Cluster moves at the temperatures where they are worth their time."""
    useful = tuple(one for one in sets if path.first is not None or one.promising(beta))
    table = plan.graph.table
    return ClusterMove(useful, path.at(table, beta), path.cut(table)) if useful else stay


def _at_the_best(best: World | None, ladders: Ladders) -> Jackpot | None:
    """Some of the ladders that began cold go to the most probable world at β = 1, where it is found soon."""
    if best is None:
        return None
    chosen = np.arange(EVERY - 1, ladders.ladders, EVERY)
    ladders.put(np.repeat(best.states[:, None], len(chosen), axis=1), chosen)
    return Jackpot(best.log_weight, chosen, ladders.ladders)


def step(chains: TemperedChains, draws: int, thin: int) -> npt.NDArray[np.integer]:
    """Counts of the targets' states, shape (chains, Σ states)."""
    return chains.step(draws, thin)


def _compiled(problem: Problem, apart: Reference | None) -> CompiledModel:
    """A model whose tables are small enough to have them at every temperature.

    It is compiled at an odd one, where no factors that change with β differently do the same: what does the
    same is counted together.
    """
    table = problem.graph.table
    odd = problem
    if apart is not None:
        path = apart.path(ODD ** np.arange(1.0, apart.classes + 1))
        odd = Problem(replace(problem.model, graph=problem.graph._replace(table=path.at(table, ODD))))
    plan = compile_model(odd, TABLE_ENTRIES)
    if plan.conditionals.size > TABLES:
        plan = compile_model(odd, SMALL_TABLES)
    return plan if apart is None else plan.with_potentials(table)
