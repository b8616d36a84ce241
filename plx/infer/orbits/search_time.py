"""How long symmetries may be searched for before chains start without those not found."""

from __future__ import annotations

from plx.deadline import seconds_left

_SHARE = 0.25


def symmetry_seconds(most: float) -> float:
    """Seconds for one search: a quarter of what is left of the run, at most so many."""
    return min(most, _SHARE * seconds_left())
