"""What answering a model exactly would take, as far as that is known before the work."""

from __future__ import annotations

import math
from dataclasses import dataclass

from plx.deadline import OutOfTimeError, within
from plx.graph.assemble import variable_cards
from plx.graph.sizes import joint_bits, size_text
from plx.infer.exact_choice import ExactWays
from plx.infer.exact_plan import ExactPlan
from plx.infer.limits import DEAR, FASTEST, LEAST_TRYING, PER_SECOND, PLANNING, SOLVING, TRIED_BEFORE, TRYING
from plx.infer.options import Options
from plx.infer.prepared import Prepared

_USUAL = Options().seconds or math.inf
"""Seconds that a run has where it is not told otherwise."""


@dataclass(frozen=True)
class Outlook:
    """The exact way that `auto` would take, None if none of known cost fits, and what is tried before it.

    ``words`` are for people. ``operations`` are table entries read or written, about, ``memory`` is in bytes.
    ``tried`` are ways whose cost only trying tells, and each gets ``tried_seconds`` where a run has the usual
    time.
    """

    way: str | None
    words: str
    operations: float | None = None
    memory: float | None = None
    tried: tuple[str, ...] = ()
    tried_seconds: float | None = None


def outlook(ready: Prepared) -> Outlook:
    """How a model would be answered, looked for as long as a run would. Raises NoWorldError."""
    ways = ready.ways
    try:
        with within(PLANNING * _USUAL):
            plan = ways.cheapest()
            return _unknown(ways) if plan is None else _known(ways, plan)
    except OutOfTimeError:
        return Outlook(None, f"no exact way was found in {PLANNING * _USUAL:g} s")


def _known(ways: ExactWays, plan: ExactPlan) -> Outlook:
    operations = plan.operations or 0.0
    most = max(LEAST_TRYING, TRIED_BEFORE * operations / PER_SECOND)
    tried, seconds = _tried(ways, most) if operations > DEAR else ([], None)
    words = plan.reason if not operations else f"exact: {plan.reason}, about {_number(operations)} operations"
    if operations > FASTEST * SOLVING * _USUAL:
        words += f", too many for {_USUAL:g} s: only --method exact takes it"
    if tried:
        words += f"; {_trial(tried, seconds)} first"
    names = tuple(map(ways.name_of, tried))
    return Outlook(ways.name_of(plan), words, operations, plan.memory, names, seconds)


def _unknown(ways: ExactWays) -> Outlook:
    tried, seconds = _tried(ways, math.inf)
    worlds = size_text(joint_bits(variable_cards(ways.problem.graph)))
    words = ways.refusal(worlds).diagnostics[0].message
    if tried:
        words = f"{_trial(tried, seconds)}, as no way of known cost fits:{words.partition(':')[2]}"
    return Outlook(None, words, None, None, tuple(map(ways.name_of, tried)), seconds)


def _tried(ways: ExactWays, most: float) -> tuple[list[ExactPlan], float | None]:
    """The plans of unknown cost, and the seconds of each."""
    plans = ways.uncertain()
    return plans, min(most, TRYING * _USUAL) / len(plans) if plans else None


def _trial(tried: list[ExactPlan], seconds: float | None) -> str:
    return f"{', '.join(plan.reason for plan in tried)} is tried for {seconds:.2g} s"


def _number(operations: float) -> str:
    """Two digits of it, as it is not known better."""
    if operations >= 1e9:
        return f"{operations:.1e}".replace("e+0", "e").replace("e+", "e").replace("e", "·10^")
    digits = max(0, len(str(int(operations))) - 2)
    return f"{round(operations, -digits):,.0f}"
