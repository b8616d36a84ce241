"""The most probable worlds by the best way there is: elimination, toulbar2, simulated annealing."""

from __future__ import annotations

from dataclasses import replace

from plx.graph.model import GroundModel
from plx.infer.best import toulbar2 as toulbar
from plx.infer.best.max_sum import best_worlds, map_plan
from plx.infer.exact.elimination import Budget
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import World
from plx.infer.options import Options

QUICK = 1e8
"""Operations up to which elimination is preferred to the solver."""

_SECOND_OPINION = 0.2
"""The share of the time that annealing gets where the solver's time ended without a proof."""


def most_probable(model: GroundModel, count: int, options: Options) -> tuple[tuple[World, ...], str]:
    """The ``count`` best worlds, best first, and how they were found, as a note for people.

    Raises:
        PlxError: no world is possible.
    """
    chosen = map_plan(model)
    entries = Budget().entries / count
    fits = chosen.fits(Budget(entries=entries))
    if fits and (chosen.operations * count <= QUICK or not toulbar.installed()):
        return best_worlds(model, count, chosen), "the most probable world is proven best, by elimination"
    if toulbar.installed():
        worlds = toulbar.search(model, count, options.seconds)
        if worlds == ():
            raise contradiction(model)
        if worlds and all(world.optimal for world in worlds):
            return worlds, "the most probable world is proven best, by toulbar2"
        if worlds:
            return _second_opinion(model, worlds, options), _bounded(worlds)
    if fits:
        return best_worlds(model, count, chosen), "the most probable world is proven best, by elimination"
    return _annealed(model, count, options)


def _annealed(model: GroundModel, count: int, options: Options) -> tuple[tuple[World, ...], str]:
    from plx.infer.best.annealing import anneal

    note = "the most probable world was searched for by simulated annealing; there may be better"
    if not toulbar.installed():
        note += " (`pip install 'plx[map]'` installs a solver that proves the best)"
    return anneal(model, options, count), note


def _second_opinion(model: GroundModel, worlds: tuple[World, ...], options: Options) -> tuple[World, ...]:
    """The last world is unproven: annealing may know a better one."""
    from plx.infer.best.annealing import anneal

    *proven, last = worlds
    seconds = None if options.seconds is None else options.seconds * _SECOND_OPINION
    known = {world.states.tobytes() for world in proven}
    for world in anneal(model, replace(options, seconds=seconds), len(worlds)):
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
