"""Models that mix badly: which answers converge, which are right, and which claim to converge and are wrong.

``python -m tests.benchmarks.stuck [--seconds 10] [--cpu] [--methods auto] [--only NAME]… [--truths FILE]``

Every family has several sizes and strengths. Truths are exact: by plx's exact ways where these are within
reach, else by symmetry or a closed form. ``auto`` may not use an exact way here: what it samples is measured.
Right is an answer within 4 standard errors and 0.005; wrong one that claims to have converged and is farther
off than 4 standard errors.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import plx
from plx import deadline
from plx.answer.estimate import name_answers
from plx.answer.result import QueryResult
from plx.deadline import within
from plx.infer import infer as inference
from plx.infer.options import Options
from plx.infer.problem import Problem

COLUMNS = (
    "method",
    "answers",
    "converged",
    "right of these",
    "wrong of these",
    "off by 0.02, marked",
    "CPU s",
)


@dataclass(frozen=True)
class Case:
    """A program, and the probabilities that its queries have; None: they are worked out exactly."""

    name: str
    text: str
    truth: Callable[[], Callable[[int], float]] | None = None


def smokers(n: int, weight: float, push: float) -> str:
    """Two modes: nearly all smoke or nearly none does."""
    return f"""
type Person = 1..{n}
random smokes(Person)
weight {weight}: smokes(x) = smokes(y) for x, y in Person if x < y
weight {push}: smokes(1)
query smokes(x) for x in Person if x <= 4
"""


def glass(n: int, weight: float) -> str:
    """±J couplings on a grid."""
    return f"""
type Site = 1..{n}
random up(Site, Site)
param right(i: Site, j: Site) = {weight} * (2 * ((i * i * 5 + j * 3 + i * j * 7 + i) % 11 % 2) - 1)
param down(i: Site, j: Site) = {weight} * (2 * ((i * 3 + j * j * 5 + i * j * 2 + j) % 13 % 2) - 1)
weight right(i, j): up(i, j) = up(i + 1, j) for i, j in Site if i < {n}
weight down(i, j): up(i, j) = up(i, j + 1) for i, j in Site if j < {n}
weight 0.2: up(1, 1)
query up(i, i) for i in Site if i <= 5
"""


def fields(n: int, weight: float, strength: float) -> str:
    """A ferromagnet with random fields."""
    return f"""
type Site = 1..{n}
random up(Site, Site)
weight {weight}: up(i, j) = up(i + 1, j) for i, j in Site if i < {n}
weight {weight}: up(i, j) = up(i, j + 1) for i, j in Site if j < {n}
weight {strength} * ((i * i * 3 + j * 5 + i * j * 2) % 7 - 3) / 3: up(i, j) for i, j in Site
query up(i, i) for i in Site if i <= 5
"""


def parity(n: int, weight: float) -> str:
    """A chain of parities: each bit and the next but one agree with a third."""
    return f"""
type Step = 1..{n}
random bit(Step)
random odd(Step)
require odd(1) <=> bit(1)
require odd(t) <=> (odd(t - 1) != bit(t)) for t in Step if t > 1
weight {weight}: bit(t) for t in Step if t % 3 = 1
weight {-weight}: bit(t) for t in Step if t % 3 = 2
observe odd({n})
query bit(t) for t in Step if t <= 5
"""


def soft_parity(n: int, weight: float) -> str:
    """The same by weights, so that bits move in pairs or hardly ever."""
    return f"""
type Step = 1..{n}
random bit(Step)
weight {weight}: (bit(t) != bit(t + 1)) != bit(t + 2) for t in Step if t + 2 <= {n}
weight 0.7: bit(1)
weight -0.4: bit(2)
weight 0.3: bit({n})
query bit(t) for t in Step if t <= 5
"""


def permutation(n: int, weight: float) -> str:
    """A permutation matrix whose entries have weights."""
    return f"""
