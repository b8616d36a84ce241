"""Estimates in expectation: what samplers record, by enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plx.graph.model import GroundModel, GroundQuery, Target
from plx.infer.orbits.orbit_averages import OrbitAverages
from plx.infer.problem import targets_of
from tests.models import marginal


def with_joint_queries(model: GroundModel, rng: np.random.Generator, n: int = 6) -> GroundModel:
    """The model with more queries: tuples of unknowns and derived nodes, repeats among them."""
    card = model.graph.card
    more = []
    for _ in range(n):
        nodes = rng.integers(0, model.graph.n_nodes, size=int(rng.integers(1, 4))).tolist()
        targets = tuple(Target(i, np.arange(card[i])) for i in nodes)
        more.append(GroundQuery("joint", "j", "j", targets, (), None))
    return replace(model, queries=(*model.queries, *more))


def expectations(model: GroundModel) -> np.ndarray:
    """The exact probability of every state of every target."""
    parts = [
        marginal(model.graph, nodes) if nodes and model.graph.n_variables else np.ones(1)
        for nodes in targets_of(model).nodes
    ]
    return np.concatenate([np.empty(0), *parts])


def estimates(model: GroundModel, found: OrbitAverages) -> tuple[np.ndarray, np.ndarray]:
    """The estimates in expectation, and the truth."""
    return found.apply(expectations(found.model)[None], 1)[0], expectations(model)
