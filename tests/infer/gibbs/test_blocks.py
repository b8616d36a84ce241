"""Blocks of tied unknowns: which there are, that they connect what they can, and their conditionals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from plx.graph.worlds import node_states
from plx.infer.gibbs.block_arrays import VariableBlock, block_arrays
from plx.infer.gibbs.blocks import choose_blocks
from plx.infer.gibbs.chains import chains_at
from plx.infer.gibbs.clusters import clusters
from plx.infer.gibbs.compiled import compile_model
from plx.infer.gibbs.feasible import connected, feasible
from plx.infer.kernels.blocks import kernel
from plx.infer.problem import Parts, Problem
from tests.models import all_states, log_weights, make_model, random_model

INF = float("inf")
EQUAL = [[0, -INF], [-INF, 0]]


@pytest.mark.parametrize("seed", range(12))
def test_an_update_draws_from_the_joint_conditional(seed: int) -> None:
    """From one world, many chains update one block: frequencies are the conditional distribution."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, variables=6, factors=9, derived=3, max_card=3, hard=0.2)
    graph = model.graph
    worlds = all_states(graph)
    logs = log_weights(graph, worlds)
    start = worlds[int(rng.choice(np.flatnonzero(np.isfinite(logs))))]
    members = np.sort(rng.choice(6, size=3, replace=False))
    joint = np.array(list(itertools.product(*(range(graph.card[v]) for v in members))), dtype=np.int32)
    plan = compile_model(Problem(model))
    arrays = block_arrays(graph, plan.rows, [VariableBlock(members, joint, False)])
    chains = chains_at(plan, np.repeat(start[:, None], 64, axis=1), seed, 1)
    seen: dict[tuple[int, ...], int] = {}
    block = chains.blocks[0]
    for _ in range(60):
        with np.errstate(over="ignore"):
            kernel("uint8")(arrays, 0, 1, block.state, block.total, block.level, block.random)
        nodes = node_states(graph, chains.states)
        np.testing.assert_array_equal(block.level, nodes[plan.rows.node])
        for world in chains.states.T.tolist():
            seen[tuple(world)] = seen.get(tuple(world), 0) + 1
    rest = np.setdiff1d(np.arange(6), members)
    near = (worlds[:, rest] == start[rest]).all(axis=1)
    p = np.exp(logs[near] - np.logaddexp.reduce(logs[near]))
    n = 60 * 64
    share = np.array([seen.get(tuple(world), 0) / n for world in worlds[near].tolist()])
    assert sum(seen.values()) == n
    assert (np.abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / n) + 1e-12).all()


@pytest.mark.parametrize("seed", range(30))
def test_small_models_are_connected_by_their_blocks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(rng, variables=5, factors=7, derived=2, max_card=3, hard=0.5)
    states = feasible(model.graph, 1 << 20)
    assert states is not None
    worlds = all_states(model.graph)
    possible = worlds[np.isfinite(log_weights(model.graph, worlds))]
    np.testing.assert_array_equal(states, possible)
    chosen = choose_blocks(clusters(Parts(model.graph)))
    moves = [np.array([v]) for v in range(5)] + [block.members for block in chosen]
    assert connected(states, moves)
    for block in chosen:
        inside = {tuple(row) for row in block.states.tolist()}
        assert {tuple(row) for row in possible[:, block.members].tolist()} <= inside


def test_connected_sees_what_is_apart() -> None:
    states = np.array([[0, 0], [1, 1]], dtype=np.int32)
    assert not connected(states, [np.array([0]), np.array([1])])
    assert connected(states, [np.array([0, 1])])


def test_equal_clusters_share_their_joint_states() -> None:
    n = 300
    model = make_model([2] * (2 * n), [((2 * i, 2 * i + 1), EQUAL) for i in range(n)])
    chosen = choose_blocks(clusters(Parts(model.graph)))
    assert len(chosen) == n
    assert len({id(block.states) for block in chosen}) == 1
    assert chosen[0].states.tolist() == [[0, 0], [1, 1]]


def test_many_clusters_that_single_updates_connect_get_no_blocks() -> None:
    n = 2100
    either = [[-INF, 0], [0, 0]]
    model = make_model([2] * (2 * n), [((2 * i, 2 * i + 1), either) for i in range(n)])
    assert choose_blocks(clusters(Parts(model.graph))) == []


def test_a_large_cluster_gets_overlapping_blocks() -> None:
    n = 40
    differ = [[-INF if a == b else 0 for b in range(3)] for a in range(3)]
    model = make_model([3] * n, [((i, (i + 1) % n), differ) for i in range(n)])
    chosen = choose_blocks(clusters(Parts(model.graph)))
    assert {v for block in chosen for v in block.members.tolist()} == set(range(n))
    for block in chosen:
        assert len(block.states) < 3 ** len(block.members) <= 64 * 3


def test_a_count_over_many_is_covered_by_pairs() -> None:
    n = 60
    derived = [([(v, [0, 1, 0]) for v in range(n)], range(n + 1))]
    model = make_model([3] * n, [((n,), [0 if k == 20 else -INF for k in range(n + 1)])], derived)
    blocks = choose_blocks(clusters(Parts(model.graph)))
    assert {len(block.members) for block in blocks} == {2}
    assert n < len(blocks) < 10 * n
