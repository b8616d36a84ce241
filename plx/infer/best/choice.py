"""The most probable worlds by the best way there is: elimination, toulbar2, simulated annealing."""

from __future__ import annotations

from dataclasses import replace

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.graph.model import GroundModel
from plx.infer.best import toulbar2 as toulbar
from plx.infer.best.limits import PLANNING, PROOF, QUICK
from plx.infer.best.max_sum import MapPlan, best_worlds, map_plan
from plx.infer.exact_scores import told
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import World
from plx.infer.options import Options
from plx.infer.problem import Problem


def most_probable(problem: Problem, count: int, options: Options) -> tuple[tuple[World, ...], str]:
    """The ``count`` best worlds, best first, and how they were found, as a note for people.

    What has a deadline ends by it: with what was found, and is not proven then.

    Raises:
        PlxError: no world is possible.
    """
    try:
        with within(PROOF * seconds_left()):
            found = _searched(problem.model, count)
    except OutOfTimeError:
        found = None
    if found is None:
        return _annealed(problem, count, options)
    worlds, way = found
    if way is None:
        return _second_opinion(problem, worlds, options), _bounded(worlds)
    return told(worlds, way)


def _searched(model: GroundModel, count: int) -> tuple[tuple[World, ...], str | None] | None:
    """The best worlds and the way, None for one that the time ended; None if there is no way."""
    chosen = _plan(model)
    eliminated = chosen is not None and chosen.fits(count)
    if chosen and eliminated and (chosen.tree.operations * count <= QUICK or not toulbar.installed()):
        return best_worlds(model, count, chosen), "elimination"
    if toulbar.installed() and (found := toulbar.search(model, count)):
        if not found.worlds:
            raise contradiction(model)
        return found.worlds, None if found.timed_out else "toulbar2"
    return (best_worlds(model, count, chosen), "elimination") if eliminated else None


def _plan(model: GroundModel) -> MapPlan | None:
    """A plan for elimination, if it is found in a share of the time."""
    try:
        with within(PLANNING * seconds_left()):
            return map_plan(model)
    except OutOfTimeError:
        return None


def _annealed(problem: Problem, count: int, options: Options) -> tuple[tuple[World, ...], str]:
    from plx.infer.best.annealing import anneal

    note = "the most probable world was searched for by simulated annealing; there may be better"
    if not toulbar.installed():
        note += " (`pip install pytoulbar2` installs a solver that proves the best)"
    return anneal(problem, options, count), note


def _second_opinion(problem: Problem, worlds: tuple[World, ...], options: Options) -> tuple[World, ...]:
    """The last world is unproven: annealing may know a better one."""
    from plx.infer.best.annealing import anneal

    *proven, last = worlds
    known = {world.states.tobytes() for world in proven}
    for world in anneal(problem, options, len(worlds)):
        if world.states.tobytes() not in known and world.log_weight > last.log_weight:
            last = replace(world, bound=last.bound)
            break
    return (*proven, last)


def _bounded(worlds: tuple[World, ...]) -> str:
    bound = worlds[-1].bound
    proven = len(worlds) - 1
    which = "the most probable world" if not proven else f"world {proven + 1} of the best"
    return (
        f"{which} is not proven best: the time ended (--seconds); no world it may have missed"
        f" has a log weight above {bound:.6g}"
    )