type N = 1..{n}
random at(N, N)
require count(at(i, j) for j in N) = 1 for i in N
require count(at(i, j) for i in N) = 1 for j in N
weight {weight} * ((i * j * 7 + 3 * i + j) % 11) / 5: at(i, j) for i, j in N
query at(i, i) for i in N if i <= 5
"""


def assignment(n: int, weight: float) -> str:
    """The same, as unknowns of many values that all differ."""
    return f"""
type N = 1..{n}
random place(N): N
require alldifferent(place(x) for x in N)
weight {weight} * ((x * y * 7 + 3 * x + y) % 11) / 5: place(x) = y for x, y in N
query place(x) = x for x in N if x <= 5
"""


def colouring(n: int, colours: int, step: int) -> str:
    """Colourings of a ring with chords, one node's colour being favoured."""
    return f"""
type Node = 0..{n - 1}
type Colour = 1..{colours}
random colour(Node): Colour
require colour(x) != colour((x + 1) % {n}) for x in Node
require colour(x) != colour((x + {step}) % {n}) for x in Node
weight 0.8: colour(0) = 1
query colour(x) = 1 for x in Node if x <= 4
"""


def blocks(n: int, within: float, between: float) -> str:
    """A stochastic block model: two groups, ties seen."""
    return f"""
type Node = 1..{n}
random left(Node)
weight {within}: left(x) = left(y) for x, y in Node if x < y & (x <= {n // 2}) = (y <= {n // 2})
weight {between}: left(x) != left(y)
  for x, y in Node if x < y & (x <= {n // 2}) != (y <= {n // 2}) & (x * y) % 3 = 1
weight 0.6: left(1)
query left(x) for x in Node if x <= 2 | x = {n}
"""


def hidden(n: int, states: int, stay: float) -> str:
    """A hidden Markov model that stays where it is."""
    return f"""
type Time = 1..{n}
type State = 1..{states}
random state(Time): State
weight {stay}: state(t) = state(t + 1) for t in Time if t < {n}
weight 1.2: state(t) = s for t in Time, s in State if (t * t + s * 3) % {states + 2} = 1
query state(t) = 1 for t in Time if t <= 5
"""


def jackpot(n: int, weight: float) -> str:
    """One world weighs more."""
    return f"""
type N = 1..{n}
random up(N)
weight {weight}: forall(up(x) for x in N)
query up(x) for x in N if x <= 3
"""


def holes(n: int, weight: float) -> str:
    """One heavy world that is nothing special among worlds that interact."""
    return f"""
type N = 1..{n}
random up(N)
weight 0.4: up(x) <=> up(x + 1) for x in N if x < {n}
weight {weight}: forall(up(x) <=> (x % 3 = 1) for x in N)
query up(x) for x in N if x <= 3
"""


def records(n: int, scale: float) -> str:
    """Entity resolution: which records are about the same thing."""
    return f"""
type Record = 1..{n}
random same(Record, Record)
param alike(x: Record, y: Record) = {scale} * (2 * ((x * y * 3 + x + y) % 7 - 3)) / 3
require same(x, x)                            for x in Record
require same(x, y) <=> same(y, x)             for x, y in Record if x < y
require same(x, y) & same(y, z) => same(x, z) for x, y, z in Record
weight alike(x, y): same(x, y)                for x, y in Record if x < y
query same(1, y) for y in Record if y > 1 & y <= 5
"""


