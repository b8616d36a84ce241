"""Effective samples of the slowest answer for a second of CPU, beside other tools.

A run is worth n effective samples if the mean square error of its answer is that of n independent draws. So
all that is wrong counts, chains that are stuck and starts that were not forgotten included, and no tool's
diagnostics are asked.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import plx
from plx import deadline
from plx.values import FloatArray
from tests.benchmarks.log_z import CRITICAL, ISING
from tests.benchmarks.table import Settings, Table, number
from tests.benchmarks.tempering import GLASS, RANDOM_FIELD, agreeing

SCRIPT = Path(__file__).with_name("sampling_rival_runs.py")
METHODS = ("gibbs", "tempered", "cluster")
RIVALS = ("dwave-samplers", "blackjax", "numpyro", "pyAgrum")
SECONDS, RUNS = 1.0, 6
"""Of CPU that a run takes, and with how many seeds."""

NETWORK = """
type Layer = 0..4
type Place = 0..7
random on(l: Layer, i: Place) ~ 0.3 if l = 0 else 0.05 + 0.4 * on(l - 1, i) + 0.45 * on(l - 1, (i + 3) % 8)
observe on(4, i) for i in Place if i % 3 = 0
query on(0, i) for i in Place
"""

Plain = dict[str, Any]
"""A model as `sampling_rival_runs` reads it."""


@dataclass(frozen=True)
class Case:
    """A program, what its queries have as truths, and the model for other tools."""

    name: str
    text: str
    truth: Callable[[], FloatArray]
    plain: Callable[[], Plain]


def measure(settings: Settings) -> list[Table]:
    """One row for each model."""
    rows: list[tuple[object, ...]] = []
    notes: dict[str, str] = {}
    runs, seconds = (1, 0.02) if settings.quick else (RUNS, SECONDS)
    for case in cases(settings.quick):
        truth = case.truth()
        ours = [_ours(case, method, runs, seconds, truth) for method in METHODS]
        others = [_theirs(tool, case, runs, seconds, truth, settings, notes) for tool in RIVALS]
        rows.append((case.name, *ours, *others))
    title = "Effective samples of the slowest answer for a second of CPU"
    return [Table(title, ("model", *(f"plx, {m}" for m in METHODS), *RIVALS), rows, tuple(notes.values()))]


def cases(quick: bool) -> Iterator[Case]:
    """The models; one for a trial."""
    yield Case("network in layers, 40 nodes", NETWORK, partial(_exactly, NETWORK), _network)
    if quick:
        return
    pairs = [((0, 0), (0, 1)), ((16, 16), (17, 16)), ((0, 0), (16, 16))]
    asked = "\n".join(f"query up({a}, {b}) = up({c}, {d})" for (a, b), (c, d) in pairs)
    torus = ISING.format(size=32, last=31, weight=CRITICAL).replace("query up(0, 0)", asked)
    sites = [[32 * i + j for i, j in pair] for pair in pairs]
    yield Case("Ising 32×32, critical", torus, partial(_of_torus, torus), partial(_spins, torus, sites))
    diagonal = [[14 * i + i] for i in range(14)]
    for name, text in (("random field, 14×14", RANDOM_FIELD), ("planar ±J glass, 14×14", GLASS)):
        alone = text.replace("query logz", "")
        yield Case(name, alone, partial(_exactly, alone), partial(_spins, alone, diagonal))


def worth(found: FloatArray, truth: FloatArray, seconds: float) -> str:
    """Effective samples per second of the slowest answer [runs, answers]."""
    square = np.maximum(((found - truth) ** 2).mean(axis=0), 1e-16)
    return number(float((truth * (1 - truth) / square).min()) / seconds)


def _exactly(text: str) -> FloatArray:
    return np.array([query.probability for query in plx.run(text, method="exact").queries])


def _of_torus(text: str) -> FloatArray:
    """Neighbours in closed form; the pair farthest apart as a longer run with clusters has it."""
    near = agreeing(32, CRITICAL)
    with _cpu():
        long = plx.run(text, method="cluster", seconds=20 * SECONDS, seed=RUNS + 1, accuracy=1e-4)
    assert abs(long.queries[0].probability - near) < 4 * long.queries[0].mcse
    return np.array([near, near, long.queries[2].probability])


@contextmanager
def _cpu() -> Iterator[None]:
    """Time is that of the processor."""
    kept, deadline.now = deadline.now, time.process_time
    try:
        yield
    finally:
        deadline.now = kept


def _ours(case: Case, method: str, runs: int, seconds: float, truth: FloatArray) -> str:
    """From a grounded program to answers."""
    model = plx.compile(case.text)
    _ = model.ground
    found, spent = [], []
    with _cpu():
        for seed in range(runs):
            begin = time.process_time()
            run = model.run(method=method, seconds=seconds, seed=seed, accuracy=1e-4)
            spent.append(time.process_time() - begin)
            found.append([query.probability for query in run.queries])
    return worth(np.array(found), truth, float(np.mean(spent)))


def _spins(text: str, asked: list[list[int]]) -> Plain:
    """A model of pairs: couplings and fields of spins ±1."""
    graph = plx.compile(text).ground.graph
    pairs: list[tuple[int, int, float]] = []
    fields = [0.0] * graph.n_variables
    for f in range(graph.n_factors):
        nodes, table = graph.scope_of(f).tolist(), graph.table_values(f)
        if len(nodes) == 1:
            fields[nodes[0]] += float(table[1] - table[0]) / 2
            continue
        a, b = nodes
        pairs.append((a, b, float(table[0, 0] + table[1, 1] - table[0, 1] - table[1, 0]) / 4))
        fields[a] += float(table[1].sum() - table[0].sum()) / 4
        fields[b] += float(table[:, 1].sum() - table[:, 0].sum()) / 4
    side = round(graph.n_variables**0.5)
    colour = [(i // side + i % side) % 2 for i in range(graph.n_variables)]
    return {"pairs": pairs, "fields": fields, "colour": colour, "asked": asked}


def _network() -> Plain:
    """`NETWORK`: parents and the probability of being on for each of their states."""
    first: list[tuple[list[int], list[float]]] = [([], [0.3])] * 8
    later = [
        ([8 * (layer - 1) + i, 8 * (layer - 1) + (i + 3) % 8], [0.05, 0.5, 0.45, 0.9])
        for layer in range(1, 5)
        for i in range(8)
    ]
    seen = {32 + i: 1 for i in range(0, 8, 3)}
    return {"nodes": first + later, "seen": list(seen.items()), "asked": [[i] for i in range(8)]}


def _theirs(
    tool: str,
    case: Case,
    runs: int,
    seconds: float,
    truth: FloatArray,
    settings: Settings,
    notes: dict[str, str],
) -> str:
    """What a tool makes of a model, the best of its settings; adds its version to the notes."""
    why = "not installed"
    for python in settings.rivals:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            path.write_text(json.dumps(case.plain()))
            command = [python, str(SCRIPT), str(path), str(seconds), str(runs), tool]
            done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if done.returncode:
            why = "fails"
            print(tool, case.name, done.stderr[-2000:], file=sys.stderr)
            continue
        answer = json.loads(done.stdout)
        why = answer.get("why", "")
        if answer["version"]:
            notes[tool] = f"{tool} {answer['version']}: {answer['how']}"
        if "settings" in answer:
            kept = [(np.array(one["found"]), one["seconds"]) for one in answer["settings"]]
            return max((worth(found, truth, spent) for found, spent in kept), key=float)
    return why
