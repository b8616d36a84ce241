"""Random numbers of lanes, for what is too seldom to be worth a kernel of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from plx.infer.kernels.random import Int32, UInt32, _random
from plx.jit import Kernel, array


def _integers(rng: UInt32, out: Int32) -> None:
    """Fill ``out`` [C], each uniform on 0 … 2^31 - 2, by generators [4, C]."""
    _random(rng, out)


@cache
def integers() -> Callable[..., None]:
    """`_integers` compiled."""
    return Kernel(_integers, [array("uint32", 2), array("int32")]).compiled
