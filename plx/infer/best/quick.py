"""A most probable world where it is found, with proof, in next to no time; and None where it is not."""

from __future__ import annotations

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.graph.model import GroundModel
from plx.infer.best import toulbar2 as toulbar
from plx.infer.best.limits import LONGEST_QUICK, QUICK, QUICK_SHARE
from plx.infer.best.max_sum import best_worlds, map_plan
from plx.infer.inference import World


def quick_best(model: GroundModel, least: float = 0.0) -> World | None:
    """A most probable world of a model that has one, by elimination if that is quick, else by toulbar2; in a
    share of the time, or so many seconds if that is more."""
    try:
        with within(min(LONGEST_QUICK, max(least, QUICK_SHARE * seconds_left()))):
            plan = map_plan(model)
            if plan.fits(1) and plan.tree.operations <= QUICK:
                return best_worlds(model, 1, plan)[0]
            found = toulbar.search(model, 1) if toulbar.installed() else None
    except OutOfTimeError:
        return None
    return found.worlds[0] if found and found.worlds and not found.timed_out else None
