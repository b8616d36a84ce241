"""Most probable worlds where they are found, with proof, in next to no time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.graph.model import FactorGraph, GroundModel
from plx.graph.worlds import input_owner
from plx.infer.best import toulbar2 as toulbar
from plx.infer.best.limits import LONGEST_QUICK, QUICK, QUICK_SHARE
from plx.infer.best.max_sum import best_worlds, map_plan
from plx.infer.inference import World

LOOKING = 0.5
"""The seconds in which a world is looked for that may have none like it nearby, if it has no more."""

WIDE = 6
"""A rule over so many unknowns can favour such a world."""


def quick_best(model: GroundModel, least: float = 0.0) -> World | None:
    """A most probable world of a model that has one, as `quick_worlds` finds it."""
    found = quick_worlds(model, 1, least)
    return found[0] if found else None


def quick_worlds(model: GroundModel, count: int, least: float = 0.0) -> Sequence[World]:
    """So many most probable worlds, best first, or all that there are, by elimination if that is quick, else
    by toulbar2; in a share of the time, or so many seconds if that is more. None if they are not found in it.
    """
    try:
        with within(min(LONGEST_QUICK, max(least, QUICK_SHARE * seconds_left()))):
            plan = map_plan(model)
            if plan.fits(count) and plan.tree.operations * count <= QUICK:
                return best_worlds(model, count, plan)
            found = toulbar.search(model, count) if toulbar.installed() else None
    except OutOfTimeError:
        return ()
    return found.worlds if found and not found.timed_out else ()


def has_wide_rules(graph: FactorGraph) -> bool:
    """Whether a factor is over many unknowns, or over sums of many or of other sums."""
    many = np.diff(graph.input_start) >= WIDE
    many |= np.bincount(input_owner(graph), graph.input_node >= graph.n_variables, graph.n_derived) > 0
    derived = graph.scope[graph.scope >= graph.n_variables] - graph.n_variables
    return bool(many[derived].any() or np.diff(graph.scope_start).max(initial=0) >= WIDE)
