"""Do 95 % intervals hold what they promise? Data sets are drawn from known numbers, and numbers learned back.

``python -m tests.benchmarks.coverage [data sets]`` prints, for each objective, how many intervals hold the
truth, and the mean square of the z-scores.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator

import numpy as np

import plx
from plx.graph.worlds import log_weights, node_states
from plx.learn.fit import fit
from plx.learn.numbers import Learned, numbers_of
from plx.learn.worlds import World
from plx.learning import world_of

TRUTH = {"base": -0.5, "peer": 0.8, "sick": 0.4}
PROGRAM = """
type P = {a, b, c}
relation friends(P, P) = {(a, b), (b, c)}
random smokes(P)
random ill(P)
learn base ~ flat
learn peer ~ flat
learn sick ~ flat
weight base: smokes(x) for x in P
weight peer: smokes(x) <=> smokes(y) for (x, y) in friends
weight sick: smokes(x) <=> ill(x) for x in P
"""
COLUMNS = ("objective", "intervals that hold the truth", "mean square of z", "data sets", "CPU s")


def every_world() -> tuple[list[World], list[Learned], np.ndarray]:
    """All worlds of the program, as data, and their probabilities at the truth."""
    model = plx.compile(PROGRAM, **{})
    people = ["a", "b", "c"]
    worlds = []
    for bits in itertools.product([False, True], repeat=6):
        smokes, ill = dict(zip(people, bits[:3], strict=True)), dict(zip(people, bits[3:], strict=True))
        worlds.append(world_of(model.bind(smokes=smokes, ill=ill).origin, ()))
    free = plx.compile(PROGRAM).with_weights(TRUTH).ground.graph
    states = np.stack([world.states for world in worlds], axis=1)
    logs = log_weights(free, node_states(free, states))
    p = np.exp(logs - np.logaddexp.reduce(logs))
    return worlds, numbers_of([model.origin.program]), p


def scores(objective: str, data_sets: int, size: int = 100, seed: int = 7) -> Iterator[np.ndarray]:
    """The z-scores of the numbers of each data set of so many worlds."""
    worlds, learned, p = every_world()
    truth, random = np.array([TRUTH[one.name] for one in learned]), np.random.default_rng(seed)
    for k in range(data_sets):
        drawn = random.choice(len(worlds), size=size, p=p)
        found = fit([worlds[i] for i in drawn], learned, objective, seed=k).estimates
        yield (found.value - truth) / found.error


def row(objective: str, data_sets: int) -> tuple[str, ...]:
    """A row of the table of `COLUMNS`."""
    begin = time.process_time()
    z = np.array(list(scores(objective, data_sets)))
    held = float((np.abs(z) < 1.959964).mean())
    return (
        objective,
        f"{held:.1%}",
        f"{float((z**2).mean()):.3f}",
        f"{data_sets}",
        f"{time.process_time() - begin:.0f}",
    )


def main() -> None:
    """Print the table."""
    data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for line in (
        COLUMNS,
        *(row(objective, data_sets) for objective in ("likelihood", "stochastic", "pseudo")),
    ):
        print(" | ".join(line))


if __name__ == "__main__":
    main()
