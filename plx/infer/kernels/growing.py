"""Arrays with room to spare, which kernels add to."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from plx.jit import inner

T = TypeVar("T", bound=np.generic)


@inner
def longer(array: npt.NDArray[T], needed: int) -> npt.NDArray[T]:
    """The array with room for at least so many; what is new is not set."""
    if needed <= len(array):
        return array
    out = np.empty(max(needed, 2 * len(array)), dtype=array.dtype)
    out[: len(array)] = array
    return out
