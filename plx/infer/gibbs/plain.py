"""Gibbs sampling: every update draws one unknown given all others."""

from __future__ import annotations

from plx.infer.gibbs.chains import GibbsChains, chains_at
from plx.infer.gibbs.compiled import compile_model
from plx.infer.gibbs.initial_states import initial_states
from plx.infer.problem import Problem


def init(problem: Problem, seed: int, chains: int, threads: int | None = None) -> GibbsChains:
    """Chains for a scan in order, each at a first state that satisfies every hard rule."""
    return _init(problem, seed, chains, threads, random_scan=False)


def init_random_scan(problem: Problem, seed: int, chains: int, threads: int | None = None) -> GibbsChains:
    """Chains for a random scan: each update picks its variable uniformly."""
    return _init(problem, seed, chains, threads, random_scan=True)


def _init(problem: Problem, seed: int, chains: int, threads: int | None, random_scan: bool) -> GibbsChains:
    plan = compile_model(problem)
    return chains_at(plan, initial_states(problem, seed, chains, threads), seed, threads, random_scan)
