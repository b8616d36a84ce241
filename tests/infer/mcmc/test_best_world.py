"""A heavy world that no chain meets: no method claims that its answers have converged."""

from __future__ import annotations

import numpy as np
import pytest

import plx
from plx.graph.worlds import node_states
from plx.infer.gibbs.blocked import lanes_from
from plx.infer.mcmc.best_world import part_weights
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.problem import Problem
from tests.ground.programs import grounded
from tests.models import log_weights

JACKPOT = """
type N = 1..30
random up(N)
weight 40: forall(up(x) for x in N)
query up(1)
"""
HOLE = """
type N = 1..20
random up(N)
weight 0.3: up(x) <=> up(x + 1) for x in N if x < 20
weight 18: forall(up(x) <=> (x % 3 = 1) for x in N)
query up(2)
query up(4)
"""
MIXING = """
type N = 1..12
random up(N)
weight 0.8: up(x) <=> up(x + 1) for x in N if x < 12
weight 1: up(1)
query up(6)
"""


@pytest.mark.parametrize("method", [name for name in SAMPLERS if name != "tempered"])
@pytest.mark.parametrize("text", [JACKPOT, HOLE])
def test_no_method_claims_to_have_converged_beside_a_heavy_world(method: str, text: str) -> None:
    found = plx.run(text, method=method, seed=1, samples=8000)
    assert not found.converged
    assert any("came near the most probable world" in note for note in found.inference.notes)


@pytest.mark.parametrize("method", ["gibbs", "lifted", "mcsat"])
def test_where_chains_mix_nothing_is_said(method: str) -> None:
    found = plx.run(MIXING, method=method, seed=1, accuracy=0.02)
    assert found.converged
    assert not any("came near" in note for note in found.inference.notes)


def test_answers_of_other_parts_stay_as_they_are() -> None:
    text = JACKPOT + "random other(N)\nweight 0.4: other(x) for x in N\nquery other(3)\n"
    found = plx.run(text, method="gibbs", seed=1, samples=60_000)
    assert [answer.converged for answer in found.queries] == [False, True]


@pytest.mark.parametrize("rules", ["", "require up(1) | up(2)\nrequire up(3) <=> !up(4)\n"])
def test_lanes_begin_where_they_are_told_to(rules: str) -> None:
    problem = Problem(grounded(MIXING + rules))
    world = np.array([1, 1, 0, 1] + [0, 1] * 4)
    lanes = lanes_from(problem, world, 1, 5)
    assert (lanes.states == world[:, None]).all()
    lanes.step(4, 1)
    assert (lanes.states != lanes.states[:, :1]).any()


def test_weights_of_parts_add_up() -> None:
    text = "type N = 1..3\nrandom a(N)\nrandom b(N)\nweight 1: a(x) for x in N\nweight 2: b(1) | b(2)\n"
    text += "query b(3)"
    problem = Problem(grounded(text))
    states = np.random.default_rng(1).integers(0, 2, (problem.graph.n_variables, 9))
    label = problem.parts.components
    parts = part_weights(problem.graph, states, label)
    assert len(parts) > 1
    np.testing.assert_allclose(parts.sum(axis=0), log_weights(problem.graph, states.T))
    assert len(node_states(problem.graph, states)) == problem.graph.n_nodes