def together(n: int, scale: float) -> Callable[[int], float]:
    """The probabilities that records 1 and 2, 1 and 3, … are the same: sums over clusters of the first of
    what is left."""
    pair = [[scale * (2 * ((x * y * 3 + x + y) % 7 - 3)) / 3 for y in range(n + 1)] for x in range(n + 1)]
    weight, rest = [0.0] * 2**n, [0.0] * 2**n
    for c in range(1, 2**n):
        low = (c & -c).bit_length() - 1
        others = c & (c - 1)
        more = sum(pair[low + 1][y + 1] for y in range(low + 1, n) if c >> y & 1)
        weight[c] = more + weight[others]
    rest[0] = 1.0
    every = 2**n - 1

    def clusters(left: int) -> Iterator[int]:
        low, others = left & -left, left & (left - 1)
        sub = others
        while True:
            yield sub | low
            if not sub:
                return
            sub = (sub - 1) & others

    for left in range(1, every):
        rest[left] = math.fsum(math.exp(weight[c]) * rest[left ^ c] for c in clusters(left))
    with_first = {c: math.exp(weight[c]) * rest[every ^ c] for c in clusters(every)}
    total = math.fsum(with_first.values())
    return lambda i: math.fsum(p for c, p in with_first.items() if c >> (i + 1) & 1) / total


def queens(n: int) -> str:
    """Queens that do not threaten each other, one place being favoured."""
    return f"""
type Line = 1..{n}
random row(column: Line): Line
require alldifferent(row(c) for c in Line)
require alldifferent(row(c) + c for c in Line)
require alldifferent(row(c) - c for c in Line)
weight 0.7: row(1) = 3
query row(c) = 3 for c in Line if c <= 4
"""


def evenly(n: int) -> Callable[[int], float]:
    """All answers are 1 / n."""
    return lambda _: 1 / n


def cases() -> Iterator[Case]:
    """Fifty models of thirteen families."""
    for n, weight, push in ((20, 0.3, 0.5), (30, 0.4, 1.0), (40, 0.2, 0.5), (60, 0.1, 1.0)):
        yield Case(f"smokers {n} {weight}", smokers(n, weight, push))
    for n, weight in ((10, 1.5), (12, 3.0), (16, 1.5), (18, 1.5)):
        yield Case(f"glass {n} {weight}", glass(n, weight))
    for n, weight, strength in ((10, 1.0, 1.0), (10, 2.0, 0.6), (14, 1.0, 1.5), (14, 1.5, 0.5)):
        yield Case(f"fields {n} {weight}", fields(n, weight, strength))
    for n, weight in ((12, 1.0), (20, 0.5), (40, 1.0), (200, 1.0)):
        yield Case(f"parity {n} {weight}", parity(n, weight))
    for n, weight in ((20, 3.0), (40, 4.0), (60, 6.0), (100, 8.0)):
        yield Case(f"soft parity {n} {weight}", soft_parity(n, weight))
    for n, weight in ((6, 1.0), (8, 1.0), (8, 3.0), (10, 2.0)):
        yield Case(f"permutation {n} {weight}", permutation(n, weight))
    yield Case("permutation 30, uniform", permutation(30, 0.0), partial(evenly, 30))
    for n, weight in ((8, 2.0), (10, 1.0), (10, 4.0)):
        yield Case(f"assignment {n} {weight}", assignment(n, weight))
    yield Case("assignment 30, uniform", assignment(30, 0.0), partial(evenly, 30))
    for n, colours, step in ((12, 3, 5), (20, 3, 3), (30, 4, 2), (30, 3, 5)):
        yield Case(f"colouring {n} {colours} {step}", colouring(n, colours, step))
    for n, inside, between in ((16, 0.5, 1.0), (20, 1.0, 0.3), (20, 2.0, 0.05), (30, 0.3, 0.3)):
        yield Case(f"blocks {n} {inside}", blocks(n, inside, between))
    for n, states, stay in ((50, 5, 4.0), (200, 10, 5.0), (400, 20, 6.0)):
        yield Case(f"hidden {n} {states}", hidden(n, states, stay))
    for n, weight in ((30, 40.0), (20, 12.0), (16, 15.0)):
        yield Case(f"jackpot {n} {weight}", jackpot(n, weight))
    for n, weight in ((20, 18.0), (24, 22.0), (30, 15.0)):
        yield Case(f"holes {n} {weight}", holes(n, weight))
    for n, scale in ((10, 0.5), (10, 1.0), (12, 1.0), (12, 3.0), (13, 2.0)):
        yield Case(f"records {n} {scale}", records(n, scale), partial(together, n, scale))
    for n in (8, 9, 10):
        yield Case(f"queens {n}", queens(n))


