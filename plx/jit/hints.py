"""Annotations for types that are known only at run time, in the notation of `plx.jit.types`."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import numpy.typing as npt


def array(item: str, dimensions: int = 1) -> Any:
    """The annotation of an array in C order whose items are of a dtype: ``array("uint8", 2)``."""
    kind: Any = npt.NDArray
    annotated: Any = Annotated
    return annotated[kind[np.dtype(item).type], dimensions]
