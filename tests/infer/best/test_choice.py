"""Which way the most probable worlds are found, and what is said about them."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest

from plx.deadline import within
from plx.errors import NoWorldError
from plx.infer.best import choice as probable
from plx.infer.best import toulbar2 as toulbar
from plx.infer.best.choice import most_probable
from plx.infer.options import Options
from plx.infer.problem import Problem
from tests import models
from tests.models import make_model

solver = pytest.mark.skipif(not toulbar.installed(), reason="needs the extra plx[map]")


def wide(n: int = 30) -> models.GroundModel:
    """A frustrated complete graph: too wide for elimination, with one best world by its field."""
    edges = [([i, j], [[0, 1], [1, 0]]) for i in range(n) for j in range(i + 1, n)]
    return make_model([2] * n, [*edges, *(([i], [0, 100 * (-1) ** i]) for i in range(n))])


def test_narrow_models_are_proven_by_elimination() -> None:
    worlds, how = most_probable(Problem(make_model([2, 2], [([0, 1], [[0, 1], [2, 3]])])), 2, Options())
    assert [world.log_weight for world in worlds] == [3, 2]
    assert "proven best, by elimination" in how


@solver
def test_wide_models_are_proven_by_the_solver() -> None:
    (world,), how = most_probable(Problem(wide()), 1, Options())
    assert world.optimal and "proven best, by toulbar2" in how
    assert world.states.tolist() == [1, 0] * 15


@solver
def test_without_a_proof_the_bound_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    n = 40
    edges = [
        ([i, j], [[0, int(w)], [int(w), 0]]) for i in range(n) for j, w in enumerate(rng.integers(-9, 9, i))
    ]
    model = make_model([2] * n, [(sorted(scope), table) for scope, table in edges])
    with within(2):
        (world,), how = most_probable(Problem(model), 1, Options())
    assert not world.optimal and world.bound is not None and world.bound >= world.log_weight
    assert "not proven best" in how


def test_without_the_solver_annealing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pytoulbar2" else find(name)
    )
    (world,), how = most_probable(Problem(wide()), 1, Options(chains=8))
    assert not world.optimal
    assert "simulated annealing" in how and "pip install pytoulbar2" in how
    assert world.states.tolist() == [1, 0] * 15


@solver
def test_no_world_is_an_error_also_from_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probable, "QUICK", 0)
    inf = math.inf
    model = make_model([2, 2], [([0, 1], [[0, -inf], [-inf, 0]]), ([0], [0, -inf]), ([1], [-inf, 0])])
    with pytest.raises(NoWorldError):
        most_probable(Problem(model), 1, Options())
