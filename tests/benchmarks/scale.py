"""What chains cost on 1, 2 and 4 workers, and where one of them is slow: the figures of docs/scale.md.

Work is CPU seconds, as processes that share cores have no wall clock of their own; only for workers that are
delayed, by far more than the machine is, it is seconds of waiting.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import plx
from plx.cluster import connect
from plx.cluster.connect import Crew
from plx.cluster.spread import SpreadChains
from plx.extras import library
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.problem import Problem
from tests.benchmarks.table import Settings, Table

PROGRAM = """
    type P = 1..{n}
    random smokes(P)
    weight 0.3: smokes(x) for x in P
    weight 0.8: smokes(x) <=> smokes(x + 1) for x in P if x < {n}
    weight 0.2: smokes(x) <=> smokes(x + 7) for x in P if x < {n} - 6
    query smokes(1)
"""

CHAINS, DELAY = 64, 0.5


def measure(settings: Settings) -> list[Table]:
    """Calls of a step of all chains, on workers that are as fast as they are, and on one that is late."""
    n, calls = (2_000, 3) if settings.quick else (100_000, 10)
    problem = Problem(plx.compile(PROGRAM.format(n=n)).ground)
    rows = [_row(problem, workers, late, calls) for workers in (1, 2, 4) for late in (False, True)]
    columns = ("workers", "one is late", "sent once, MB", "a part, MB", "this process, s", "workers, s")
    note = f"{n:,} unknowns, {CHAINS} chains; CPU seconds of {calls} calls of 4 sweeps, and the median wait."
    return [Table("Chains on workers", (*columns, "waiting for a call, s"), rows, (note,))]


def _row(problem: Problem, workers: int, late: bool, calls: int) -> tuple[Any, ...]:
    with connect._own(library("distributed", "clusters"), workers) as client:
        sampler = SAMPLERS["gibbs"]
        chains = Crew(client).spread(sampler, sampler.init(problem, 1, CHAINS, 1), CHAINS)
        assert isinstance(chains, SpreadChains)
        chains.step(1, 4)
        waits = []
        with _late(client, late):
            own, theirs = time.process_time(), _spent(client)
            for _ in range(calls):
                begin = time.monotonic()
                chains.step(1, 4)
                waits.append(time.monotonic() - begin)
            spent = time.process_time() - own, _spent(client) - theirs
        sizes = len(chains._fixed) / 1e6, len(chains._places[0].kept) / 1e6
        return workers, "yes" if late else "no", *sizes, *spent, float(np.median(waits))


def _spent(client: Any) -> float:
    return float(sum(client.run(time.process_time).values()))


@contextmanager
def _late(client: Any, late: bool) -> Iterator[None]:
    """The first worker waits before each of its calls."""
    first = [next(iter(client.nthreads()))]
    if late:
        client.run(_delay, workers=first)
    yield
    if late:
        client.run(_delay, 0.0, workers=first)


def _delay(seconds: float = DELAY) -> None:
    """Have the parts of this process wait before they answer."""
    from plx.cluster.part import Part

    step = getattr(Part, "prompt_step", Part.step)

    def delayed(self: Any, *given: int) -> Any:
        time.sleep(seconds)
        return step(self, *given)

    Part.prompt_step, Part.step = step, delayed  # type: ignore[attr-defined,method-assign]
