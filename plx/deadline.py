"""When work has to end: one wall clock that every long stage of a run looks at.

A deadline is set where a run begins and holds for all that is called from there, so that a stage many calls
below need not be handed it. A stage looks at it (`check`) in each turn of a loop that may take long.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

now: Callable[[], float] = time.monotonic
"""The clock."""


class OutOfTimeError(Exception):
    """The time set for some work is over; what it had not finished is lost."""


@dataclass
class _Moment:
    at: float


_ends: ContextVar[tuple[_Moment, ...]] = ContextVar("ends", default=())
_begins: ContextVar[tuple[_Moment, ...]] = ContextVar("begins", default=())


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Let the work inside end after so many seconds, or when the work around it must; None: only then."""
    end = _Moment(math.inf if seconds is None else now() + seconds)
    token = _ends.set((*_ends.get(), end))
    try:
        yield
    finally:
        _ends.reset(token)


@contextmanager
def paused() -> Iterator[None]:
    """Stop the clock for the work inside: what is done once on a machine, not once in a run."""
    begin = now()
    try:
        yield
    finally:
        for moment in (*_ends.get(), *_begins.get()):
            moment.at += now() - begin


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """The seconds since it was started, without those in which the clock was stopped."""
    begin = _Moment(now())
    token = _begins.set((*_begins.get(), begin))
    try:
        yield lambda: now() - begin.at
    finally:
        _begins.reset(token)


def seconds_left() -> float:
    """Seconds until the nearest deadline: infinite where there is none, 0 once it has passed."""
    return max(0.0, min((end.at for end in _ends.get()), default=math.inf) - now())


def over() -> bool:
    """Whether the time is over."""
    return seconds_left() <= 0


def check() -> None:
    """Raise OutOfTime if the time is over."""
    if over():
        raise OutOfTimeError
