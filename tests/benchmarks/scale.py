"""What chains cost on 1, 2 and 4 workers, and where one of them is slow: the figures of docs/scale.md.

Work is CPU seconds, as processes that share cores have no wall clock of their own. A cluster is simulated by
workers that are held up, by far more than the machine holds them up: one is late, or all are as slow as
machines of which each has a core of its own at a 25th of the speed, the first at a 50th. There it is
seconds of waiting.
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

PACE = 4e-8
"""Seconds that a simulated machine takes for an update."""


def measure(settings: Settings) -> list[Table]:
    """Calls of a step of all chains, on workers that are as fast as they are, and on one that is late."""
    n, calls, most = (2_000, 3, 2) if settings.quick else (100_000, 10, 4)
    problem = Problem(plx.compile(PROGRAM.format(n=n)).ground)
    crews = [workers for workers in (1, 2, 4) if workers <= most]
    rows = [row for workers in crews for row in _rows(problem, workers, calls)]
    columns = ("workers", "held up", "sent once, MB", "a part, MB", "this process, s", "workers, s")
    note = f"{n:,} unknowns, {CHAINS} chains; CPU seconds of {calls} calls of 4 sweeps, and the median wait."
    return [Table("Chains on workers", (*columns, "waiting for a call, s"), rows, (note,))]


HOLDS = {
    "no": (0.0, 0.0, 0.0),
    "one is late": (DELAY, 0.0, 0.0),
    "all slow": (0.0, PACE, PACE),
    "all slow, one at half speed": (0.0, 2 * PACE, PACE),
}
"""Seconds that the first worker is late in each call, and those of the first and the others for an update."""


def _rows(problem: Problem, workers: int, calls: int) -> Iterator[tuple[Any, ...]]:
    sampler = SAMPLERS["gibbs"]
    with connect._own(library("distributed", "clusters"), workers) as client:
        for held, delays in HOLDS.items():
            chains = Crew(client).spread(sampler, sampler.init(problem, 1, CHAINS, 1), CHAINS)
            assert isinstance(chains, SpreadChains)
            chains.step(1, 4)
            waits = []
            with _held(client, problem.graph.n_variables, *delays):
                own, theirs = time.process_time(), _spent(client)
                for _ in range(calls):
                    begin = time.monotonic()
                    chains.step(1, 4)
                    waits.append(time.monotonic() - begin)
                spent = time.process_time() - own, _spent(client) - theirs
            sizes = len(chains._fixed) / 1e6, len(chains._places[0].kept) / 1e6
            yield workers, held, *sizes, *spent, float(np.median(waits))


def _spent(client: Any) -> float:
    return float(sum(client.run(time.process_time).values()))


@contextmanager
def _held(client: Any, unknowns: int, late: float, first: float, others: float) -> Iterator[None]:
    """The workers wait before, and until they have taken so long for, each of their calls."""
    for at, worker in enumerate(client.nthreads()):
        pace = others if at else first
        client.run(_hold, 0.0 if at else late, pace * unknowns, workers=[worker])
    yield
    client.run(_hold, 0.0, 0.0)


def _hold(late: float, sweep: float) -> None:
    """Have the parts of this process take longer before they answer: so long for a sweep of a chain."""
    from plx.cluster.part import Part

    step = getattr(Part, "prompt_step", Part.step)

    def slow(self: Any, turn: int, draws: int, thin: int) -> Any:
        time.sleep(late)
        begin = time.monotonic()
        counts = step(self, turn, draws, thin)
        time.sleep(max(0.0, len(counts) * draws * thin * sweep - (time.monotonic() - begin)))
        return counts

    Part.prompt_step, Part.step = step, slow  # type: ignore[attr-defined,method-assign]
