"""What a run reports while it works, and what stops it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """One report. ``done`` is a fraction of the way to the limit or to the accuracy asked for.

    ``error`` is the largest standard error so far; None before there is one.
    """

    phase: str
    done: float
    seconds: float
    error: float | None = None


LOADING = "loading kernels, which are compiled once"
"""The first phase of every run; it takes seconds only where the kernels are not compiled yet."""

Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Options:
    """How to run. ``samples`` counts kept draws over all chains; ``seconds`` is wall-clock time.

    ``threads`` never changes an answer.
    """

    seed: int = 0
    chains: int = 64
    samples: int | None = None
    seconds: float | None = 60.0
    accuracy: float = 0.005
    rhat: float = 1.01
    threads: int | None = None
    progress: Report = silent


@dataclass
class Clock:
    """Wall-clock time since it was made."""

    start: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.start
