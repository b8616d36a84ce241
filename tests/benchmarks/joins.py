"""Joins of facts with themselves, beside a database."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

import plx
from plx.ground.bind import PORTION, count_candidates, instances
from plx.ground.env import ROOT
from plx.ground.evaluate import Evaluator
from plx.origin import CheckedProgram
from plx.values import IntArray
from tests.benchmarks.table import Settings, Spread, Table, ratio

PROGRAM = """
type P
relation e(P, P)
random t(x: P, y: P) if e(x, y)
weight 1: t(x, y) for {scope}
query t({first}, {second})
"""


class Case(NamedTuple):
    """A scope, and the same as a query of SQL whose answer is the number of its instances."""

    name: str
    scope: str
    sql: str


TWO_HOPS = "e a join e b on a.y = b.x"
CASES = (
    Case("two hops", "(x, y) in e, (y, z) in e", f"select count(*) from {TWO_HOPS}"),
    Case(
        "two hops, every row made",
        "(x, y) in e, (w, z) in e if w = y",
        f"select max(z) * 0 + count(*) from (select a.x + a.y + b.y z from {TWO_HOPS})",
    ),
    Case(
        "two hops closed by a third fact",
        "(x, y) in e, (y, z) in e if e(x, z)",
        f"select count(*) from {TWO_HOPS} join e c on c.x = a.x and c.y = b.y",
    ),
)
BARS = {10**5: "1 s", 10**6: "10 s"}
"""Seconds for the rows of two hops, by facts: ten facts each, so ten times as many rows."""


def measure(settings: Settings) -> list[Table]:
    """Two hops and triangles over ten facts each, in seconds of one core."""
    rows = [row for n in ((10**3,) if settings.quick else (10**5, 10**6)) for row in _of_facts(n, settings)]
    columns = ("scope", "facts", "instances", "sizes, s", "rows, s", "DuckDB, s", "plx ÷ DuckDB", "bar")
    notes = (
        "Seconds of processor time on one thread. Sizes are what plx counts before it begins, rows are all "
        "columns of all instances. DuckDB counts, or adds the columns up where every row is to be made. "
        "The counts of both agree.",
    )
    if all(row[5] is None for row in rows):
        notes += ("DuckDB is not installed here: name a Python that has it with `--rivals`.",)
    return [Table("Joins", columns, rows, notes)]


def _of_facts(n: int, settings: Settings) -> list[tuple[object, ...]]:
    facts = _facts(n)
    peers = _rival(facts, settings) or [None] * len(CASES)
    return [_row(case, facts, peer, settings.repeats) for case, peer in zip(CASES, peers, strict=True)]


def _facts(n: int) -> IntArray:
    people = max(2, n // 10)
    codes = np.unique(np.random.default_rng(0).integers(0, people * people, 2 * n))
    codes = np.sort(np.random.default_rng(1).permutation(codes)[:n])
    return np.stack(np.divmod(codes, people), axis=1)


def _row(case: Case, facts: IntArray, peer: tuple[Spread, int] | None, repeats: int) -> tuple[object, ...]:
    first, second = facts[0]
    text = PROGRAM.format(scope=case.scope, first=first, second=second)
    origin = plx.compile(text, P=np.arange(facts.max() + 1), e=facts).origin
    assert isinstance(origin, CheckedProgram)
    scope = origin.program.rules[0].scope
    counting, making = [], []
    for _ in range(min(repeats, 3)):
        evaluator = Evaluator(origin.program)
        begin = time.process_time()
        assert count_candidates(evaluator, ROOT, scope, 10**12)
        counting.append(time.process_time() - begin)
        evaluator = Evaluator(origin.program)
        begin = time.process_time()
        found = sum(env.n for env in instances(evaluator, ROOT, scope, PORTION))
        making.append(time.process_time() - begin)
    assert peer is None or peer[1] == found
    other = None if peer is None else peer[0]
    made = Spread(tuple(making))
    bar = BARS.get(len(facts)) if "closed" not in case.name else None
    counted = Spread(tuple(counting))
    return case.name, f"{len(facts):,}", f"{found:,}", counted, made, other, ratio(made, other), bar


def _rival(facts: IntArray, settings: Settings) -> Sequence[tuple[Spread, int]] | None:
    """The seconds and counts of DuckDB, in the first interpreter that has it."""
    queries = [case.sql for case in CASES]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "facts.npy"
        np.save(path, facts)
        script = str(Path(__file__).with_name("join_rival.py"))
        for python in (sys.executable, *settings.rivals):
            runs = [_run([python, script, str(path), *queries]) for _ in range(min(settings.repeats, 3))]
            if all(runs):
                return [
                    (Spread(tuple(seconds for seconds, _ in found)), found[0][1])
                    for found in zip(*runs, strict=True)
                ]
    return None


def _run(command: list[str]) -> list[tuple[float, int]]:
    """Nothing where the interpreter or its library is missing."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return []
    found: list[tuple[float, int]] = json.loads(done.stdout)
    return found
