"""Worlds that outweigh all others and have none like them nearby: tempering jumps to them, and away."""

from __future__ import annotations

import numpy as np
import pytest

import plx
from plx.graph.worlds import log_weights, node_states
from plx.infer.gibbs.chains import chains_at
from plx.infer.gibbs.compiled import compile_model
from plx.infer.problem import Problem
from plx.infer.tempering import tempered
from plx.infer.tempering.jumps import Jumps, _reference
from plx.infer.tempering.soft import Path

JACKPOT = """
type N = 1..20
random up(N)
weight 15: forall(up(x) for x in N)
weight 0.5: up(2)
query up(x) for x in N if x <= 3
query logz
"""
HOLES = """
type N = 1..20
random up(N)
weight 0.4: up(x) <=> up(x + 1) for x in N if x < 20
weight 17: forall(up(x) <=> (x % 3 = 1) for x in N)
weight 16: forall(up(x) <=> (x % 3 = 2) for x in N)
query up(x) for x in N if x <= 3
query logz
"""
MANY = """
type N = 1..20
type Hole = 1..12
random up(N)
weight 18: forall(up(x) <=> ((x * h + x) % (h + 2) <= h / 2) for x in N) for h in Hole
query up(x) for x in N if x <= 3
"""
SMALL = """
type N = 1..5
random up(N)
weight 0.9: up(x) <=> up(x + 1) for x in N if x < 5
weight 0.4: up(1)
weight 2.5: forall(up(x) <=> (x % 3 = 1) for x in N)
query up(1)
"""
FELT = """
type N = 1..12
random up(N)
weight 0.8: up(x) <=> up(x + 1) for x in N if x < 12
weight 2: forall(up(x) for x in N if x <= 7)
query up(6)
"""


@pytest.mark.parametrize("text", [JACKPOT, HOLES])
def test_answers_beside_heavy_worlds_are_right(text: str) -> None:
    exact = plx.run(text, method="exact").queries
    found = plx.run(text, method="tempered", seed=1, samples=16_000)
    assert not any("came near" in note for note in found.inference.notes)
    for answer, truth in zip(found.queries, exact, strict=True):
        value, right = (
            (answer.log_z, truth.log_z)
            if answer.log_z is not None
            else (answer.probability, truth.probability)
        )
        assert value is not None and right is not None
        assert abs(value - right) < 4 * answer.mcse and answer.mcse < 0.1


def test_jumps_leave_the_distribution_as_it_is() -> None:
    """Lanes that begin at draws are where draws are after one jump, and many have moved."""
    model = plx.compile(SMALL).ground
    problem, lanes = Problem(model), 1 << 14
    worlds = np.array(list(np.ndindex(2, 2, 2, 2, 2)), dtype=np.int32).T
    p = np.exp(log_weights(model.graph, node_states(model.graph, worlds)))
    p /= p.sum()
    drawn = np.random.default_rng(1).choice(len(p), lanes, p=p)
    chains = chains_at(compile_model(problem), worlds[:, drawn], 1, 1)
    part = _reference(problem.parts)
    assert part is not None
    move = Jumps(chains.plan, part, worlds[:, p.argsort()[-2:]]).at(Path(), 1.0)
    for block in chains.blocks:
        move(block, block.random, 0)
    after = np.array([16, 8, 4, 2, 1]) @ chains.states
    assert 0.2 < (after != drawn).mean() < 0.9
    seen = np.bincount(after, minlength=len(p))
    assert (((seen - lanes * p) ** 2) / (lanes * p)).sum() < 70  # chance 1e-4, with 31 degrees of freedom
    nodes = node_states(model.graph, chains.states)
    level = np.concatenate([block.level for block in chains.blocks], axis=1)
    np.testing.assert_array_equal(level, nodes[chains.plan.rows.node])


def test_more_such_worlds_than_are_known_are_not_claimed_to_be_met() -> None:
    assert not plx.run(MANY, method="tempered", seed=1, samples=8000).converged


def test_there_are_no_jumps_where_walks_leave_the_most_probable_world() -> None:
    assert not tempered.init(Problem(plx.compile(FELT).ground), 1, 16, 1).ladders.updates.moves
