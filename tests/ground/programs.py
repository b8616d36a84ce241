"""Texts to ground models, and exact answers of ground models by enumeration."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plx.check.checker import check
from plx.check.program import Program
from plx.data import load
from plx.errors import NoWorldError
from plx.graph.model import GroundModel, GroundQuery
from plx.ground.condition import condition
from plx.ground.grounder import ground
from plx.source import Source
from plx.syntax.parser import parse
from plx.values import Values
from tests.models import all_states, log_weights, node_states


def checked(text: str, folder: Path | None = None, **bindings: object) -> Program:
    values = Values()
    module = parse(Source("program.plx", text))
    return check(module, load(module, bindings, folder, values), values)


def grounded(text: str, folder: Path | None = None, **bindings: object) -> GroundModel:
    return ground(checked(text, folder, **bindings))


def log_worlds(model: GroundModel) -> np.ndarray:
    """The log weight of every world."""
    return log_weights(model.graph, all_states(model.graph)) + model.log_constant


def log_total(model: GroundModel, query: GroundQuery) -> float:
    """Log of the sum over the worlds that satisfy the query's `given`."""
    try:
        return float(np.logaddexp.reduce(log_worlds(condition(model, query.given))))
    except NoWorldError:
        return -np.inf


def distribution(model: GroundModel, i: int) -> dict[tuple, float]:
    """The answer of a query: values of its targets → probability."""
    given = condition(model, model.queries[i].given)
    query = given.queries[i]
    logs = log_worlds(given)
    p = np.exp(logs - np.logaddexp.reduce(logs))
    nodes = node_states(given.graph, all_states(given.graph))
    out: dict[tuple, float] = {}
    for world, probability in enumerate(p):
        key = tuple(
            given.values[int(t.labels[nodes[world, t.node] if t.node >= 0 else 0])] for t in query.targets
        )
        out[key] = out.get(key, 0.0) + float(probability)
    return {key: probability for key, probability in out.items() if probability > 0}
