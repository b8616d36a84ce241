"""Memory and time of facts from Parquet and of grounding a rule over them, each case in a process of its own.

``python -m tests.benchmarks.memory N`` measures N facts between N / 10 people: numbers, then symbols.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import plx

PROGRAM = """type P = {people}
relation knows(P, P) from "{facts}"
random smokes(P)
weight 0.5: smokes(x) <=> smokes(y) for (x, y) in knows if x != y
query smokes({one})
"""

SMALL = "type P = 1..9\nrelation r(P, P)\nrandom s(P)\nweight 1: s(x) <=> s(y) for (x, y) in r\nquery s(1)"


def files(folder: Path, n: int) -> None:
    """The facts, between numbers and between symbols, and the symbols."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random, people = np.random.default_rng(0), max(2, n // 10)
    pairs = random.integers(1, people + 1, (2, n))
    names = pa.array([f"p{i}" for i in range(people + 1)])
    pq.write_table(pa.table({"a": pairs[0], "b": pairs[1]}), folder / "numbers.parquet")
    columns = {name: names.take(pa.array(column)) for name, column in zip("ab", pairs, strict=True)}
    pq.write_table(pa.table(columns), folder / "symbols.parquet")
    pq.write_table(pa.table({"P": names.slice(1)}), folder / "people.parquet")


def child(kind: str, folder: Path, n: int) -> str:
    """Read the facts and ground the rule; a row of the table."""
    assert plx.compile(SMALL, r=[(1, 2)]).ground.graph.n_factors  # what a first run loads is loaded
    whole = {"facts": folder / f"{kind}.parquet", "people": f"1..{max(2, n // 10)}", "one": "1"}
    bindings = {}
    if kind == "symbols":
        whole["one"], bindings = "p1", {"P": folder / "people.parquet"}
    text = PROGRAM.format(**whole)
    if bindings:
        text = text.replace(f"type P = {whole['people']}", "type P")
    before, begin = _memory("VmRSS"), time.process_time()
    model = plx.compile(text, **bindings)
    read, read_peak, kept = time.process_time(), _memory("VmHWM"), _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    graph = model.ground.graph
    done, peak = time.process_time(), _memory("VmHWM")
    size = sum(array.nbytes for array in graph[1:] if isinstance(array, np.ndarray))
    numbers = [(read_peak - before) / n, (peak - before) / n, (peak - kept) / n, size / n]
    return (
        f"| {kind} | {n:,} | {read - begin:.1f} | {done - read:.1f} | "
        + " | ".join(f"{x:.0f}" for x in numbers)
        + " |"
    )


def _memory(field: str) -> float:
    """Bytes, from Linux: VmRSS now, VmHWM at the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * int(next(line for line in lines if line.startswith(field)).split()[1])


HEAD = """\
| members | facts | reading, s | grounding, s | reading, B | grounding, B | above the facts, B | graph, B |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def main(n: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        files(Path(name), n)
        sys.stdout.write(HEAD)
        for kind in ("numbers", "symbols"):
            command = [sys.executable, "-m", "tests.benchmarks.memory", str(n), kind, name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            sys.stdout.write(done.stdout)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.stdout.write(child(sys.argv[2], Path(sys.argv[3]), int(sys.argv[1])) + "\n")
    else:
        main(int(sys.argv[1]))
