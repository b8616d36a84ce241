"""Which way the most probable worlds are found, and what is said about them."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest

from plx.api import compile as compile_model
from plx.deadline import within
from plx.errors import NoWorldError
from plx.infer.best import choice as probable
from plx.infer.best import toulbar2 as toulbar
from plx.infer.best.choice import most_probable
from plx.infer.circuit.plan import CircuitPlan, circuit_plan
from plx.infer.infer import infer
from plx.infer.inference import World
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


SAME = """
    type Record = 1..10
    random same(Record, Record)
    param alike(x: Record, y: Record) = ((x * y) % 5 - 2) / 3 + x / 60
    require same(x, x)                            for x in Record
    require same(x, y) <=> same(y, x)             for x, y in Record if x < y
    require same(x, y) & same(y, z) => same(x, z) for x, y, z in Record
    weight alike(x, y): same(x, y)                for x, y in Record if x < y
    query map 3
"""


def partition_weights(n: int) -> list[int]:
    """Sixty times the log weight of each way to say which records are the same, heaviest first."""
    found = []

    def place(x: int, groups: list[list[int]], total: int) -> None:
        if x > n:
            found.append(total)
            return
        for group in groups:
            group.append(x)
            place(x + 1, groups, total + sum(20 * (x * y % 5 - 2) + y for y in group[:-1]))
            group.pop()
        place(x + 1, [*groups, [x]], total)

    place(1, [], 0)
    return sorted(found, reverse=True)


@pytest.mark.parametrize("installed", [True, False])
def test_several_worlds_of_records_that_are_the_same_are_sums_over_partitions(
    monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    monkeypatch.setattr(toulbar, "installed", lambda: installed)
    found = infer(compile_model(SAME).ground, "exact")
    worlds = found.answers[0].worlds
    assert [round(world.log_weight * 60) for world in worlds] == partition_weights(10)[:3]
    assert all(world.optimal for world in worlds)
    assert "proven best, by sums over partitions" in found.notes[0]


@solver
def test_one_world_that_the_solver_does_not_prove_in_time_is_read_off_a_circuit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def in_vain(*_: object) -> toulbar.Found:
        return toulbar.Found((World(np.zeros(3, dtype=np.int32), -1.0, optimal=False, bound=9.0),), True)

    monkeypatch.setattr(toulbar, "search", in_vain)
    monkeypatch.setattr(probable, "QUICK", 0)
    monkeypatch.setattr(probable, "map_plan", lambda _: None)
    model = make_model([2] * 3, [([0, 1, 2], [[[0, 1], [2, 3]], [[4, 5], [6, -math.inf]]])])
    (world,), how = most_probable(Problem(model), 1, Options())
    assert world.optimal and world.log_weight == 6 and "proven best, by a circuit of " in how
    monkeypatch.setattr("plx.infer.circuit.compiled.BEST", 0)
    (world,), how = most_probable(Problem(model), 1, Options())
    assert not world.optimal and "not proven best" in how


def test_a_clash_that_compiling_finds_is_named_as_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    model = compile_model(
        """
        type I = 1..3
        random f(I): 1..2
        weight 2: f(1) = 1
        require f(i) != f(j) for i, j in I if i < j
        query f(1)
        query map 2
        """
    ).ground
    plan = circuit_plan(Problem(model))
    assert isinstance(plan, CircuitPlan)
    with pytest.raises(NoWorldError) as known:
        infer(model, "exact")
    monkeypatch.setattr(probable, "map_plan", lambda _: None)
    monkeypatch.setattr(probable, "QUICK", 0)
    for way in (plan.run, lambda: plan.best(2), lambda: most_probable(Problem(model), 2, Options())):
        with pytest.raises(NoWorldError) as found:
            way()
        assert str(found.value) == str(known.value) and "f(i) != f(j)" in str(found.value)
