"""The most probable worlds by the best way there is: elimination, circuits, toulbar2, simulated annealing."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.graph.model import GroundModel
from plx.infer.best import toulbar2 as toulbar
from plx.infer.best.limits import COMPILING, LONGEST_COMPILING, PLANNING, PROOF, QUICK, SOLVER
from plx.infer.best.max_sum import MapPlan, best_worlds, map_plan
from plx.infer.exact_plan import GaveUpError, Refusal
from plx.infer.exact_scores import told
from plx.infer.hard.contradiction import contradiction
from plx.infer.inference import World
from plx.infer.options import Options
from plx.infer.problem import Problem

if TYPE_CHECKING:
    from plx.infer.circuit.plan import CircuitPlan


def most_probable(problem: Problem, count: int, options: Options) -> tuple[tuple[World, ...], str]:
    """The ``count`` best worlds, best first, and how they were found, as a note for people.

    What has a deadline ends by it: with what was found, and is not proven then.

    Raises:
        PlxError: no world is possible.
    """
    try:
        with within(PROOF * seconds_left()):
            found = _searched(problem, count)
    except OutOfTimeError:
        found = None
    if found is None:
        return _annealed(problem, count, options)
    worlds, way = found
    if way is None:
        return _second_opinion(problem, worlds, options), _bounded(worlds)
    return told(worlds, way)


def is_quick(model: GroundModel, count: int) -> bool:
    """Whether elimination finds so many worlds in a fraction of a second. Raises OutOfTimeError."""
    plan = map_plan(model)
    return plan is not None and plan.fits(count) and plan.tree.operations * count <= QUICK


def _searched(problem: Problem, count: int) -> tuple[tuple[World, ...], str | None] | None:
    """The best worlds and the way, None for one that the time ended; None if there is no way.

    toulbar2 finds each world anew, a circuit all of them at once: it is tried first where several are wanted.
    """
    model, solver = problem.model, toulbar.installed()
    chosen = _plan(model)
    eliminated = chosen is not None and chosen.fits(count)
    if chosen and eliminated and (chosen.tree.operations * count <= QUICK or not solver):
        return best_worlds(model, count, chosen), "elimination"
    circuit = _circuit(problem)
    before = circuit is not None and (count > 1 or not solver)
    if circuit and before and (listed := _listed(circuit, count, COMPILING if solver else 1.0)):
        return listed
    after = circuit is not None and not before
    found = _solved(model, count, SOLVER if after else 1.0) if solver else None
    if found and not found.timed_out:
        return found.worlds, "toulbar2"
    if chosen and eliminated and not found:
        return best_worlds(model, count, chosen), "elimination"
    if circuit and after and (listed := _listed(circuit, count, 1.0)):
        return listed
    return (found.worlds, None) if found else None


def _solved(model: GroundModel, count: int, share: float) -> toulbar.Found | None:
    """What toulbar2 finds in a share of the time. Raises NoWorldError."""
    with within(share * seconds_left()):
        found = toulbar.search(model, count)
    if found and not found.worlds:
        raise contradiction(model)
    return found


def _circuit(problem: Problem) -> CircuitPlan | None:
    """A circuit that is about nothing but worlds, to be compiled; None where that is no way."""
    from plx.infer.circuit.plan import circuit_plan

    plan = circuit_plan(problem.asking(()))
    return None if isinstance(plan, Refusal) else plan


def _listed(plan: CircuitPlan, count: int, share: float) -> tuple[tuple[World, ...], str] | None:
    """The worlds and what they were read off; None if it gets too large, or is not ready in a share of the
    time."""
    left = seconds_left()
    with (
        suppress(OutOfTimeError, GaveUpError),
        within(LONGEST_COMPILING if math.isinf(left) else share * left),
    ):
        return plan.best(count)
    return None


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
