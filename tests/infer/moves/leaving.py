"""Whether a move leaves the distribution of worlds as it is."""

from __future__ import annotations

import numpy as np

from plx.graph.model import GroundModel
from plx.infer.gibbs.chains import GibbsChains, chains_at
from plx.infer.gibbs.compiled import compile_model
from plx.infer.moves.moved import Move
from plx.infer.problem import Problem
from plx.infer.streams import Stream, narrow_states
from tests.models import all_states, log_weights

LANES = 4096


def exact_chains(model: GroundModel, seed: int) -> tuple[GibbsChains, np.ndarray, np.ndarray]:
    """One block of lanes at worlds drawn from the distribution, all worlds, and their probabilities."""
    worlds = all_states(model.graph)
    logs = log_weights(model.graph, worlds)
    p = np.exp(logs - np.logaddexp.reduce(logs))
    drawn = np.random.default_rng(seed).choice(len(p), size=LANES, p=p)
    chains = chains_at(compile_model(Problem(model)), worlds[drawn].T, seed, 1)
    for name in ("state", "total", "level"):
        whole = np.concatenate([getattr(block, name) for block in chains.blocks], axis=1)
        setattr(chains.blocks[0], name, np.ascontiguousarray(whole))
    return chains, worlds, p


def scores(
    model: GroundModel, move: Move, chains: GibbsChains, worlds: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """(share - p) / standard error of each world, of impossible ones infinite if any lane is there."""
    random = narrow_states(7, Stream.CLUSTERS, range(LANES))
    before = chains.blocks[0].state.copy()
    for turn in range(6):
        move(chains.blocks[0], random, turn)
    after = chains.blocks[0].state
    card = model.graph.card[: model.graph.n_variables].tolist()
    at = np.ravel_multi_index(tuple(after.astype(np.int64)), card)
    share = np.bincount(at, minlength=len(worlds)) / LANES
    assert share[p == 0].sum() == 0, "no impossible world is ever entered"
    assert (before != after).any() or not move, "something moves"
    seen = p > 0
    return (share[seen] - p[seen]) / np.sqrt(np.maximum(p[seen] * (1 - p[seen]), 1e-12) / LANES)
