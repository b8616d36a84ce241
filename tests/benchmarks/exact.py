"""Seconds from a ground model to exact answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import plx
from plx.graph.model import GroundModel
from plx.infer.exact_choice import exact_way
from plx.infer.problem import Problem
from tests.benchmarks.kernel_models import PAPER, published
from tests.benchmarks.table import Settings, Table, timed

SMOKERS = Path(__file__).parents[2] / "examples" / "smokers.plx"


def measure(settings: Settings) -> list[Table]:
    """Smokers of several numbers, and published models, all queries of each."""
    rows = [_case(name, model, truth, settings) for name, model, truth in _cases(settings.quick)]
    columns = ("model", "unknowns", "answers", "planning and solving, s", "way", "off by at most")
    note = "Off: from the exact marginals that were published with the models."
    return [Table("Exact answers", columns, rows, (note,))]


def _cases(quick: bool) -> Iterator[tuple[str, GroundModel, np.ndarray | None]]:
    for people in (3,) if quick else (20, 100, 1000):
        names = ["anna", "bob", *(f"p{i}" for i in range(people - 2))]
        yield f"smokers, {people} people", plx.load(SMOKERS, Person=names).ground, None
    if not quick and PAPER.exists():
        for name in ("ring_test4_size500", "sc_20_10"):
            yield name, published(name), _truth(name)


def _truth(name: str) -> np.ndarray:
    from plx.answer.comparison import read_truth

    return np.concatenate(read_truth(PAPER / f"{name}.json"))


def _case(name: str, model: GroundModel, truth: np.ndarray | None, settings: Settings) -> tuple[object, ...]:
    way = exact_way(Problem(model))
    if way is None:
        return name, model.graph.n_variables, len(model.queries), None, "out of reach", None
    found = way.run()
    spread = timed(lambda: _solve(model), min(settings.repeats, 3))
    off = None
    if truth is not None:
        off = float(np.abs(np.concatenate([answer.p for answer in found.answers]) - truth).max())
    return name, model.graph.n_variables, len(model.queries), spread, way.reason, off


def _solve(model: GroundModel) -> None:
    way = exact_way(Problem(model))
    assert way is not None
    way.run()
