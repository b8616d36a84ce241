"""Seconds asked for (``--seconds``) and seconds taken, over models whose planning could take long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import plx
from plx.errors import PlxError
from plx.model import Model
from tests.benchmarks.table import Settings, Table

_GRID = """
    type Row = 1..{n}
    random up(Row, Row)
    weight 0.5: up(i, j) <=> up(i, j + 1)  for i, j in Row if j < {n}
    weight 0.3: up(i, j) <=> up(i + 1, j)  for i, j in Row if i < {n}
    weight 0.1: up(i, j)                   for i, j in Row if i * j % 7 = 3
    query up(2, 2)
"""

_PEOPLE = """
    type Person = 1..{n}
    relation friends(Person, Person)
    random smokes(Person)
    weight 0.1 * (p * 7 % 13):   smokes(p)              for p in Person
    weight 0.4: smokes(p) <=> smokes(q)  for (p, q) in friends
    {query}
"""


def people(n: int, query: str) -> Model:
    """People who differ, with three friends each."""
    pick = random.Random(n)
    friends = {(p, pick.randint(1, n)) for p in range(1, n + 1) for _ in range(3)}
    return plx.compile(_PEOPLE.format(n=n, query=query), friends=sorted(friends))


def clauses(n: int, ratio: float) -> Model:
    """Random clauses of three unknowns, near where they cannot all hold."""
    pick = random.Random(n)
    lines = [f"type T = 1..{n}", "random x(T)", "weight 0.1: x(i) for i in T", "query x(1)"]
    for _ in range(round(ratio * n)):
        literals = [pick.choice(("", "!")) + f"x({v})" for v in pick.sample(range(1, n + 1), 3)]
        lines.append("require " + " | ".join(literals))
    return plx.compile("\n".join(lines))


def rook(n: int) -> Model:
    """A dense graph that looks alike from every vertex."""
    return plx.compile(f"""
        type N = 1..{n}
        random x(N, N)
        weight 0.1: x(i, j) & x(i, k) for i, j, k in N if j < k
        weight 0.1: x(j, i) & x(k, i) for i, j, k in N if j < k
        query x(1, 1)
    """)


MODELS: dict[str, Callable[[], Model]] = {
    "grid 20 × 20": lambda: plx.compile(_GRID.format(n=20)),
    "grid 40 × 40": lambda: plx.compile(_GRID.format(n=40)),
    "1,000 people": lambda: people(1_000, "query smokes(p) for p in Person"),
    "5,000 people": lambda: people(5_000, "query smokes(p) for p in Person"),
    "1,000 people, 29 `given`": lambda: people(
        1_000, "\n".join(f"query smokes({p}) given smokes({p + 1})" for p in range(1, 30))
    ),
    "1,000 people, `query map`": lambda: people(1_000, "query map"),
    "300 unknowns, 1,260 hard clauses": lambda: clauses(300, 4.2),
    "rook's graph 40 × 40": lambda: rook(40),
}


def measure(settings: Settings) -> list[Table]:
    """A run of each model by ``auto``, the model grounded before."""
    seconds = 0.3 if settings.quick else 4.0
    names = list(MODELS)[:2] if settings.quick else list(MODELS)
    rows: list[tuple[object, ...]] = [_row(name, MODELS[name](), seconds) for name in names]
    columns = ("model", "asked, s", "taken, s", "of the processor, s", "answered by")
    return [Table("Seconds asked for and taken, finding a method included", columns, rows)]


def _row(name: str, model: Model, seconds: float) -> tuple[object, ...]:
    _ = model.ground
    wall, processor = time.perf_counter(), time.process_time()
    try:
        method = model.run(seconds=seconds, accuracy=1e-4, seed=1).inference.method
    except PlxError:
        method = "no answer in time"
    return name, seconds, time.perf_counter() - wall, time.process_time() - processor, method
