"""Random models with hard rules: what each method answers against enumeration.

``python -m tests.benchmarks.hard_rules [models]`` prints, per method, how many answers are within four
standard errors, further away but marked as not converged, and silently wrong.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np

from plx.graph.model import GroundModel
from plx.infer.infer import infer
from plx.infer.inference import Answer
from plx.infer.options import Options
from tests.models import marginal, random_model

METHODS = ("auto", "gibbs", "lifted", "mcsat")
OPTIONS = Options(chains=64, samples=64 * 100, seconds=None, accuracy=0.02)


def hard_model(seed: int) -> GroundModel:
    """A random model of up to eight unknowns in which 30 to 70 % of all entries are impossible."""
    rng = np.random.default_rng(seed)
    model = random_model(
        rng,
        variables=int(rng.integers(3, 9)),
        factors=int(rng.integers(3, 12)),
        derived=int(rng.integers(0, 4)),
        max_card=(2, 4)[seed % 2],
        hard=(0.3, 0.5, 0.7)[seed % 3],
    )
    return (
        model if np.prod(model.graph.card[: model.graph.n_variables]) <= 5000 else hard_model(seed + 10_000)
    )


def truths(model: GroundModel) -> list[np.ndarray]:
    return [marginal(model.graph, [query.targets[0].node]) for query in model.queries]


def verdict(answer: Answer, truth: np.ndarray) -> str:
    """``right``, ``marked`` or ``wrong``."""
    if (np.abs(answer.p - truth) <= 4 * answer.mcse + 1e-9).all():
        return "right"
    return "wrong" if answer.converged else "marked"


def verdicts(model: GroundModel, method: str, seed: int, truth: list[np.ndarray]) -> list[str]:
    found = infer(model, method, replace(OPTIONS, seed=seed))
    return [verdict(answer, t) for answer, t in zip(found.answers, truth, strict=True)]


def main(models: int) -> None:
    tally = {method: Counter[str]() for method in METHODS}
    seconds = dict.fromkeys(METHODS, 0.0)
    for seed in range(models):
        model = hard_model(seed)
        truth = truths(model)
        for method in METHODS:
            begin = time.perf_counter()
            found = verdicts(model, method, seed, truth)
            seconds[method] += time.perf_counter() - begin
            tally[method].update(found)
            if "wrong" in found:
                print(f"model {seed}: {method} is silently wrong")
    for method, counts in tally.items():
        print(f"{method:8}", dict(counts), f"{seconds[method]:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
