"""Where single chains are stuck: effective samples of `gibbs` and `tempered` for a second of CPU, and log Z.

python -m tests.benchmarks.tempering [--seconds 10] [--only NAME]…

The answer that is looked at is the slowest one. Truths: Kaufman 1949 for log Z of the ferromagnet on a torus,
symmetry for its spins and those of Potts, a junction tree for the rest.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import plx
from plx.answer.result import Result
from tests.benchmarks.log_z import CRITICAL, ISING, ising_log_z

POTTS = """
type Site = 0..15
type Colour = 0..9
random colour(Site, Site): Colour
weight {weight}: colour(i, j) = colour((i + 1) % 16, j) for i, j in Site
weight {weight}: colour(i, j) = colour(i, (j + 1) % 16) for i, j in Site
query colour(0, 0) = 0
query logz
"""

SMOKERS = """
type Person = 1..60
random smokes(Person)
weight 0.4: smokes(x) = smokes(y) for x, y in Person if x < y
weight 1: smokes(1)
query smokes(3)
query logz
"""

GLASS = """
type Site = 0..13
random up(Site, Site)
param right(i: Site, j: Site) = 1.5 * (2 * ((i * i * 5 + j * 3 + i * j * 7 + i) % 11 % 2) - 1)
param down(i: Site, j: Site) = 1.5 * (2 * ((i * 3 + j * j * 5 + i * j * 2 + j) % 13 % 2) - 1)
weight right(i, j): up(i, j) = up(i + 1, j) for i, j in Site if i < 13
weight down(i, j): up(i, j) = up(i, j + 1) for i, j in Site if j < 13
weight 0.2: up(0, 0)
query up(i, i) for i in Site
query logz
"""


@dataclass(frozen=True)
class Case:
    """A program and its truths: of the first query, and log Z."""

    text: str
    truth: Callable[[], tuple[float, float | None]]


def _exactly(text: str) -> Callable[[], tuple[float, float | None]]:
    def truth() -> tuple[float, float | None]:
        found = plx.run(text, method="exact")
        return found.queries[0].probability, found.log_z

    return truth


def _ising(size: int, weight: float) -> Case:
    text = ISING.format(size=size, last=size - 1, weight=weight) + "query logz\n"
    return Case(text, lambda: (0.5, ising_log_z(size, weight)))


CASES = {
    "Ising 64x64, critical": _ising(64, CRITICAL),
    "Ising 32x32, cold": _ising(32, 1.3),
    "Potts q = 10, 16x16, at its transition": Case(
        POTTS.format(weight=math.log(1 + math.sqrt(10))), lambda: (0.1, None)
    ),
    "two modes of smokers": Case(SMOKERS, _exactly(SMOKERS)),
    "planar ±J glass, 14x14": Case(GLASS, _exactly(GLASS)),
}


def row(method: str, found: Result, truth: tuple[float, float | None], seconds: float) -> str:
    """What one run is worth."""
    first, exact = found.queries[0], truth[1]
    asked = [query for query in found.queries if query.kind != "logz"]
    size, rhat = min(query.ess or 0.0 for query in asked), max(query.rhat or math.inf for query in asked)
    text = f"  {method:9} {size / seconds:9,.1f} effective samples/s, R-hat {rhat:.3f}"
    text += f", off by {abs(first.probability - truth[0]) / max(first.mcse, 1e-9):.1f} errors"
    if found.log_z is not None:
        error = found.inference.log_z_mcse
        text += f"; log Z {found.log_z:.3f} ± {error:.3f}"
        text += f" (exact {exact:.3f}, off by {abs(found.log_z - exact) / error:.1f})" if exact else ""
    return text + f"; {seconds:.1f} s of CPU"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--only", action="append", choices=list(CASES), default=[])
    chosen = options.parse_args()
    for name in chosen.only or CASES:
        case = CASES[name]
        print(name, flush=True)
        truth, model = case.truth(), plx.compile(case.text)
        _ = model.ground
        for method in ("gibbs", "tempered"):
            begin = time.process_time()
            found = model.run(method=method, seconds=chosen.seconds, seed=1, accuracy=0.002)
            print(row(method, found, truth, time.process_time() - begin), flush=True)
            print("           ", *found.inference.notes[:1])


if __name__ == "__main__":
    main()