def sampled(text: str, method: str, seconds: float, seed: int) -> tuple[Sequence[QueryResult], str]:
    """The answers, and what gave them; by ``auto`` those that it has where no exact way fits."""
    if method != "auto":
        run = plx.run(text, method=method, seconds=seconds, seed=seed)
        return run.queries, method
    model = plx.compile(text).ground
    with within(seconds):
        found = inference._out_of_reach(Problem(model), Options(seed=seed, seconds=seconds))
    return name_answers(model, found.answers), found.method


def truths(case: Case, kept: Path | None) -> list[float] | None:
    """What the queries' probabilities are, from a file where they are kept; None where no exact way tells."""
    known = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    if case.text not in known:
        known[case.text] = worked_out(case)
        if kept is not None:
            kept.write_text(json.dumps(known))
    found: list[float] | None = known[case.text]
    return found


def worked_out(case: Case) -> list[float] | None:
    """What the queries' probabilities are; None where no exact way tells."""
    if case.truth is not None:
        model = plx.compile(case.text)
        truth = case.truth()
        return [truth(i) for i in range(len(model.ground.queries))]
    try:
        return [query.probability for query in plx.run(case.text, method="exact", seconds=120).queries]
    except plx.PlxError:
        return None


@dataclass
class Tally:
    """What one method did."""

    answers: int = 0
    converged: int = 0
    right: int = 0
    wrong: int = 0
    off: int = 0
    cpu: float = 0.0

    def add(self, query: QueryResult, truth: float) -> str:
        """Count an answer; what is to be said of it."""
        far = abs(query.probability - truth)
        self.answers += 1
        self.converged += query.converged
        wrong = query.converged and far > 4 * query.mcse + 1e-9
        self.wrong += wrong
        self.right += query.converged and not wrong
        self.off += not query.converged and far > 0.02
        return f"{query.name} {query.probability:.5f} ± {query.mcse:.5f}, not {truth:.5f}" if wrong else ""


def main() -> None:
    """Print a line for each model and method, and the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--cpu", action="store_true", help="seconds of CPU, for a machine that is busy")
    options.add_argument("--methods", default="auto")
    options.add_argument("--only", action="append", default=[])
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--truths", type=Path, help="a file in which exact answers are kept")
    given = options.parse_args()
    if given.cpu:
        deadline.now = time.process_time
    tallies = {method: Tally() for method in given.methods.split(",")}
    for case in cases():
        if given.only and not any(case.name.startswith(name) for name in given.only):
            continue
        if (truth := truths(case, given.truths)) is None:
            print(f"{case.name}: no exact answer")
            continue
        for method, tally in tallies.items():
            begin = time.process_time()
            found, by = sampled(case.text, method, given.seconds, given.seed)
            said = [tally.add(query, p) for query, p in zip(found, truth, strict=True)]
            spent = time.process_time() - begin
            tally.cpu += spent
            n = sum(query.converged for query in found)
            worst = max(query.rhat or 99.0 for query in found)
            print(
                f"{case.name}: {method} ({by}), {n} of {len(truth)} converged,"
                f" R-hat {worst:.3f}, {spent:.1f} s",
                *filter(None, said),
                sep="; ",
                flush=True,
            )
    print(" | ".join(COLUMNS))
    for method, one in tallies.items():
        shares = (one.converged, one.right, one.wrong, one.off)
        print(" | ".join([method, str(one.answers), *map(str, shares), f"{one.cpu:.0f}"]))


if __name__ == "__main__":
    main()
