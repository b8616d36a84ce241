"""Whether chains find the most probable world known, or worlds like it, without having begun there."""

from __future__ import annotations

import numpy as np

from plx.values import FloatArray, IntArray


class Jackpot:
    """The log weight of the best world, at which some ladders begin, and what the others have met.

    ``log_weight`` is without the log constant of the model.
    """

    def __init__(self, log_weight: float, begun: IntArray, ladders: int) -> None:
        self.log_weight = log_weight
        self.begun = np.isin(np.arange(ladders), begun)
        self.met = -np.inf
        self.lowest = np.inf

    def see(self, best: FloatArray, now: FloatArray) -> None:
        """Note the largest log weights at β = 1 since the last call, and those now; both [ladders]."""
        self.met = max(self.met, float(best[~self.begun].max(initial=-np.inf)))
        self.lowest = float(now[self.begun].min(initial=np.inf))

    @property
    def missed(self) -> bool:
        """Whether those that began at the best world are all still above whatever the others have met."""
        return bool(self.begun.any()) and -np.inf < self.met < self.lowest

    def notes(self) -> tuple[str, ...]:
        """What to know if no chain came near."""
        if not self.missed:
            return ()
        return (
            f"no chain came near the most probable world (log weight {self.log_weight:.6g}) but the"
            f" {int(self.begun.sum()):,} that began there and stayed; the others met {self.met:.6g} at most,"
            " so answers lack what such worlds weigh, or have too much of it",
        )
