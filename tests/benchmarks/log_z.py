"""Whether standard errors of log Z are right: z-scores of repeated runs against exact answers.

    python -m tests.benchmarks.log_z [--runs 200] [--draws 2048]

prints per model the mean square of z (1 if calibrated) and the mean of z (0 if unbiased), each with its own
standard error.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import plx
from plx.graph.model import GroundModel, GroundQuery
from plx.infer.infer import infer
from plx.infer.options import Options
from tests.models import random_model

ISING = """
type Site = 0..{last}
random up(Site, Site)
weight {weight}: up(i, j) = up((i + 1) % {size}, j) for i, j in Site
weight {weight}: up(i, j) = up(i, (j + 1) % {size}) for i, j in Site
query up(0, 0)
"""
"""A ferromagnet on a torus; 2 J = weight."""

CRITICAL = math.log(1 + math.sqrt(2))
"""The weight at which it orders (Onsager 1944)."""


def with_log_z(model: GroundModel) -> GroundModel:
    """The model with `query logz` too."""
    return replace(model, queries=(*model.queries, GroundQuery("logz", "logz", "logz", (), (), None)))


def ising(size: int, weight: float) -> GroundModel:
    """The ferromagnet, grounded, with a query for one site."""
    return plx.compile(ISING.format(size=size, last=size - 1, weight=weight)).ground


def ising_log_z(size: int, weight: float) -> float:
    """log Z of the ferromagnet on a torus of size², exactly.

    Kaufman 1949, *Crystal statistics II*, eq. 61, with spins ±1 and J = weight / 2; a pair that agrees weighs
    J more and one that differs J less than on average here, so that 2 size² J is added.
    """
    coupling, half = weight / 2, size / 2
    arch = [
        math.acosh(math.cosh(2 * coupling) / math.tanh(2 * coupling) - math.cos(math.pi * k / size))
        for k in range(1, 2 * size)
    ]
    gammas = [2 * coupling + math.log(math.tanh(coupling)), *arch]
    sums = [
        _log_product(gammas[1::2], half, 1.0),
        _log_product(gammas[1::2], half, -1.0),
        _log_product(gammas[::2], half, 1.0),
        _log_product(gammas[::2], half, -1.0),
    ]
    top = max(size_ for _, size_ in sums)
    total = sum(sign * math.exp(size_ - top) for sign, size_ in sums)
    first = size**2 / 2 * math.log(2 * math.sinh(2 * coupling)) - math.log(2)
    return first + top + math.log(total) + 2 * size**2 * coupling


def _log_product(gammas: list[float], half: float, sign: float) -> tuple[float, float]:
    """The sign and the log of ∏ (e^(g half) + sign e^(-g half))."""
    total, negative = 0.0, False
    for gamma in gammas:
        x = abs(gamma * half)
        if sign < 0 and x == 0:
            return 0.0, -math.inf
        total += x + math.log1p(sign * math.exp(-2 * x))
        negative ^= sign < 0 and gamma < 0
    return (-1.0 if negative else 1.0), total


def models() -> Iterator[tuple[str, GroundModel, float]]:
    """Names, models and their exact log Z."""
    for seed, (derived, hard) in enumerate([(0, 0.0), (2, 0.0), (0, 0.15), (2, 0.15)]):
        small = random_model(
            np.random.default_rng(seed), variables=7, factors=9, max_card=4, derived=derived, hard=hard
        )
        exact = infer(with_log_z(small), "exact").log_z
        assert exact is not None
        yield f"random {seed}", small, exact
    yield "Ising 6x6, critical", ising(6, CRITICAL), ising_log_z(6, CRITICAL)
    yield "Ising 10x10, cold", ising(10, 1.5), ising_log_z(10, 1.5)


def scores(model: GroundModel, exact: float, runs: int, draws: int, first: int = 0) -> np.ndarray:
    """The z-scores of log Z over runs with different seeds."""
    asked = with_log_z(model)
    out = []
    for seed in range(first, first + runs):
        found = infer(asked, "tempered", Options(seed=seed, samples=draws, seconds=None, threads=1))
        assert found.log_z is not None
        out.append((found.log_z - exact) / found.log_z_mcse)
    return np.array(out)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--draws", type=int, default=4096)
    chosen = options.parse_args()
    for name, model, exact in models():
        begin = time.process_time()
        z = scores(model, exact, chosen.runs, chosen.draws)
        square, error = float((z**2).mean()), float((z**2).std() / math.sqrt(len(z)))
        seconds, largest = time.process_time() - begin, np.abs(z).max()
        print(
            f"{name:22} mean square {square:.2f} ± {error:.2f}   mean {z.mean():+.2f} ± {len(z) ** -0.5:.2f}"
            f"   largest {largest:.1f}   {seconds:.0f} s of CPU"
        )


if __name__ == "__main__":
    main()
