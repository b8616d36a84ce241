"""Sampling with moves of many unknowns before each sweep of single updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from plx.infer.gibbs import blocked
from plx.infer.gibbs.chains import ChainBlock, Counts, GibbsChains, SteppedChains, cuts, widths
from plx.infer.gibbs.chains import Move as Advance
from plx.infer.gibbs.chains import advance as sweep
from plx.infer.gibbs.compiled import CompiledModel
from plx.infer.inference import Standing
from plx.infer.moves.cluster import ClusterMove, cluster_sets
from plx.infer.moves.forest import forest_move
from plx.infer.orbits import lifted
from plx.infer.orbits.lifted import LiftedChains
from plx.infer.problem import Problem
from plx.infer.streams import Stream, narrow_states
from plx.values import FloatArray, IntArray

Move = Callable[[ChainBlock, npt.NDArray[np.uint32], int], None]
"""Moves lanes, with their own random numbers, in some turn."""


@dataclass
class MovedChains(SteppedChains):
    """Chains that ``move`` moves before each sweep; ``turns`` [blocks] it has had."""

    chains: SteppedChains
    move: Move
    random: tuple[npt.NDArray[np.uint32], ...]  # [4, C] for every block of chains
    turns: list[int]
    said: str

    def notes(self) -> tuple[str, ...]:
        """What moves there are."""
        return (*self.chains.notes(), self.said)

    @property
    def swept(self) -> GibbsChains:
        """What single updates move."""
        return self.chains.swept

    def step(self, draws: int, thin: int) -> npt.NDArray[np.integer]:
        """Record ``draws`` draws, ``thin`` sweeps apart: counts, shape (chains, Σ states)."""
        return self.step_with(partial(_advance, self), draws, thin)

    def step_with(self, advance: Advance, draws: int, thin: int) -> npt.NDArray[np.integer]:
        """As `step`, each block of chains moved by ``advance``."""
        return self.chains.step_with(advance, draws, thin)

    def standing(self, orbits: IntArray | None = None) -> Standing:
        """Where the chains stand."""
        return self.chains.standing(orbits)

    def taken(self, first: int, last: int, threads: int) -> MovedChains:
        """Some of the chains, see `Chains.taken`."""
        parts = list(cuts(widths(self.swept), first, last, threads))
        return replace(
            self,
            chains=self.chains.taken(first, last, threads),
            random=tuple(np.array(self.random[k][:, mine]) for k, mine in parts),
            turns=[self.turns[k] for k, _ in parts],
        )


def _advance(chains: MovedChains, k: int, draws: int, thin: int, counts: Counts) -> None:
    """Move and sweep the chains of block k; ``thin`` 0: a move alone."""
    swept = chains.chains.swept
    for _ in range(draws):
        for left in range(max(1, thin), 0, -1):
            chains.move(swept.blocks[k], chains.random[k], chains.turns[k])
            chains.turns[k] += 1
            if thin:
                sweep(swept, k, 1, 1, counts if left == 1 else counts[:0])


@dataclass
class MovedLiftedChains(LiftedChains):
    """Lifted chains with moves."""

    def notes(self) -> tuple[str, ...]:
        """What was left out, and what moves there are."""
        return (*super().notes(), *self.chains.notes())


Find = Callable[[CompiledModel], tuple[Move, str]]
"""The moves that there are on a compiled model, and what to say of them."""


def init_cluster(problem: Problem, seed: int, chains: int, threads: int | None = None) -> LiftedChains:
    """Lifted chains with cluster moves, where some factor couples two unknowns."""
    return onto_clusters(lifted.init(problem, seed, chains, threads), seed)


def onto_clusters(begun: LiftedChains, seed: int) -> LiftedChains:
    """Chains that share their worlds with those that have begun, and move in clusters too."""
    return _onto(begun, seed, _clusters)


def init_trees(problem: Problem, seed: int, chains: int, threads: int | None = None) -> MovedChains:
    """Chains that draw forests at once, where some factor couples two unknowns.

    Leaves are not summed out before: they are part of forests.
    """
    return moved(blocked.init(problem, seed, chains, threads), seed, _trees)


def onto_trees(begun: LiftedChains, seed: int) -> LiftedChains:
    """Chains that share their worlds with those that have begun, and draw forests too."""
    return _onto(begun, seed, _trees)


def step(chains: LiftedChains | MovedChains, draws: int, thin: int) -> npt.NDArray[np.number]:
    """Counts for the targets of the original model, shape (chains, Σ states)."""
    if isinstance(chains, LiftedChains):
        return lifted.step(chains, draws, thin)
    return chains.step(draws, thin)


def _onto(begun: LiftedChains, seed: int, find: Find) -> LiftedChains:
    chains = moved(begun.chains, seed, find)
    return MovedLiftedChains(chains, begun.averages, begun.every, begun.symmetry)


def moved(chains: SteppedChains, seed: int, find: Find) -> MovedChains:
    """Chains with moves."""
    move, said = find(chains.swept.plan)
    wide = widths(chains.swept)
    random = narrow_states(seed, Stream.CLUSTERS, range(sum(wide)))
    parts = np.split(random, np.cumsum(wide)[:-1], axis=1)
    return MovedChains(chains, move, tuple(map(np.ascontiguousarray, parts)), [0] * len(parts), said)


def stay(
    block: ChainBlock, random: npt.NDArray[np.uint32], turn: int, excess: FloatArray | None = None
) -> None:
    """No move."""


def _clusters(plan: CompiledModel) -> tuple[Move, str]:
    sets = cluster_sets(plan)
    if not sets:
        return stay, "no rule couples two unknowns that may move: no clusters, single updates alone"
    n = max(len(one.label) for one in sets)
    return ClusterMove(sets, plan.graph.table), f"{n:,} unknowns move in clusters"


def _trees(plan: CompiledModel) -> tuple[Move, str]:
    move = forest_move(plan)
    if move is None:
        return stay, "no rule couples two unknowns that may move: no trees, single updates alone"
    sizes = ", ".join(f"{len(one.member):,}" for one in move.forests)
    return move, f"forests of {sizes} unknowns are drawn at once"
