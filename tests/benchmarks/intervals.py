"""Do 95 % intervals of samplers hold what they promise? Random programs are sampled, and answered exactly.

``python -m tests.benchmarks.intervals [answers]`` prints, for each method, how many intervals hold the truth,
and the mean square of the z-scores; of rare states, by themselves, how many lie within 2 and 4 errors.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plx.graph.model import GroundModel
from plx.graph.rows import BoolArray
from plx.infer.infer import infer
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.options import Options
from plx.values import FloatArray
from tests.models import make_model, marginal, random_model

COLUMNS = ("method", "in 95 %", "mean square of z", "rare: in 95 %", "beyond 4 errors", "answers", "CPU s")
SAMPLES = 64 * 250
RARE = 0.005


class Scores(NamedTuple):
    """Of one answer each: the z-score, and whether the state, or all others, are rare or were never drawn."""

    z: FloatArray
    rare: BoolArray


def alike(rng: np.random.Generator) -> GroundModel:
    """Four unknowns that may change places, and one that each of them hangs on."""
    k, hub = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    own, tie = rng.integers(-2, 3, k).tolist(), rng.integers(-2, 3, (k, hub)).tolist()
    pair = rng.integers(-1, 2, (k, k))
    factors: list[tuple[Sequence[int], object]] = [((4,), rng.integers(-2, 3, hub).tolist())]
    factors += [((i,), own) for i in range(4)] + [((i, 4), tie) for i in range(4)]
    factors += [((i, j), (pair + pair.T).tolist()) for i in range(4) for j in range(i)]
    return make_model([k] * 4 + [hub], factors)


def program(rng: np.random.Generator, seed: int) -> GroundModel:
    """A random program; every fourth has symmetries."""
    if seed % 4 == 3:
        return alike(rng)
    return random_model(rng, variables=6, factors=8, derived=2, max_card=4, hard=0.03 * (seed % 3))


def scores(method: str, seed: int, samples: int = SAMPLES) -> Scores:
    """The z-scores of one state of each unknown of a random program, so that none counts twice.

    Answers of which R-hat says that they are not to be trusted are left out.
    """
    rng = np.random.default_rng(seed)
    model = program(rng, seed)
    found = infer(model, method, Options(seed=seed, samples=samples, accuracy=1e-9, seconds=None))
    z, rare = [], []
    for query, answer in zip(model.queries, found.answers, strict=True):
        truth = marginal(model.graph, [query.targets[0].node])
        k = int(rng.integers(len(truth)))
        agree = answer.rhat is not None and answer.rhat < Options.rhat
        if agree and abs(answer.p[k] - truth[k]) > 1e-12:  # not what symmetries alone tell
            z.append((answer.p[k] - truth[k]) / answer.mcse[k])
            rare.append(min(truth[k], 1 - truth[k]) < RARE)
    return Scores(np.array(z, dtype=float), np.array(rare, dtype=bool))


def together(method: str, answers: int, samples: int = SAMPLES) -> Scores:
    """Those of as many random programs as so many answers take."""
    z, rare = zip(*_until(method, answers, samples), strict=True)
    return Scores(np.concatenate(z), np.concatenate(rare))


def _until(method: str, answers: int, samples: int) -> Iterator[Scores]:
    seed, found = 0, 0
    while found < answers:
        one = scores(method, seed, samples)
        seed, found = seed + 1, found + len(one.z)
        yield one


def row(method: str, answers: int) -> tuple[str, ...]:
    """A row of the table of `COLUMNS`."""
    begin = time.process_time()
    z, rare = together(method, answers)
    held = np.abs(z) < 1.959964
    return (
        method,
        f"{held[~rare].mean():.1%}",
        f"{float((z[~rare] ** 2).mean()):.2f}",
        f"{held[rare].mean():.1%}" if rare.any() else "",
        f"{int((np.abs(z) > 4).sum())}",
        f"{len(z):,}",
        f"{time.process_time() - begin:.0f}",
    )


def main() -> None:
    """Print the table."""
    answers = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    methods = sys.argv[2:] or list(SAMPLERS)
    print(" | ".join(COLUMNS))
    for method in methods:
        print(" | ".join(row(method, answers)), flush=True)


if __name__ == "__main__":
    main()
