"""Stochastic likelihood where it was promised to be fast: a field of Ising, and a million instances."""

from __future__ import annotations

import numpy as np

import plx
from plx.graph.model import GroundModel
from plx.learn.lanes import Lanes
from plx.learn.numbers import Learned, numbers_of

FIELD = """
type R = 1..{n}
random s(R, R)
learn field ~ flat
learn pull ~ flat
weight field: s(x, y) for x, y in R
weight pull: s(x, y) <=> s(x + 1, y) for x, y in R if x < {n}
weight pull: s(x, y) <=> s(x, y + 1) for x, y in R if y < {n}
"""
TRUTH = np.array([0.1, 0.5])


def field(n: int) -> tuple[plx.Model, GroundModel, list[Learned]]:
    """A square field of n · n spins, each pulled to be as its neighbours."""
    model = plx.compile(FIELD.format(n=n))
    return model, model.origin.unfitted(()), numbers_of([model.origin.program])


def simulated(
    free: GroundModel, names: tuple[str, ...], truth: np.ndarray, count: int, seed: int
) -> np.ndarray:
    """Worlds drawn at these numbers, shape (V, count), by lanes of their own."""
    lanes = Lanes(free, names, seed, lanes=count)
    lanes.set(truth)
    lanes.burn(1000)
    return lanes.states


def as_data(states: np.ndarray, n: int) -> list[dict[str, object]]:
    """Complete worlds as bindings, one for each column of states."""
    fields = states.T.reshape(-1, n, n)
    return [{"s": plx.Else((np.argwhere(one) + 1).tolist(), False)} for one in fields]
