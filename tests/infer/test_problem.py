"""What is asked about a model is worked out once, and right."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType

import numpy as np
import pytest

from plx.api import compile as compile_model
from plx.graph.components import components
from plx.graph.model import GroundModel
from plx.graph.subgraph import hard_factors, live_derived
from plx.infer.infer import infer
from plx.infer.options import Options
from plx.infer.problem import Problem, targets_of
from tests.models import random_model

PIGEONS = """
    type Person = p1..p6
    random at(Person): {a, b, c, d, e, none}
    require at(x) != at(y) | at(x) = none for x, y in Person if x < y
    weight 0.7: at(x) = a for x in Person
    query at(p1)
    query count(at(x) = none for x in Person)
"""
ONCE = {function.__code__: function.__name__ for function in (hard_factors, components, targets_of)}


def counted(model: GroundModel, method: str) -> Counter[tuple[str, int]]:
    """How often a run works out each of ``ONCE``, by what for."""
    calls: Counter[tuple[str, int]] = Counter()
    alive = []  # so that no two have one id

    def called(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in ONCE:
            subject = frame.f_locals[frame.f_code.co_varnames[0]]
            alive.append(subject)
            calls[ONCE[frame.f_code], id(subject)] += 1

    sys.setprofile(called)
    try:
        infer(model, method, Options(seed=1, samples=500, seconds=None, threads=1))
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("method", ["exact", "gibbs", "mcsat", "lifted"])
def test_a_run_works_out_each_once(method: str) -> None:
    """But for `lifted`, whose orbit averages read the targets of models once more."""
    calls = counted(compile_model(PIGEONS).ground, method)
    assert {name for name, _ in calls} >= {"components", "targets_of"}
    most = {name: max(n for (other, _), n in calls.items() if other == name) for name, _ in calls}
    assert most.pop("targets_of") == (2 if method == "lifted" else 1)
    assert set(most.values()) == {1}


@pytest.mark.parametrize("seed", range(10))
def test_parts_are_those_of_the_graph(seed: int) -> None:
    model = random_model(np.random.default_rng(seed), variables=6, factors=4, derived=3, hard=0.3)
    problem = Problem(model)
    np.testing.assert_array_equal(problem.parts.live, live_derived(model.graph))
    np.testing.assert_array_equal(
        problem.parts.components, components(model.graph, live_derived(model.graph))
    )
    np.testing.assert_array_equal(problem.parts.hard_factors, hard_factors(model.graph))
    assert problem.parts.hard_part[0].n_factors == len(hard_factors(model.graph))
    other = problem.asking(model.queries[:1])
    assert other.parts is problem.parts
    assert other.targets.nodes == problem.targets.nodes[:1]
    assert other.targets.asked.tolist() == sorted(set(problem.targets.nodes[0]))
