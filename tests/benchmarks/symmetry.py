"""Seconds from factor graph to group."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from plx.graph.model import GroundModel
from plx.lift.find import find_symmetry
from plx.lift.symmetry import Kind
from tests.benchmarks.models import complete, curriculum, potts, published, ring
from tests.benchmarks.table import Settings, Spread, Table

PAPER = Path(__file__).parents[3] / "shared" / "paper"

Case = tuple[str, Callable[[], GroundModel], Kind, float | None]
"""Name, model, kind of symmetry, and the seconds that it may take."""


def cases() -> Iterator[Case]:
    """What the benchmark measures."""
    yield "ring of 1,000, renamed", lambda: ring(1000), "vv", 0.1
    yield "ring of 100,000, renamed", lambda: ring(100_000), "vv", 5
    yield "Potts 100×100, 3 colours", lambda: potts(100), "vv", 3
    for kind in ("vv", "nec"):
        yield "curriculum, 200 tied students", lambda: curriculum(200), kind, 1.5
        yield "curriculum, 2,000 tied students", lambda: curriculum(2000), kind, 15
    yield "complete graph of 1,000 people", lambda: complete(1000), "vv", None
    for name in ("sc_20_10", "ring_test4_size500"):
        if (PAPER / f"{name}.json").exists():
            yield name, lambda name=name: published(PAPER / f"{name}.json"), "nec", 0.3  # type: ignore[misc]


def small() -> Iterator[Case]:
    """What a trial measures."""
    yield "ring of 6, renamed", lambda: ring(6), "vv", None
    yield "curriculum, 2 tied students", lambda: curriculum(2, (2, 3)), "nec", None


def measure(settings: Settings) -> list[Table]:
    """Every case, after a small one that loads the kernels."""
    find_symmetry(ring(6), "vv")
    columns = ("model", "kind", "unknowns", "factors", "seconds", "bar", "order")
    rows = [_row(case, settings) for case in (small() if settings.quick else cases())]
    return [Table("Finding symmetries", columns, rows)]


def _row(case: Case, settings: Settings) -> tuple[object, ...]:
    name, make, kind, allowed = case
    model = make()
    seconds: list[float] = []
    while not seconds or (len(seconds) < settings.repeats and sum(seconds) < 3):
        begin = time.perf_counter()
        symmetry = find_symmetry(model, kind)
        order = symmetry.order
        seconds.append(time.perf_counter() - begin)
    digits = (order.bit_length() - 1) * 0.30103
    size = str(order) if order < 10**9 else f"about 10^{digits:.0f}"
    graph = model.graph
    bar = f"{allowed:g} s" if allowed else None
    shown = " ".join([size, *symmetry.notes])
    return name, kind, graph.n_variables, graph.n_factors, Spread(tuple(seconds)), bar, shown
