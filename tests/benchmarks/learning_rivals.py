"""Weights of relational rules learned by plx and by other tools, from the same data, in the same run.

``python -m tests.benchmarks.learning_rivals --python RIVALS/bin/python`` prints the table of
docs/learning.md; the other interpreter has pracmln, numbskull and problog. The folds are those of
../shared/learning. One predicate is predicted, all others are given. Weights are scored by plx, each atom
given all others; a noisy-or by its own probabilities, no less than `LEAST`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import plx
from plx.graph.learned import statistics
from plx.learn.score import auc_pr
from plx.learn.worlds import World
from plx.learning import world_of

DATA = Path(__file__).parents[3] / "shared" / "learning"
SCRIPT = Path(__file__).with_name("learning_rival_runs.py")
COLUMNS = ("task", "learns from", "tool", "CLL", "AUC-PR", "CPU s")
DEVIATION = 2.0
LEAST = 1e-6

UWCSE = """
Taughtby(course,person,quarter)
Ta(course,person,quarter)
Professor(person)
Publication(title,person)
Advisedby(person,person)
Tempadvisedby(person,person)
Courselevel(course,level)
Phase(person,phase)
Yearsinprogram(person,years)

0 Advisedby(s,p)
0 Advisedby(s,p) ^ Professor(p)
0 Advisedby(s,p) ^ Professor(s)
0 Advisedby(s,p) ^ Publication(t,s) ^ Publication(t,p)
0 Advisedby(s,p) ^ Taughtby(c,p,q) ^ Ta(c,s,q)
0 Advisedby(s,p) ^ Tempadvisedby(s,p)
0 Advisedby(s,p) ^ Phase(s,f)
0 Advisedby(s,p) ^ Advisedby(s,q)
"""
WEBKB = """
project(task,person)
courseTA(course,person)
student(person)
courseProf(course,person)
faculty(person)

