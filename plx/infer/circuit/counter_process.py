"""Ganak in a process of its own, with limits of time and memory: clauses to weighted counts of their models.

The only door to pyganak (Sharma, Roy, Soos & Meel, GANAK: a scalable probabilistic exact model counter, IJCAI
2019). It takes parts of a formula for equal where their hashes are, and errs so with a probability of about
2^-40.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from plx import deadline
from plx.infer.circuit.limited_process import answer_apart, serve
from plx.infer.circuit.limits import COUNTER_MEMORY
from plx.infer.exact_plan import GaveUpError


class Formula(NamedTuple):
    """Clauses over propositions 1..n, and the log weights of their literals that are not 0, the larger of
    each pair 0."""

    propositions: int
    clauses: list[list[int]]
    log: dict[int, float]


def installed() -> bool:
    """Whether pyganak is there."""
    return importlib.util.find_spec("pyganak") is not None


def counts_apart(formula: Formula, fixed: Sequence[Sequence[int]]) -> list[float]:
    """The log of the weight of all models, and of those with each of the lists of literals that are fixed.

    Raises GaveUpError where the counter is killed or out of memory, or all of it would take longer than there
    is time, and OutOfTimeError at the deadline.
    """
    left = deadline.seconds_left()
    found, seconds = answer_apart(__name__, "ganak", COUNTER_MEMORY, (formula, fixed, left))
    if len(found) <= len(fixed):
        raise GaveUpError(f"{1 + len(fixed):,} counts of {seconds:.1f} s each take too long")
    return list(found)


def _answer(pyganak: Any, sent: tuple[Formula, list[list[int]], float]) -> tuple[list[float], float]:
    """The counts, the first alone where all of them take too long; the seconds of the first."""
    formula, fixed, left = sent
    begin = time.monotonic()
    found = [_log_count(pyganak, formula, ())]
    seconds = time.monotonic() - begin
    if seconds * len(fixed) <= left - seconds:
        found += [_log_count(pyganak, formula, literals) for literals in fixed]
    return found, seconds


def _log_count(pyganak: Any, formula: Formula, fixed: Sequence[int]) -> float:
    """The log of a count; -inf if there is no model."""
    clauses = [*formula.clauses, *([literal] for literal in fixed)]
    if not formula.log:
        count = _counted(pyganak.Counter(), formula.propositions, {}, clauses)
        return math.log(count) if count else -math.inf
    for centre in _centres(formula):
        shifts = math.ceil(abs(centre) / _STEP)
        scale = range(formula.propositions + 1, formula.propositions + 1 + shifts)
        logs = formula.log | dict.fromkeys(scale, -centre / max(shifts, 1))
        forced = [*clauses, *([literal] for literal in scale)]
        count = _counted(pyganak.WeightedCounter(), formula.propositions + shifts, logs, forced)
        if math.exp(-_STEP) <= count < math.inf:
            return math.log(count) + centre
    return -math.inf


_STEP = 700.0
"""Counts come as doubles, so they are scaled to be within exp(±700)."""


def _centres(formula: Formula) -> list[float]:
    """Scales, in logs, near one of which the count of any formula that has a model lies; 0 is likely."""
    low, high = sum(formula.log.values()) - 1.0, formula.propositions * math.log(2) + 1.0
    windows = math.ceil((high - low) / (2 * _STEP))
    return sorted((low + (high - low) * (i + 0.5) / windows for i in range(windows)), key=abs)


def _counted(counter: Any, propositions: int, logs: dict[int, float], clauses: list[list[int]]) -> Any:
    counter.new_vars(propositions)
    for literal, log in logs.items():
        counter.set_lit_weight(literal, math.exp(log))
        counter.set_lit_weight(-literal, 1.0)  # which it is not by itself
    counter.add_clauses(clauses)
    try:
        return counter.count()
    except RuntimeError as failed:
        if "alloc" in str(failed):
            raise MemoryError from None
        raise


if __name__ == "__main__":
    serve("pyganak", _answer)
