"""Time and memory of grounding, each case in a process of its own.

``python -m tests.benchmarks.grounding CASE N`` is what runs there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

import plx
from tests.benchmarks.kernel_models import FRIENDS
from tests.benchmarks.table import Settings, Spread, Table

SPARSE = """
type Person
relation friends(Person, Person)
random smokes(Person)
weight 1.1: smokes(x) => smokes(y)    for (x, y) in friends
query smokes(0)
"""

BARS = {("sparse", 10**7): (8, 3000), ("friends", 1000): (2, 1000), ("friends", 2000): (8, None)}
"""Seconds and MB that grounding may take."""

ROOT = Path(__file__).parents[2]


def measure(settings: Settings) -> list[Table]:
    """Sparse relations from 10^4 to 10^7 facts; all pairs of people."""
    sizes = (10**3,) if settings.quick else (10**4, 10**5, 10**6, 10**7)
    sparse = [_case("sparse", n, settings) for n in sizes]
    pairs = [_case("friends", n, settings) for n in ((10,) if settings.quick else (1000, 2000))]
    if settings.figures is not None:
        _plot(sparse, settings.figures / "grounding.svg")
    columns = (
        "program",
        "instances",
        "checking, s",
        "grounding, s",
        "µs per instance",
        "memory, MB",
        "bytes per instance",
        "bar",
    )
    rows = [_row(*case) for case in (*sparse, *pairs)]
    note = (
        "Memory is the process's peak while grounding; bytes per instance are what it is above the process "
        "before it reads the program. Checking includes taking the data in from numpy arrays. CPU seconds."
    )
    table = Table("Grounding", columns, rows, (note,))
    return [table if settings.figures is None else table.shown("grounding")]


Run = dict[str, float]
Case = tuple[str, int, list[Run]]


def _case(kind: str, n: int, settings: Settings) -> Case:
    repeats = min(settings.repeats, 3 if n <= 10**5 else 2 if n <= 10**6 else 1)
    return kind, n, [_child(kind, n) for _ in range(repeats)]


def _child(kind: str, n: int) -> Run:
    command = [sys.executable, "-m", "tests.benchmarks.grounding", kind, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    run: Run = json.loads(done.stdout)
    return run


def _row(kind: str, n: int, runs: list[Run]) -> tuple[object, ...]:
    seconds = Spread(tuple(run["grounding"] for run in runs))
    instances, growth = runs[0]["instances"], median(run["growth"] for run in runs)
    allowed = BARS.get((kind, n))
    bar = None
    if allowed is not None:
        bar = " and ".join(f"{x} {unit}" for x, unit in zip(allowed, ("s", "MB"), strict=True) if x)
    name = "a rule over a relation" if kind == "sparse" else f"friends and smokers, {n} people"
    return (
        name,
        f"{instances:,.0f}",
        Spread(tuple(run["checking"] for run in runs)),
        seconds,
        1e6 * seconds.median / instances,
        median(run["peak"] for run in runs) / 1e6,
        growth / instances,
        bar,
    )


def _plot(cases: list[Case], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.2), layout="constrained")
    time_axis = figure.subplots()
    memory_axis = time_axis.twinx()
    facts = [n for _, n, _ in cases]
    seconds = [1e6 * median(run["grounding"] for run in runs) / n for _, n, runs in cases]
    memory = [median(run["growth"] for run in runs) / n for _, n, runs in cases]
    time_axis.loglog(facts, seconds, marker="o", label="time")
    memory_axis.loglog(facts, memory, marker="s", color="tab:orange", label="memory")
    time_axis.set(xlabel="facts of the relation", ylabel="µs per instance (circles)", ylim=(0.05, 50))
    memory_axis.set(ylabel="bytes per instance (squares)", ylim=(10, 10_000))
    time_axis.grid(which="major", linewidth=0.3)
    figure.savefig(path)


# ------------------------------------------------------------------ in the child


Make = Callable[[], plx.Model]


def sparse(n: int) -> Make:
    """A rule over n facts between n / 10 people."""
    people = max(2, n // 10)
    pairs = np.random.default_rng(0).integers(0, people, (n, 2))
    codes = np.unique(pairs[:, 0] * people + pairs[:, 1])
    facts = np.stack(np.divmod(codes, people), axis=1)
    return lambda: plx.compile(SPARSE, Person=np.arange(people), friends=facts)


def friends(n: int) -> Make:
    """Friends and smokers over all pairs of n people."""
    names = [f"p{i}" for i in range(n)]
    return lambda: plx.compile(FRIENDS.format(people=n), Person=names)


def child(kind: str, n: int) -> Run:
    """Ground one program. What the first grounding of a process loads is loaded before."""
    make = {"sparse": sparse, "friends": friends}[kind]
    assert make(20)().ground.graph.n_factors
    build = make(n)
    before, begin = _memory("VmRSS"), time.process_time()
    model = build()
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    checked = time.process_time()
    grounded = model.ground
    done, peak = time.process_time(), _memory("VmHWM")
    return {
        "checking": checked - begin,
        "grounding": done - checked,
        "instances": float(n * n if kind == "friends" else grounded.graph.n_factors),
        "peak": peak,
        "growth": peak - before,
    }


def _memory(field: str) -> float:
    """Bytes, from Linux: VmRSS now, VmHWM at the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * int(next(line for line in lines if line.startswith(field)).split()[1])


if __name__ == "__main__":
    sys.stdout.write(json.dumps(child(sys.argv[1], int(sys.argv[2]))) + "\n")