0 student(x)
0 student(x) ^ faculty(x)
0 student(x) ^ project(t,x)
0 student(x) ^ courseTA(c,x)
0 student(x) ^ courseProf(c,x)
0 student(x) ^ project(t,x) ^ project(t,y) ^ faculty(y)
0 student(x) ^ student(y) ^ project(t,x) ^ project(t,y)
"""


@dataclass(frozen=True)
class Task:
    """One predicate, predicted from all others by weighted rules; ``causes`` are those of a noisy-or."""

    name: str
    text: str
    target: str
    databases: tuple[Path, ...]
    causes: tuple[tuple[int, ...], ...]

    def model(self, file: Path, database: Path) -> plx.Model:
        """The model whose weights are learned, with the target alone open."""
        declared = [line.split("(")[0] for line in self.text.split("\n\n")[0].split()]
        closed = [name for name in declared if name != self.target]
        prior = f"normal(0, {DEVIATION:g})"
        return plx.load(file, database, world="closed", trained="all", prior=prior, closed=closed)


UW_FOLDS = tuple(DATA / f"uwcse_fold{k}.db" for k in range(1, 6))
WEB_FOLDS = tuple(DATA / f"webkb2_fold{k}.db" for k in range(1, 5))
ADVISOR = Task(
    "UW-CSE, who advises whom", UWCSE, "Advisedby", UW_FOLDS, ((0,), (1, -2, 3), (1, -2, 4), (1, 6))
)
STUDENT = Task("WebKB, who is a student", WEBKB, "student", WEB_FOLDS, ((0,), (-1,), (-1, 2), (3,), (5,)))

Split = tuple[tuple[int, ...], tuple[int, ...]]
"""The folds that are learned from, and those that are predicted."""


def left_out(count: int) -> list[Split]:
    """Each fold predicted by the others."""
    return [(tuple(i for i in range(count) if i != k), (k,)) for k in range(count)]


RUNS: tuple[tuple[Task, str, list[Split]], ...] = (
    (ADVISOR, "four folds of five", left_out(5)),
    (ADVISOR, "the smallest fold alone", [((1,), (0, 2, 3, 4))]),
    (STUDENT, "three folds of four", left_out(4)),
)


def grounded(world: World, rules: int) -> dict[str, Any]:
    """The atoms of the target, and how the rules count given all else, as `learning_rival_runs` reads it."""
    graph = world.free.graph
    assert not graph.n_derived and (graph.card == 2).all()
    table, rows = statistics(world.free.values, graph.weight, [f"w{k}" for k in range(1, rules + 1)])
    single, pairs = [], []
    for factor in range(graph.n_factors):
        scope = graph.scope_of(factor).tolist()
        start, end = graph.table_start[graph.table_of[factor] : graph.table_of[factor] + 2]
        *zero, full = rows[start:end]
        assert not np.isin(zero, table.row).any(), "a rule counts where an atom is false"
        mine = slice(*np.searchsorted(table.row, [full, full + 1]))
        for k, times in zip(table.number[mine].tolist(), table.coefficient[mine].tolist(), strict=True):
            (single if len(scope) == 1 else pairs).append([k, *scope, times])
    return {"seen": world.states.tolist(), "single": single, "pairs": pairs}


def noisy_or(causes: Sequence[Sequence[int]], values: Sequence[float], graph: dict[str, Any]) -> np.ndarray:
    """The probability of each atom if every cause that applies may make it true."""
    counts = np.zeros((len(graph["seen"]), 1 + max(abs(k) for cause in causes for k in cause)), dtype=bool)
    for k, v, _ in graph["single"]:
        if k < counts.shape[1]:
            counts[v, k] = True
    not_by = np.ones(len(counts))
    for cause, value in zip(causes, values, strict=True):
        holds = np.all([counts[:, abs(k)] == (k >= 0) for k in cause], axis=0)
        not_by *= np.where(holds, 1 - value, 1.0)
    return 1 - not_by


class Bench:
    """One task: its file, the model, and what the other tools are told."""

    def __init__(self, task: Task, folder: Path, python: str, limit: int) -> None:
        self.task, self.folder, self.python, self.limit = task, folder, python, limit
        self.file = folder / "task.mln"
        self.file.write_text(task.text, encoding="utf-8")
        self.model = task.model(self.file, task.databases[0])
        self.rules = sum(line.startswith("0 ") for line in task.text.splitlines())
        worlds = (world_of(task.model(self.file, one).origin, ()) for one in task.databases)
        self.graphs = [grounded(world, self.rules) for world in worlds]

    def plx(self, objective: str, learned: Sequence[int]) -> dict[str, Any]:
        """What plx learns, from the files to the weights."""
        begin = time.process_time()
        fit = self.model.learn([self.task.databases[i] for i in learned], objective=objective)
        return {"values": list(fit.weights.values()), "seconds": time.process_time() - begin}

    def other(self, tool: str, learned: Sequence[int]) -> dict[str, Any]:
        """What another tool learns, or why it does not."""
        told = {
            "mln": str(self.file),
            "databases": [str(self.task.databases[i]) for i in learned],
            "target": self.task.target,
            "rules": self.rules,
            "deviation": DEVIATION,
            "graphs": [self.graphs[i] for i in learned],
            "causes": self.task.causes,
        }
        path = self.folder / "task.json"
        path.write_text(json.dumps(told), encoding="utf-8")
        seconds = (self.limit, self.limit)
        try:
            done = subprocess.run(
                [self.python, str(SCRIPT), str(path), tool],
                capture_output=True,
                text=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, seconds),
                env={**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
            )
        except OSError:
            return {"why": "fails to start"}
        if done.returncode < 0:
            return {"why": f"not done in {self.limit} s"}
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {"why": "fails to start"}
        return answer

    def scores(
        self, tool: str, values: Sequence[float], predicted: Sequence[int]
    ) -> Iterator[tuple[float, float]]:
        """The mean log probability of the atoms of each fold, and its area under precision and recall."""
        if tool == "problog":
            for i in predicted:
                p = np.clip(noisy_or(self.task.causes, values, self.graphs[i]), LEAST, 1 - LEAST)
                seen = np.array(self.graphs[i]["seen"])
                yield float(np.log(np.where(seen == 1, p, 1 - p)).mean()), auc_pr(p, seen == 1) or 0.0
            return
        weights = {f"w{k}": value for k, value in enumerate(values, start=1)}
        fitted = self.model.with_weights(weights)
        for i in predicted:
            found = fitted.score([self.task.databases[i]], others=True)[self.task.target]
            yield found.log_score, found.auc_pr or 0.0

    def row(self, tool: str, splits: Sequence[Split]) -> tuple[str, ...]:
        """Means over the folds that are predicted, and the CPU time of all that is learned."""
        scores, spent = [], 0.0
        for learned, predicted in splits:
            name, _, objective = tool.partition(", ")
            found = self.plx(objective, learned) if name == "plx" else self.other(tool, learned)
            if "why" in found:
                return tool, found["why"], "", ""
            spent += found["seconds"]
            scores += self.scores(tool, found["values"], predicted)
        logs, areas = zip(*scores, strict=True)
        return tool, f"{mean(logs):.4f}", f"{mean(areas):.3f}", f"{spent:.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has the other tools")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds for a tool to learn once")
    parser.add_argument("--tools", default="plx, pseudo;plx, stochastic;pracmln;numbskull;problog")
    asked = parser.parse_args()
    print(" | ".join(COLUMNS))
    for task, folds, splits in RUNS:
        with TemporaryDirectory() as folder:
            bench = Bench(task, Path(folder), asked.python, asked.limit)
            for tool in asked.tools.split(";"):
                print(" | ".join((task.name, folds, *bench.row(tool, splits))), flush=True)


if __name__ == "__main__":
    main()
