"""Seconds from factor graph to group, printed as a table: ``python -m tests.benchmarks.symmetry``."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from plx.ground.graph import GroundModel
from plx.lift.find import find_symmetry
from plx.lift.symmetry import Kind
from tests.benchmarks.models import complete, curriculum, potts, published, ring

PAPER = Path(__file__).parents[3] / "shared" / "paper"


def cases() -> Iterator[tuple[str, Callable[[], GroundModel], Kind, float | None]]:
    """Name, model, kind of symmetry, and the seconds that it may take."""
    yield "ring of 1 000, renamed", lambda: ring(1000), "vv", 0.1
    yield "ring of 100 000, renamed", lambda: ring(100_000), "vv", 5
    yield "Potts 100×100, 3 colours", lambda: potts(100), "vv", 3
    for kind in ("vv", "nec"):
        yield "curriculum, 200 tied students", lambda: curriculum(200), kind, 1.5
        yield "curriculum, 2 000 tied students", lambda: curriculum(2000), kind, 15
    yield "complete graph of 1 000 people", lambda: complete(1000), "vv", None
    for name in ("sc_20_10", "ring_test4_size500"):
        if (PAPER / f"{name}.json").exists():
            yield name, lambda name=name: published(PAPER / f"{name}.json"), "nec", 0.3  # type: ignore[misc]


def main() -> None:
    """Run every case once, after a small one that loads the kernels."""
    find_symmetry(ring(6), "vv")
    print(f"{'model':34} {'kind':5} {'variables':>9} {'factors':>8} {'seconds':>8} {'allowed':>8}  order")
    for name, make, kind, allowed in cases():
        model = make()
        begin = time.perf_counter()
        symmetry = find_symmetry(model, kind)
        order = symmetry.order
        seconds = time.perf_counter() - begin
        digits = (order.bit_length() - 1) * 0.30103
        limit = f"{allowed:8g}" if allowed else " " * 8
        graph = model.graph
        print(
            f"{name:34} {kind:5} {graph.n_variables:9} {graph.n_factors:8} {seconds:8.3f} {limit}"
            f"  {order if order < 10**9 else f'about 10^{digits:.0f}'} {' '.join(symmetry.notes)}",
            flush=True,
        )
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
