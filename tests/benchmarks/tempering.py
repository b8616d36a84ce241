"""Where single chains are stuck: effective samples of some methods for a second of CPU, and log Z.

python -m tests.benchmarks.tempering [--seconds 10] [--cpu] [--only NAME]… [--method NAME]…

The answer that is looked at is the slowest one. Truths: Kaufman 1949 for the ferromagnet on a torus (how
often neighbours agree is the derivative of its log Z), symmetry for Potts and blocks, sums forward and
backward in numpy for the hidden Markov model, a junction tree of plx for the rest.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import plx
from plx import deadline
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


RANDOM_FIELD = """
type Site = 0..13
random up(Site, Site)
param field(i: Site, j: Site) = 0.8 * ((i * i * 7 + j * 5 + i * j * 3) % 13 - 6) / 6
weight 1: up(i, j) = up(i + 1, j) for i, j in Site if i < 13
weight 1: up(i, j) = up(i, j + 1) for i, j in Site if j < 13
weight field(i, j): up(i, j) for i, j in Site
query up(i, i) for i in Site
query logz
"""

PARITY = """
type Step = 0..400
random bit(Step)
random parity(Step)
weight 5: parity(t) <=> (parity(t - 1) <=> bit(t)) for t in Step if t > 0
weight 1: bit(t) for t in Step
weight 0.5: parity(t) for t in Step if t % 40 = 0
query parity(200)
query parity(320)
query logz
"""

BLOCKS = """
type Node = 1..120
type Group = 1..2
random group(Node): Group
param tie(x: Node, y: Node) = ((x * y + x + y) % 23 < (14 * (x % 2 = y % 2) + 2))
weight 0.35 * tie(x, y) - 0.12 * (1 - tie(x, y)): group(x) = group(y) for x, y in Node if x < y
query group(1) = 1
query group(1) = group(4)
"""

HMM = """
type Step = 1..{steps}
type State = 0..{last}
random state(Step): State
param seen(t: Step, k: State) = 0.5 * ((t * t * 7 + k * 13 + t * k) % 17 % 5)
factor -1.5 * abs(state(t) - state(t + 1)) for t in Step if t < {steps}
factor seen(t, state(t)) for t in Step
query state({asked}) >= {half}
query state({asked}) = 0
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
    text = ISING.format(size=size, last=size - 1, weight=weight).replace("query up(0, 0)", "query {asked}")
    asked = "up(0, 0) = up(0, 1)\nquery up(0, 0) = up(9, 7)\nquery up(0, 0)\nquery logz"
    return Case(text.replace("{asked}", asked), lambda: (agreeing(size, weight), ising_log_z(size, weight)))


def agreeing(size: int, weight: float) -> float:
    """How often neighbours on a torus agree."""
    step = 1e-4
    above, below = (ising_log_z(size, weight + d) for d in (step, -step))
    return (above - below) / (2 * step) / (2 * size**2)


def _hmm(steps: int, states: int) -> Case:
    asked, half = steps // 2, states // 2
    text = HMM.format(steps=steps, last=states - 1, asked=asked, half=half)
    return Case(text, lambda: (_forward_backward(steps, states, asked, half), None))


def _forward_backward(steps: int, states: int, asked: int, half: int) -> float:
    """The probability that the state of a step is in the upper half."""
    k, t = np.arange(states), np.arange(1, steps + 1)[:, None]
    seen = np.exp(0.5 * ((t * t * 7 + k * 13 + t * k) % 17 % 5))
    move = np.exp(-1.5 * np.abs(k - k[:, None]))
    parts = []
    for rows in (seen[:asked], seen[: asked - 2 : -1]):  # up to the step asked for, from both sides
        now = np.ones(states)
        for row in rows[:-1]:
            now = (now * row / now.max()) @ move
        parts.append(now)
    p = parts[0] * parts[1] * seen[asked - 1]
    return float(p[half:].sum() / p.sum())


CASES = {
    "Ising 64x64, critical": _ising(64, CRITICAL),
    "Ising 32x32, cold": _ising(32, 1.3),
    "Potts q = 10, 16x16, at its transition": Case(
        POTTS.format(weight=math.log(1 + math.sqrt(10))), lambda: (0.1, None)
    ),
    "random field, 14x14": Case(RANDOM_FIELD, _exactly(RANDOM_FIELD)),
    "parities of 400 bits": Case(PARITY, _exactly(PARITY)),
    "two blocks of 120 nodes": Case(BLOCKS, lambda: (0.5, None)),
    "hidden Markov model, 2,000 steps of 50 states": _hmm(2000, 50),
    "two modes of smokers": Case(SMOKERS, _exactly(SMOKERS)),
    "planar ±J glass, 14x14": Case(GLASS, _exactly(GLASS)),
}


def row(method: str, found: Result, truth: tuple[float, float | None], seconds: float) -> str:
    """What one run is worth."""
    first, exact = found.queries[0], truth[1]
    asked = [query for query in found.queries if query.kind != "logz"]
    size, rhat = min(query.ess or math.inf for query in asked), max(query.rhat or 1.0 for query in asked)
    text = f"  {method:9} {size / seconds:9,.1f} effective samples/s, R-hat {rhat:.3f}"
    text += f", off by {abs(first.probability - truth[0]) / max(first.mcse, 1e-9):.1f} errors"
    if found.log_z is not None and found.inference.log_z_mcse:
        error = found.inference.log_z_mcse
        text += f"; log Z {found.log_z:.3f} ± {error:.3f}"
        text += f" (exact {exact:.3f}, off by {abs(found.log_z - exact) / error:.1f})" if exact else ""
    return text + f"; {seconds:.1f} s of CPU"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--cpu", action="store_true", help="seconds of CPU, for a machine that is busy")
    options.add_argument("--only", action="append", choices=list(CASES), default=[])
    options.add_argument("--method", action="append", default=[])
    chosen = options.parse_args()
    if chosen.cpu:
        deadline.now = time.process_time
    for name in chosen.only or CASES:
        case = CASES[name]
        print(name, flush=True)
        truth, model = case.truth(), plx.compile(case.text)
        _ = model.ground
        for method in chosen.method or ("gibbs", "tempered", "cluster", "trees", "auto"):
            begin = time.process_time()
            found = model.run(method=method, seconds=chosen.seconds, seed=1, accuracy=0.002)
            print(row(method, found, truth, time.process_time() - begin), flush=True)
            print("           ", found.inference.method, found.inference.reason, *found.inference.notes[:1])


if __name__ == "__main__":
    main()
