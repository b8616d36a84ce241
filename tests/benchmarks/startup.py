"""Wall-clock time of short commands, and what importing takes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.table import Settings, Spread, Table, timed

ROOT = Path(__file__).parents[2]
PROGRAM = str(ROOT / "examples" / "smokers.plx")
LARGER = str(ROOT / "examples" / "potts.plx")
LISTED = 8
"""Packages whose import time is listed."""


def measure(settings: Settings) -> list[Table]:
    """`plx check`, `plx run` with kernels cached and not, and the packages that each of them imports."""
    repeats = 1 if settings.quick else max(3, settings.repeats)
    sampled = ("run", PROGRAM, "--method", "gibbs", "--samples", "1000", "--seed", "1")
    commands: list[tuple[str, tuple[str, ...], str | None]] = [
        ("plx check smokers.plx", ("check", PROGRAM), "0.6 s"),
        ("plx run smokers.plx", ("run", PROGRAM), "1.2 s"),
        ("plx run potts.plx", ("run", LARGER), None),
        ("plx run smokers.plx --method gibbs --samples 1000", sampled, None),
    ]
    if settings.quick:
        commands = commands[:1]
    rows: list[tuple[object, ...]] = []
    for name, command, bar in commands:
        call(command)  # kernels cached, files in memory
        rows.append((name, timed(lambda command=command: call(command), repeats), bar))  # type: ignore[misc]
    if not settings.quick:
        rows += [
            ("plx run smokers.plx, first run: no kernel cached", first_run(("run", PROGRAM)), "15 s"),
            ("plx run potts.plx, first run", first_run(("run", LARGER)), "15 s"),
            ("plx run smokers.plx --method gibbs, first run", first_run(sampled), "15 s"),
        ]
    table = Table("Start-up, wall-clock time of the command", ("command", "seconds", "bar"), rows)
    return [table, _imports([command for _, command, _ in commands])]


def call(command: tuple[str, ...], *python: str, **environment: str) -> str:
    """Run plx in a new process; what it wrote to standard error."""
    done = subprocess.run(
        [sys.executable, *python, "-m", "plx", *command],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    return done.stderr


def first_run(command: tuple[str, ...]) -> Spread:
    """Seconds of a run that finds no compiled kernel."""
    with TemporaryDirectory() as folder:
        return timed(lambda: call(command, NUMBA_CACHE_DIR=folder), 1)


def _imports(commands: list[tuple[str, ...]]) -> Table:
    times = [import_times(call(command, "-X", "importtime")) for command in commands]
    total = sum(times, Counter())
    chosen = [package for package, _ in total.most_common(LISTED)]
    rows: list[tuple[object, ...]] = [
        (package, *(1e-3 * found[package] if found[package] else None for found in times))
        for package in chosen
    ]
    rows.append(("all others", *(1e-3 * (found.total() - sum(found[p] for p in chosen)) for found in times)))
    rows.append(("together", *(1e-3 * found.total() for found in times)))
    columns = ("package", *(f"{_short(command)}, ms" for command in commands))
    note = "Each package's own modules, as `python -X importtime` counts them, which itself takes time."
    return Table("Of which imports", columns, rows, (note,))


def _short(command: tuple[str, ...]) -> str:
    verb, program, *options = command
    return f"{verb} {Path(program).stem}{' sampled' * bool(options)}"


def import_times(report: str) -> Counter[str]:
    """Microseconds by top-level package, from ``-X importtime``; the standard library as one."""
    found: Counter[str] = Counter()
    for line in report.splitlines():
        parts = line.removeprefix("import time:").split("|")
        if line.startswith("import time:") and parts[0].strip().isdigit():
            package = parts[2].strip().split(".")[0]
            standard = package in sys.stdlib_module_names or package in ("site", "zipimport")
            found["standard library" if standard else package] += int(parts[0])
    return found
