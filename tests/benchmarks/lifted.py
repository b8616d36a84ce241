"""Updates per second of plain Gibbs and of ``lifted`` on one reduced model.

``python -m tests.benchmarks.lifted`` prints a line per model. *recorded*: plain Gibbs that counts the same
nodes as often. The share is of that: what averaging over symmetries costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from plx.graph.model import GroundModel
from plx.infer.gibbs import plain
from plx.infer.gibbs.chains import GibbsChains, sweep
from plx.infer.orbits import lifted
from plx.infer.problem import Problem
from tests.benchmarks.models import complete, curriculum, potts, ring
from tests.models import make_model

LANES = 64


def asked(model: GroundModel) -> GroundModel:
    """The model with a query for every unknown."""
    card = model.graph.card[: model.graph.n_variables].tolist()
    return replace(model, queries=make_model(card, []).queries)


def rate(step: Callable[[Any, int, int], object], chains: Any, n: int) -> float:
    """Updates per second, for ``n`` per lane and draw; calls take about a tenth of a second, as in a run."""
    step(chains, 2, 1)
    draws, begin = 4, time.process_time()
    step(chains, draws, 1)
    draws = max(1, int(draws * 0.1 / (time.process_time() - begin)))
    begin = time.process_time()
    for _ in range(10):
        step(chains, draws, 1)
    return 10 * draws * n * LANES / (time.process_time() - begin)


def _step(every: int, chains: GibbsChains, draws: int, thin: int) -> object:
    return chains.step(draws, thin * every)


def main() -> None:
    """One line per model: millions of updates per second, and how much is left when lifted."""
    models = {"ring 1,000": ring(1000), "ring 20,000": ring(20_000), "Potts 40×40": potts(40)}
    models |= {"curriculum, 200 students": curriculum(200), "complete graph of 100": complete(100)}
    print(
        f"{'model':26} {'sweeps only':>12} {'recorded':>9} {'lifted':>8} {'share':>6}   millions of updates/s"
    )
    for name, model in models.items():
        found = lifted.init(Problem(asked(model)), 1, LANES, 1)
        inner = found.averages.model
        same = Problem(inner)
        bare, same_queries = (plain.init(one, 1, LANES, 1) for one in (same.asking(()), same))
        n, every = inner.graph.n_variables, found.every
        fast = rate(lambda chains, draws, thin: sweep(chains, draws * thin), bare, n)
        same = rate(partial(_step, every), same_queries, n * every)
        ours = rate(lifted.step, found, n * every)
        speeds = f"{fast / 1e6:12.1f} {same / 1e6:9.1f} {ours / 1e6:8.1f} {ours / same:6.0%}"
        print(f"{name:26} {speeds}", flush=True)


if __name__ == "__main__":
    main()
