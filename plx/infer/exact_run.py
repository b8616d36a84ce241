"""Exact plans carried out: the cheapest, or one after the other where only trying tells what they cost.

``carry`` is what a plan is wanted for: its answers, or worlds drawn from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from plx.deadline import OutOfTimeError, seconds_left, within
from plx.graph.sizes import size_text
from plx.infer.exact_choice import ExactWays
from plx.infer.exact_plan import ExactPlan, GaveUpError
from plx.infer.inference import Inference
from plx.infer.limits import (
    DEAR,
    FASTEST,
    LEAST_PLANNING,
    LEAST_TRYING,
    PER_SECOND,
    PLANNING,
    SOLVING,
    TRIED_BEFORE,
    TRYING,
    TRYING_ALONE,
    USUAL_PLANNING,
    USUAL_TRYING,
)
from plx.infer.options import Clock, Cluster

Found = TypeVar("Found")


def run(plan: ExactPlan, cluster: Cluster | None) -> Inference:
    """What a plan gives; a cluster finds its parts where they are large enough."""
    if cluster is None:
        return plan.run()
    from plx.infer.exact.parted import Parted, answered_by

    found = answered_by(cluster, plan) if isinstance(plan, Parted) else None
    return found or plan.run()


def carried_out(ways: ExactWays, plan: ExactPlan, carry: Callable[[ExactPlan], Found]) -> Found:
    """What a plan gives; where it takes long, plans of unknown cost are tried first, for a part of that."""
    if plan.operations is not None and plan.operations > DEAR:
        found = _tried(ways, carry, max(LEAST_TRYING, TRIED_BEFORE * plan.operations / PER_SECOND))
        if found is not None:
            return found
    return carry(plan)


def exactly(ways: ExactWays, carry: Callable[[ExactPlan], Found]) -> Found | None:
    """What the best exact way gives, until the deadline; None if none fits, as one that surely takes longer
    does not."""
    clock = Clock()
    plan = ways.cheapest()
    if plan is not None and not _takes_too_long(plan, seconds_left()):
        return carried_out(ways, plan, carry)
    if plan is not None:
        size = size_text(math.log2(plan.operations or 1))
        ways.given_up.append(f"{plan.reason}: {size} operations take more than {seconds_left():.0f} s")
    return _tried(ways, carry, share=TRYING_ALONE, spent=clock.seconds)


def exactly_in_time(ways: ExactWays, carry: Callable[[ExactPlan], Found]) -> Found | None:
    """What the best exact way gives in such shares of the time that the rest is enough for sampling."""
    try:
        with within(_planning()):
            plan = ways.cheapest()
        if plan is None or _takes_too_long(plan, SOLVING * seconds_left()):
            return _tried(ways, carry)
        with within(SOLVING * seconds_left()):
            return carried_out(ways, plan, carry)
    except OutOfTimeError:
        return None


def _tried(
    ways: ExactWays,
    carry: Callable[[ExactPlan], Found],
    most: float = math.inf,
    share: float = TRYING,
    spent: float = 0.0,
) -> Found | None:
    """What the first plan of unknown cost gives that ends in its slice of the time; None if none does.

    Ways notes what was given up. Where there is no deadline, what was ``spent`` in looking for ways counts.
    """
    plans = ways.uncertain()
    left = seconds_left()
    usual = max(LEAST_TRYING, USUAL_TRYING - spent)
    whole = min(most, usual if math.isinf(left) else share * left)
    for plan in plans:
        clock = Clock()
        try:
            with within(whole / len(plans)):
                return carry(plan)
        except OutOfTimeError:
            more = " (--seconds sets how long it is tried)" if math.isinf(left) else ""
            ways.given_up.append(f"{plan.reason} was given up after {clock.seconds:.0f} s{more}")
        except GaveUpError as gave_up:
            ways.given_up.append(f"{plan.reason} was given up: {gave_up}")
    return None


def _takes_too_long(plan: ExactPlan, seconds: float) -> bool:
    """Whether a plan surely takes longer than so many seconds."""
    return plan.operations is not None and plan.operations > max(DEAR, FASTEST * seconds)


def _planning() -> float:
    """Seconds for looking for exact ways."""
    left = seconds_left()
    return USUAL_PLANNING if math.isinf(left) else max(LEAST_PLANNING, PLANNING * left)
