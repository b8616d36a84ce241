"""The samplers, by name. To add one, write ``init`` and ``step`` in a file and enter them here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from plx.graph.model import GroundModel
from plx.infer.inference import Standing
from plx.values import FloatArray


@dataclass(frozen=True)
class Sampler:
    """How chains are made and moved.

    ``init(model, seed, chains, threads)`` returns the chains, of any type. ``step(chains, draws,
    thin)`` moves them ``draws * thin`` sweeps, records after every ``thin`` and returns counts of
    the states of ``targets_of(model)``, shape (chains, Σ states). The same seed gives the same
    counts, whatever ``threads`` is.
    """

    init: Callable[[GroundModel, int, int, int | None], Any]
    step: Callable[[Any, int, int], npt.NDArray[np.generic]]
    about: str
    pooled: Callable[[Any], FloatArray | None] = lambda chains: None
    """Of how many counts each one is an average [Σ states], where it is one."""
    notes: Callable[[Any], tuple[str, ...]] = lambda chains: ()
    """What the user should know after a run."""
    sweeps: Callable[[Any], int] = lambda chains: 1
    """Sweeps that are made for each one asked for."""
    standing: Callable[[Any], Standing | None] = lambda chains: None
    """Where the chains stand, so that a run sees whether they move; None: only what is asked is looked at."""
    single: bool = False
    """A sweep is one update of one unknown."""


def _late(file: str, name: str) -> Callable[..., Any]:
    """A function of a file in this folder, which is imported at the first call: kernels take long to load."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"plx.infer.{file}"), name)(*arguments)

    return call


SAMPLERS: dict[str, Sampler] = {
    "gibbs": Sampler(
        _late("gibbs.blocked", "init"),
        _late("gibbs.blocked", "step"),
        "Gibbs sampling, scanning the unknowns in order",
        standing=_late("gibbs.blocked", "standing"),
    ),
    "lifted": Sampler(
        _late("orbits.lifted", "init"),
        _late("orbits.lifted", "step"),
        "Gibbs sampling of the reduced model without its leaves, averaged over symmetries",
        lambda chains: chains.averages.pooled,
        lambda chains: chains.notes,
        lambda chains: chains.every,
        _late("orbits.lifted", "standing"),
    ),
    "orbital": Sampler(
        _late("orbits.orbital", "init_orbital"),
        _late("orbits.orbital", "step"),
        "Gibbs sampling with moves along orbits of variable symmetries",
        notes=lambda chains: chains.notes,
        standing=_late("orbits.orbital", "standing"),
    ),
    "vv": Sampler(
        _late("orbits.orbital", "init_vv"),
        _late("orbits.orbital", "step"),
        "Gibbs sampling with moves along orbits of variable-value symmetries",
        notes=lambda chains: chains.notes,
        standing=_late("orbits.orbital", "standing"),
    ),
    "nec": Sampler(
        _late("orbits.nec", "init"),
        _late("orbits.nec", "step"),
        "Gibbs sampling of the reduced model with weighed moves along its orbits",
        notes=lambda chains: chains.notes,
        standing=_late("orbits.nec", "standing"),
    ),
    "mcsat": Sampler(
        _late("mcmc.mcsat", "init"),
        _late("mcmc.mcsat", "step"),
        "MC-SAT: uniform draws from what random slices of the weights allow",
        standing=_late("mcmc.mcsat", "standing"),
    ),
    "random-scan": Sampler(
        _late("gibbs.blocked", "init_random_scan"),
        _late("gibbs.blocked", "step"),
        "Gibbs sampling of unknowns picked at random",
        standing=_late("gibbs.blocked", "standing"),
    ),
}
