"""What a sample is when samplers are compared.

``sweeps``: each sampler as it runs by default, whole sweeps before every count. ``paper``: as in the
experiments of Anand, Noothigattu, Singla & Mausam (AISTATS 2017): one update of one unknown picked at
random, a move along the orbit where the method has one, and a count of all unknowns.
"""

from __future__ import annotations

import typing
from dataclasses import replace
from typing import Any, Literal, TypeVar, get_args

from plx.errors import CallError, Diagnostic
from plx.infer.chains import Chains
from plx.infer.mcmc.samplers import SAMPLERS, Sampler
from plx.infer.options import check_choice
from plx.infer.problem import Problem

Protocol = Literal["sweeps", "paper"]

_WHOLE = ("lifted",)
"""Methods that the paper does not have; they run as ever."""

_SINGLE = ("gibbs", "random-scan", "orbital", "vv", "nec")


def sampler_of(method: str, protocol: Protocol) -> Sampler[Any]:
    """The sampler of that name. Raises CallError if there is none, or none that follows the protocol."""
    check_choice("protocol", protocol, get_args(Protocol))
    check_choice("sampler", method, tuple(SAMPLERS))
    if protocol == "sweeps" or method in _WHOLE:
        return SAMPLERS[method]
    if method not in _SINGLE:
        what = f"`{method}` does not update one unknown at a time, as the protocol of the paper asks"
        raise CallError(Diagnostic(what, hint="leave it out, or compare whole sweeps"))
    return _single(SAMPLERS[method])


class _Single(Chains, typing.Protocol):
    """Chains whose sweeps can be made single updates."""

    def update_singly(self, seed: int) -> None:
        """From here on a sweep is one update, of a variable picked at random."""


S = TypeVar("S", bound=_Single)


def _single(sampler: Sampler[S]) -> Sampler[S]:
    """A sampler whose sweeps are one update of an unknown picked at random."""

    def init(problem: Problem, seed: int, chains: int, threads: int | None) -> S:
        made = sampler.init(problem, seed, chains, threads)
        made.update_singly(seed)
        return made

    return replace(sampler, init=init, single=True)
