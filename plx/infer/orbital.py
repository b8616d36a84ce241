"""The chains of the paper that move along orbits: Gibbs sweeps and uniform elements of a group in turn.

Anand, Noothigattu, Singla & Mausam, Non-Count Symmetries in Boolean & Multi-Valued Probabilistic
Graphical Models, AISTATS 2017. ``orbital`` uses variable symmetries, ``vv`` variable-value ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.ground.graph import GroundModel
from plx.infer import gibbs, lanes
from plx.infer.moves import moves_of
from plx.infer.orbit_kernels import Moves, move
from plx.lift.find import find_symmetry
from plx.lift.symmetry import Kind

SECONDS = 60.0
"""Seconds that the search for symmetries may take before chains start without those not found."""

_STREAM = 2**32
"""The generators of moves are numbered past those of sweeps."""


@dataclass
class OrbitalChains:
    """Gibbs chains, a group, and the generators [lanes] of each block of chains for its moves."""

    chains: lanes.Chains
    moves: Moves
    random: tuple[npt.NDArray[np.uint64], ...]
    notes: tuple[str, ...]
    accepted: npt.NDArray[np.int64]  # proposals that could be refused, and those accepted


def init_orbital(model: GroundModel, seed: int, chains: int, threads: int | None = None) -> OrbitalChains:
    """Chains that move along orbits of variable symmetries; multi-valued variables count as binarised."""
    return _init(model, "variable", seed, chains, threads)


def init_vv(model: GroundModel, seed: int, chains: int, threads: int | None = None) -> OrbitalChains:
    """Chains that move along orbits of variable-value symmetries."""
    return _init(model, "vv", seed, chains, threads)


def _init(model: GroundModel, kind: Kind, seed: int, chains: int, threads: int | None) -> OrbitalChains:
    symmetry = find_symmetry(model, kind, SECONDS)
    moves, notes = moves_of(symmetry.group, symmetry.start, np.zeros(symmetry.group.degree))
    started = gibbs.init(model, seed, chains, threads)
    return with_moves(started, moves, seed, (*symmetry.notes, *notes))


def with_moves(chains: lanes.Chains, moves: Moves, seed: int, notes: tuple[str, ...]) -> OrbitalChains:
    """Chains with moves between their sweeps."""
    random, lane = [], 0
    for block in chains.blocks:
        width = block.state.shape[1]
        words = (np.random.SeedSequence(seed, spawn_key=(_STREAM + lane + i,)) for i in range(width))
        random.append(np.array([w.generate_state(1, np.uint64)[0] for w in words], dtype=np.uint64))
        lane += width
    return OrbitalChains(chains, moves, tuple(random), notes, np.zeros(2, dtype=np.int64))


def step(chains: OrbitalChains, draws: int, thin: int) -> npt.NDArray[np.int32]:
    """One move along the orbit and ``thin`` sweeps before each draw; counts, shape (chains, Σ states)."""
    if not len(chains.moves.blocks):
        return lanes.step(chains.chains, draws, thin)
    total = None
    for _ in range(draws):
        with np.errstate(over="ignore"):
            for block, random in zip(chains.chains.blocks, chains.random, strict=True):
                move(chains.moves, block.state, random, chains.accepted)
        lanes.refresh(chains.chains)
        counts = lanes.step(chains.chains, 1, thin)
        total = counts if total is None else total + counts
    assert total is not None
    return total
