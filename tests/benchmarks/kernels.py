"""Updates per second of the Gibbs kernel, summed over lanes.

``python -m tests.benchmarks.kernels [--threads N] [--lanes N] [--seconds S] [NAME…]``, a line per model.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from plx.ground.graph import GroundModel
from plx.infer.compiled import compile_model
from plx.infer.lanes import chains_at, step, sweep
from tests.models import make_model


def grid(side: int, states: int) -> GroundModel:
    """A grid of unknowns that like to agree with their neighbours (weight 0.4)."""
    cards = [states] * side**2
    agree = [[Fraction(2, 5) * (a == b) for b in range(states)] for a in range(states)]
    right = [((i, i + 1), agree) for i in range(side**2) if (i + 1) % side]
    down = [((i, i + side), agree) for i in range(side * (side - 1))]
    return make_model(cards, right + down)


def ring(size: int) -> GroundModel:
    """A ring whose unknowns prefer to differ from the next."""
    differ = [[0, 1], [Fraction(1, 2), 0]]
    return make_model([2] * size, [(sorted((i, (i + 1) % size)), differ) for i in range(size)])


def friends(people: int) -> GroundModel:
    """Smoking people and all their random friendships: smokers' friends smoke."""
    x, y = np.nonzero(~np.eye(people, dtype=bool))
    weight = Fraction(1, people)
    implies = np.array([[[weight] * 2] * 2, [[weight] * 2, [0, weight]]], dtype=object)
    small = make_model(
        [2] * 4, [((0, 1, 2), np.moveaxis(implies, 0, 2)), ((0, 1, 3), implies.transpose(2, 1, 0))]
    )
    pair = people + np.arange(len(x))
    scope = np.stack([np.minimum(x, y), np.maximum(x, y), pair], axis=1)
    graph = small.graph._replace(
        n_variables=people + len(x),
        card=np.full(people + len(x), 2, dtype=np.int32),
        scope_start=np.arange(len(x) + 1) * 3,
        scope=scope.ravel().astype(np.int32),
        table_of=(x > y).astype(np.int32),
        rule_of=np.zeros(len(x), dtype=np.int32),
    )
    return replace(small, graph=graph, queries=small.queries[:1])


def counters(size: int, copies: int) -> GroundModel:
    """Groups of unknowns, each with a weight on how many of the group hold."""
    cards = [2] * (size * copies)
    derived = [([(g * size + i, [0, 1]) for i in range(size)], range(size + 1)) for g in range(copies)]
    weights = [Fraction(-((2 * k - size) ** 2), 4 * size) for k in range(size + 1)]
    return make_model(cards, [((len(cards) + g,), weights) for g in range(copies)], derived)


MODELS: dict[str, Callable[[], GroundModel]] = {
    "ising-50x50": lambda: grid(50, 2),
    "potts-50x50x5": lambda: grid(50, 5),
    "ring-1000": lambda: ring(1000),
    "friends-300": lambda: friends(300),
    "counter-1000": lambda: counters(1000, 1),
    "counters-20x1000": lambda: counters(20, 50),
}


def speed(model: GroundModel, lanes: int, threads: int, seconds: float, record: bool) -> float:
    """Updates per second: the best of several measurements that take about this long together."""
    plan = compile_model(model if record else replace(model, queries=()))
    states = np.zeros((model.graph.n_variables, lanes), dtype=np.int32)
    chains = chains_at(plan, states, 1, threads)
    work = (lambda n: step(chains, n, 1)) if record else (lambda n: sweep(chains, n))
    sweeps, rate, begin = 1, 0.0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        work(sweeps)
        spent = time.perf_counter() - start
        rate = max(rate, sweeps * model.graph.n_variables * lanes / spent)
        sweeps = sweeps * 2 if spent < seconds / 20 else sweeps
    return rate


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("names", nargs="*", default=list(MODELS))
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--lanes", type=int, default=64)
    options.add_argument("--seconds", type=float, default=1.0)
    given = options.parse_args()
    print(f"updates/s, {given.lanes} lanes, {given.threads} threads")
    print(f"{'model':20} {'sweeps only':>14} {'and recording':>14}")
    for name in given.names or MODELS:
        model = MODELS[name]()
        bare = speed(model, given.lanes, given.threads, given.seconds, record=False)
        full = speed(model, given.lanes, given.threads, given.seconds, record=True)
        print(f"{name:20} {bare:14.3g} {full:14.3g}")


if __name__ == "__main__":
    main()
