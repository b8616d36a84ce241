"""What a sample is when samplers are compared.

``sweeps``: each sampler as it runs by default, whole sweeps before every count. ``paper``: as in the
experiments of Anand, Noothigattu, Singla & Mausam (AISTATS 2017): one update of one unknown picked at
random, a move along the orbit where the method has one, and a count of all unknowns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

from plx.errors import CallError, Diagnostic
from plx.graph.model import GroundModel
from plx.infer.mcmc.samplers import SAMPLERS, Sampler
from plx.infer.options import check_choice

Protocol = Literal["sweeps", "paper"]

_WHOLE = ("lifted",)
"""Methods that the paper does not have; they run as ever."""

_SINGLE = ("gibbs", "random-scan", "orbital", "vv", "nec")


def sampler_of(method: str, protocol: Protocol) -> Sampler:
    """The sampler of that name. Raises CallError if there is none, or none that follows the protocol."""
    check_choice("protocol", protocol, get_args(Protocol))
    check_choice("sampler", method, tuple(SAMPLERS))
    if protocol == "sweeps" or method in _WHOLE:
        return SAMPLERS[method]
    if method not in _SINGLE:
        what = f"`{method}` does not update one unknown at a time, as the protocol of the paper asks"
        raise CallError(Diagnostic(what, hint="leave it out, or compare whole sweeps"))
    return _single(SAMPLERS[method])


def _single(sampler: Sampler) -> Sampler:
    """A sampler whose sweeps are one update of an unknown picked at random."""

    def init(model: GroundModel, seed: int, chains: int, threads: int | None) -> Any:
        from plx.infer.gibbs.chains import Chains, update_singly  # late: kernels take long to load

        made = sampler.init(model, seed, chains, threads)
        innermost = made
        while not isinstance(innermost, Chains):
            innermost = innermost.chains
        update_singly(innermost, seed)
        return made

    return replace(sampler, init=init, single=True)
