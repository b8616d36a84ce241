"""Public data from files to fit: CPU time of whole commands, with the start of Python.

``python -m tests.benchmarks.learning_files`` prints a row for each set of ../shared/learning. The first run
after a change of a kernel compiles it: run it twice.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).parents[3] / "shared" / "learning"
RULES = "!Publication(v0, v1) v Publication(v2, v1)\n!Taughtby(v0, v1, v2) v Professor(v1)\n"
PREDICATES = """Tempadvisedby(person, person)
Yearsinprogram(person, num)
Publication(title, person)
Professor(person)
Advisedby(person, person)
Taughtby(course, person, year)
Courselevel(course, level)
Ta(course, person, year)
Phase(person, phase)
"""
RUNS = (
    ("IMDB, folds 1, 2, 4, 5", "imdb.mln", "imdb_fold", (1, 2, 4, 5), "likelihood"),
    ("WebKB, folds 1, 3, 4", "webkb2.mln", "webkb2_fold", (1, 3, 4), "likelihood"),
    *((f"WebKB, fold {k}", "webkb2.mln", "webkb2_fold", (k,), "pseudo") for k in (1, 2, 3, 4)),
    ("UW-CSE, folds 1 to 5", "uwcse.mln", "uwcse_fold", (1, 2, 3, 4, 5), "pseudo"),
)


def cpu_seconds(command: list[str]) -> tuple[float, str]:
    """User and system time of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, said


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        uwcse = Path(folder) / "uwcse.mln"
        uwcse.write_text(f"{PREDICATES}\n{RULES}", encoding="utf-8")
        for label, rules, fold, numbers, objective in RUNS:
            mln = uwcse if rules == uwcse.name else DATA / rules
            worlds = [str(DATA / f"{fold}{k}.db") for k in numbers]
            arguments = ["learn", str(mln), *worlds, "--objective", objective]
            seconds, said = cpu_seconds([sys.executable, "-m", "plx", *arguments])
            found = [
                line for line in said.splitlines() if line.startswith(("log ", "1 world", f"{len(worlds)} "))
            ]
            print(f"{label}, {objective}: {seconds:.1f} s of CPU time; {'; '.join(found)}", flush=True)


if __name__ == "__main__":
    main()
