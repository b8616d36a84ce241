"""CPU time and memory of runs that ask about every one of many unknowns, step by step."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import plx
from plx import Result
from tests.benchmarks.table import Settings, Table

T = TypeVar("T")

ROOT = Path(__file__).parents[2]

PROGRAM = """
    type Person = 1..{n}
    random smokes(Person)
    weight 0.3: smokes(x) for x in Person
    weight 0.8: smokes(x) <=> smokes(x + 1) for x in Person if x < {n}
    query smokes(x) for x in Person
"""

STEPS = ("read", "ground and sample", "table", "array", "write Parquet", "read Parquet")


def measure(settings: Settings) -> list[Table]:
    """A chain of smokers, each asked about, few draws of each chain: what answers cost beside samples."""
    sizes = (2_000,) if settings.quick else (10_000, 100_000, 1_000_000)
    rows = [(f"{n:,}", *fresh(n)) for n in sizes]
    columns = ("answers", *(f"{step}, s" for step in STEPS), "peak, MB")
    note = "CPU seconds of all threads; each size in a process of its own, whose peak of memory it is."
    return [Table("Wide answers", columns, rows, (note,))]


def fresh(n: int) -> list[float]:
    """The steps in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.wide", str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    found: list[float] = json.loads(done.stdout)
    return found


def steps(n: int) -> list[float]:
    """CPU seconds of each step, and the megabytes of this process at its peak."""
    took: list[float] = []

    def timed(work: Callable[[], T]) -> T:
        begin = time.process_time()
        found = work()
        took.append(time.process_time() - begin)
        return found

    plx.compile(PROGRAM.format(n=100)).run(method="gibbs", samples=64, seed=1)  # kernels are loaded
    model = timed(lambda: plx.compile(PROGRAM.format(n=n)))
    result = timed(lambda: model.run(method="gibbs", samples=64, seed=1))
    timed(lambda: repr(result))
    timed(lambda: result.array("smokes"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answers.parquet"
        timed(lambda: result.to_parquet(path))
        timed(lambda: Result.load(path))
    return [*took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000]


if __name__ == "__main__":
    print(json.dumps(steps(int(sys.argv[1]))))
