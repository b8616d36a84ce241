"""The chains of the paper that move along orbits: Gibbs sweeps and uniform elements of a group in turn.

Anand, Noothigattu, Singla & Mausam, Non-Count Symmetries in Boolean & Multi-Valued Probabilistic
Graphical Models, AISTATS 2017. ``orbital`` uses variable symmetries, ``vv`` variable-value ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from plx.infer.chains import Chains
from plx.infer.gibbs import blocked
from plx.infer.gibbs.chains import Counts, SweptChains, cuts, widths
from plx.infer.inference import Standing
from plx.infer.kernels.orbital import kernel
from plx.infer.kernels.pieces import Moves
from plx.infer.orbits.group_moves import moves_of
from plx.infer.orbits.search_time import symmetry_seconds
from plx.infer.problem import Problem
from plx.infer.streams import Stream, wide_states
from plx.lift.find import find_symmetry
from plx.lift.symmetry import Kind

SECONDS = 60.0
"""Seconds that the search for symmetries may take at most."""


@dataclass
class OrbitalChains(Chains):
    """Gibbs chains, a group, and the generators [chains + 1] of each block of chains for its moves."""

    chains: SweptChains
    moves: Moves
    random: tuple[npt.NDArray[np.uint64], ...]
    left_out: tuple[str, ...]
    accepted: npt.NDArray[np.int64]  # [blocks, 2] proposals that could be refused, and those accepted

    def notes(self) -> tuple[str, ...]:
        """What the search for symmetries and the moves left out."""
        return self.left_out

    def standing(self) -> Standing:
        """Where the chains stand."""
        return self.chains.standing()

    def taken(self, first: int, last: int, threads: int) -> OrbitalChains:
        """Some of the chains, see `Chains.taken`; what they have accepted is counted anew."""
        parts = cuts(widths(self.chains.swept), first, last, threads)
        own = tuple(np.append(self.random[k][mine], self.random[k][-1:]) for k, mine in parts)
        none = np.zeros((len(own), 2), dtype=np.int64)
        return replace(self, chains=self.chains.taken(first, last, threads), random=own, accepted=none)

    def update_singly(self, seed: int) -> None:
        """From here on a sweep is one update, of a variable picked at random."""
        self.chains.update_singly(seed)


def init_orbital(problem: Problem, seed: int, chains: int, threads: int | None = None) -> OrbitalChains:
    """Chains that move along orbits of variable symmetries; multi-valued variables count as binarised."""
    return _init(problem, "variable", seed, chains, threads)


def init_vv(problem: Problem, seed: int, chains: int, threads: int | None = None) -> OrbitalChains:
    """Chains that move along orbits of variable-value symmetries."""
    return _init(problem, "vv", seed, chains, threads)


def _init(problem: Problem, kind: Kind, seed: int, chains: int, threads: int | None) -> OrbitalChains:
    started = blocked.init(problem, seed, chains, threads)
    return with_symmetries(started, kind, seed)


def with_symmetries(chains: SweptChains, kind: Kind, seed: int) -> OrbitalChains:
    """Chains with moves between their sweeps, along orbits of the model that the sweeps are on."""
    symmetry = find_symmetry(chains.swept.plan.problem.model, kind, symmetry_seconds(SECONDS))
    moves, notes = moves_of(symmetry.group, symmetry.start, np.zeros(symmetry.group.degree))
    return with_moves(chains, moves, seed, (*symmetry.notes, *notes))


def with_moves(chains: SweptChains, moves: Moves, seed: int, left_out: tuple[str, ...]) -> OrbitalChains:
    """Chains with these moves between their sweeps; the last generator of each block is the same in all."""
    wide = widths(chains.swept)
    own = np.split(wide_states(seed, Stream.MOVES, range(sum(wide))), np.cumsum(wide)[:-1])
    shared = wide_states(seed, Stream.SHARED_MOVES)
    random = tuple(np.concatenate([part, shared]) for part in own)
    return OrbitalChains(chains, moves, random, left_out, np.zeros((len(random), 2), dtype=np.int64))


def step(chains: OrbitalChains, draws: int, thin: int) -> npt.NDArray[np.integer]:
    """One move along the orbit and ``thin`` sweeps before each draw; counts, shape (chains, Σ states)."""
    if not len(chains.moves.blocks):
        return chains.chains.step(draws, thin)
    return chains.chains.step_with(partial(advance, chains), draws, thin)


def advance(chains: OrbitalChains, k: int, draws: int, thin: int, counts: Counts) -> None:
    """Move and sweep the chains of block k before each draw."""
    swept = chains.chains.swept
    block = swept.blocks[k]
    with np.errstate(over="ignore"):
        kernel(block.state.dtype.name)(
            swept.plan.arrays,
            chains.moves,
            block.state,
            block.total,
            block.level,
            block.random,
            block.scan,
            chains.random[k],
            chains.accepted[k],
            draws,
            thin * swept.sweep_length,
            counts,
        )
