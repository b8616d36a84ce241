"""The chains of the paper that move along orbits: Gibbs sweeps and uniform elements of a group in turn.

Anand, Noothigattu, Singla & Mausam, Non-Count Symmetries in Boolean & Multi-Valued Probabilistic
Graphical Models, AISTATS 2017. ``orbital`` uses variable symmetries, ``vv`` variable-value ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plx.graph.model import GroundModel
from plx.infer.gibbs import blocked as ruled
from plx.infer.gibbs import chains as lanes
from plx.infer.inference import Standing
from plx.infer.kernels.orbital import kernel
from plx.infer.kernels.pieces import Moves
from plx.infer.orbits.group_moves import moves_of
from plx.infer.orbits.search_time import symmetry_seconds
from plx.lift.find import find_symmetry
from plx.lift.symmetry import Kind

SECONDS = 60.0
"""Seconds that the search for symmetries may take at most."""

_STREAM = 2**32
"""The generators of moves are numbered past those of sweeps."""

_SHARED = 2**34
"""The generator of the elements that all lanes share, the same in every block."""


@dataclass
class OrbitalChains:
    """Gibbs chains, a group, and the generators [lanes + 1] of each block of chains for its moves."""

    chains: ruled.Chains
    moves: Moves
    random: tuple[npt.NDArray[np.uint64], ...]
    notes: tuple[str, ...]
    accepted: npt.NDArray[np.int64]  # [blocks, 2] proposals that could be refused, and those accepted


def init_orbital(model: GroundModel, seed: int, chains: int, threads: int | None = None) -> OrbitalChains:
    """Chains that move along orbits of variable symmetries; multi-valued variables count as binarised."""
    return _init(model, "variable", seed, chains, threads)


def init_vv(model: GroundModel, seed: int, chains: int, threads: int | None = None) -> OrbitalChains:
    """Chains that move along orbits of variable-value symmetries."""
    return _init(model, "vv", seed, chains, threads)


def _init(model: GroundModel, kind: Kind, seed: int, chains: int, threads: int | None) -> OrbitalChains:
    started = ruled.init(model, seed, chains, threads)
    return with_symmetries(started, moved_model(started, model), kind, seed)


def moved_model(chains: ruled.Chains, model: GroundModel) -> GroundModel:
    """The model whose states the chains hold: where hard rules define unknowns, it is one without those."""
    return model if isinstance(chains, lanes.Chains) else chains.found.model


def with_symmetries(chains: ruled.Chains, model: GroundModel, kind: Kind, seed: int) -> OrbitalChains:
    """Chains on a model with moves along its orbits between their sweeps."""
    symmetry = find_symmetry(model, kind, symmetry_seconds(SECONDS))
    moves, notes = moves_of(symmetry.group, symmetry.start, np.zeros(symmetry.group.degree))
    return with_moves(chains, moves, seed, (*symmetry.notes, *notes))


def with_moves(chains: ruled.Chains, moves: Moves, seed: int, notes: tuple[str, ...]) -> OrbitalChains:
    """Chains with these moves between their sweeps."""
    random, lane = [], 0
    for block in _lanes(chains).blocks:
        width = block.state.shape[1]
        own = range(_STREAM + lane, _STREAM + lane + width)
        random.append(np.array([_generator(seed, key) for key in (*own, _SHARED)], dtype=np.uint64))
        lane += width
    return OrbitalChains(chains, moves, tuple(random), notes, np.zeros((len(random), 2), dtype=np.int64))


def _generator(seed: int, key: int) -> np.uint64:
    state: np.uint64 = np.random.SeedSequence(seed, spawn_key=(key,)).generate_state(1, np.uint64)[0]
    return state


def _lanes(chains: ruled.Chains) -> lanes.Chains:
    return chains if isinstance(chains, lanes.Chains) else chains.chains


def standing(chains: OrbitalChains) -> Standing:
    """Where the chains stand."""
    return ruled.standing(chains.chains)


def step(chains: OrbitalChains, draws: int, thin: int) -> npt.NDArray[np.integer]:
    """One move along the orbit and ``thin`` sweeps before each draw; counts, shape (chains, Σ states)."""
    inner = chains.chains
    if not len(chains.moves.blocks):
        return ruled.step(inner, draws, thin)
    if isinstance(inner, lanes.Chains):
        counts = lanes.no_counts(inner)
        lanes.run(inner, draws * thin, lambda k: _advance(chains, inner, k, draws, thin, counts[k]))
        return lanes.gathered(counts)
    total = np.zeros(1, dtype=np.int64)
    nothing = [part[:0] for part in lanes.no_counts(inner.chains)]
    for _ in range(draws):
        for k, none in enumerate(nothing):
            _advance(chains, inner.chains, k, 1, 0, none)
        total = total + ruled.step(inner, 1, thin)
    return total


def _advance(
    chains: OrbitalChains, inner: lanes.Chains, k: int, draws: int, thin: int, counts: lanes.Counts
) -> None:
    """Move and sweep the lanes of block k before each draw."""
    block = inner.blocks[k]
    with np.errstate(over="ignore"):
        kernel(block.state.dtype.name)(
            inner.plan.arrays,
            chains.moves,
            block.state,
            block.total,
            block.level,
            block.random,
            block.scan,
            chains.random[k],
            chains.accepted[k],
            draws,
            thin * inner.sweep_length,
            counts,
        )
