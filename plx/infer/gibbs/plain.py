"""Gibbs sampling: every update draws one unknown given all others."""

from __future__ import annotations

from plx.graph.model import GroundModel
from plx.infer.gibbs.chains import GibbsChains, chains_at
from plx.infer.gibbs.compiled import compile_model
from plx.infer.gibbs.initial_states import initial_states


def init(model: GroundModel, seed: int, chains: int, threads: int | None = None) -> GibbsChains:
    """Chains for a scan in order, each at a first state that satisfies every hard rule."""
    return _init(model, seed, chains, threads, random_scan=False)


def init_random_scan(model: GroundModel, seed: int, chains: int, threads: int | None = None) -> GibbsChains:
    """Chains for a random scan: each update picks its variable uniformly."""
    return _init(model, seed, chains, threads, random_scan=True)


def _init(model: GroundModel, seed: int, chains: int, threads: int | None, random_scan: bool) -> GibbsChains:
    plan = compile_model(model)
    return chains_at(plan, initial_states(model, seed, chains, threads), seed, threads, random_scan)
