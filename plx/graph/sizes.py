"""How many joint states some nodes have, without overflow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def joint_states(cards: npt.ArrayLike) -> float:
    """The product of numbers of states: exact up to 2^53, infinite past the range of doubles."""
    with np.errstate(over="ignore"):
        return float(np.prod(cards, dtype=np.float64))
