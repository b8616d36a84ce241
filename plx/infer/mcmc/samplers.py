"""The samplers, by name. To add one, write ``init`` and ``step`` in a file and enter them here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from plx.infer.chains import Chains
from plx.infer.problem import Problem

if TYPE_CHECKING:
    from plx.infer.gibbs.chains import SweptChains
    from plx.infer.mcmc.mcsat import SliceChains
    from plx.infer.moves.moved import MovedChains
    from plx.infer.orbits.lifted import LiftedChains
    from plx.infer.orbits.nec import NecChains
    from plx.infer.orbits.orbital import OrbitalChains
    from plx.infer.tempering.tempered import TemperedChains

C = TypeVar("C", bound=Chains)
Init = Callable[[Problem, int, int, int | None], C]
Step = Callable[[C, int, int], npt.NDArray[np.number]]
Onto = Callable[["LiftedChains", int], Chains]


@dataclass(frozen=True)
class Sampler(Generic[C]):
    """How chains are made and moved.

    ``init(problem, seed, chains, threads)`` returns the chains. ``step(chains, draws, thin)`` moves them
    ``draws * thin`` sweeps, records after every ``thin`` and returns counts of the states of
    ``problem.targets``, shape (chains, Σ states). The same seed gives the same counts, whatever
    ``threads`` is.
    """

    init: Init[C]
    step: Step[C]
    about: str
    single: bool = False
    """A sweep is one update of one unknown."""
    sums: bool = False
    """Log Z is estimated too."""
    onto: Onto | None = None
    """``onto(chains, seed)``: chains of `lifted` that move in this way too, from where they stand."""

    @property
    def name(self) -> str:
        """What it is called."""
        return next(name for name, sampler in SAMPLERS.items() if sampler is self)

    def __reduce__(self) -> tuple[Callable[[str], Sampler[Any]], tuple[str]]:
        return _named, (self.name,)


def _named(name: str) -> Sampler[Any]:
    return SAMPLERS[name]


def late(
    functions: Callable[[], tuple[Init[C], Step[C]]],
    about: str,
    sums: bool = False,
    onto: Callable[[], Onto] | None = None,
) -> Sampler[C]:
    """A sampler whose functions are imported when it is first used: kernels take long to load."""

    def init(problem: Problem, seed: int, chains: int, threads: int | None) -> C:
        return functions()[0](problem, seed, chains, threads)

    def step(chains: C, draws: int, thin: int) -> npt.NDArray[np.number]:
        return functions()[1](chains, draws, thin)

    return Sampler(init, step, about, sums=sums, onto=None if onto is None else lambda *given: onto()(*given))


def _gibbs() -> tuple[Init[SweptChains], Step[SweptChains]]:
    from plx.infer.gibbs.blocked import init, step

    return init, step


def _random_scan() -> tuple[Init[SweptChains], Step[SweptChains]]:
    from plx.infer.gibbs.blocked import init_random_scan, step

    return init_random_scan, step


def _lifted() -> tuple[Init[LiftedChains], Step[LiftedChains]]:
    from plx.infer.orbits.lifted import init, step

    return init, step


def _orbital() -> tuple[Init[OrbitalChains], Step[OrbitalChains]]:
    from plx.infer.orbits.orbital import init_orbital, step

    return init_orbital, step


def _vv() -> tuple[Init[OrbitalChains], Step[OrbitalChains]]:
    from plx.infer.orbits.orbital import init_vv, step

    return init_vv, step


def _nec() -> tuple[Init[NecChains], Step[NecChains]]:
    from plx.infer.orbits.nec import init, step

    return init, step


def _mcsat() -> tuple[Init[SliceChains], Step[SliceChains]]:
    from plx.infer.mcmc.mcsat import init, step

    return init, step


def _tempered() -> tuple[Init[TemperedChains], Step[TemperedChains]]:
    from plx.infer.tempering.tempered import init, step

    return init, step


def _cluster() -> tuple[Init[LiftedChains], Step[LiftedChains]]:
    from plx.infer.moves.moved import init_cluster, step

    return init_cluster, step


def _trees() -> tuple[Init[MovedChains], Step[MovedChains]]:
    from plx.infer.moves.moved import init_trees, step

    return init_trees, step


def _onto_trees() -> Onto:
    from plx.infer.moves.moved import onto_trees

    return onto_trees


def _onto_clusters() -> Onto:
    from plx.infer.moves.moved import onto_clusters

    return onto_clusters


SAMPLERS: dict[str, Sampler[Any]] = {
    "gibbs": late(_gibbs, "Gibbs sampling, scanning the unknowns in order"),
    "lifted": late(
        _lifted, "Gibbs sampling of the reduced model, its leaves summed out, averaged over symmetries"
    ),
    "orbital": late(_orbital, "Gibbs sampling with moves along orbits of variable symmetries"),
    "vv": late(_vv, "Gibbs sampling with moves along orbits of variable-value symmetries"),
    "nec": late(_nec, "Gibbs sampling of the reduced model with weighed moves along its orbits"),
    "mcsat": late(_mcsat, "MC-SAT: uniform draws from what random slices of the weights allow"),
    "tempered": late(
        _tempered,
        "Gibbs sampling at several temperatures that exchange worlds; estimates log Z too",
        sums=True,
    ),
    "cluster": late(
        _cluster,
        "as `lifted`, with unknowns that hold each other strongly moved as one",
        onto=_onto_clusters,
    ),
    "trees": late(_trees, "Gibbs sampling, with forests of unknowns drawn at once", onto=_onto_trees),
    "random-scan": late(_random_scan, "Gibbs sampling of unknowns picked at random"),
}
