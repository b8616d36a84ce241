"""Variables that exchange their states: the conditional that is drawn from, and permutations that move."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plx
from plx.graph.worlds import node_states
from plx.infer.gibbs.block_arrays import VariableBlock, block_arrays
from plx.infer.gibbs.blocked import init
from plx.infer.gibbs.blocks import choose_exchanges
from plx.infer.gibbs.chains import chains_at
from plx.infer.gibbs.clusters import clusters
from plx.infer.gibbs.compiled import compile_model
from plx.infer.gibbs.held_rows import held_rows
from plx.infer.kernels.exchanges import kernel
from plx.infer.problem import Parts, Problem
from tests.ground.programs import grounded
from tests.models import all_states, log_weights, make_model, random_model

PERMUTATION = """
type N = 1..{n}
random p(N): N
require alldifferent(p(x) for x in N)
"""


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("size", [2, 3])
def test_an_exchange_draws_from_the_conditional(seed: int, size: int) -> None:
    """From one world many chains exchange the states of a block: frequencies are the conditional ones."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, variables=6, factors=9, derived=3, max_card=2, hard=0.2)
    graph = model.graph
    worlds = all_states(graph)
    logs = log_weights(graph, worlds)
    start = worlds[int(rng.choice(np.flatnonzero(np.isfinite(logs))))]
    members = np.sort(rng.choice(6, size=size, replace=False))
    orders = np.array(list(itertools.permutations(range(size))), dtype=np.int32)
    plan = compile_model(Problem(model))
    chosen = [VariableBlock(members, orders, False, True)]
    arrays = block_arrays(graph, plan.rows, chosen)
    chains = chains_at(plan, np.repeat(start[:, None], 64, axis=1), seed, 1)
    block = chains.blocks[0]
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(60):
        with np.errstate(over="ignore"):
            kernel("uint8")(
                arrays, held_rows(chosen), 0, 1, block.state, block.total, block.level, block.random
            )
        np.testing.assert_array_equal(block.level, node_states(graph, chains.states)[plan.rows.node])
        for world in chains.states.T.tolist():
            seen[tuple(world)] = seen.get(tuple(world), 0) + 1
    same = (np.sort(worlds[:, members]) == np.sort(start[members])).all(axis=1)
    rest = np.setdiff1d(np.arange(6), members)
    near = same & (worlds[:, rest] == start[rest]).all(axis=1)
    p = np.exp(logs[near] - np.logaddexp.reduce(logs[near]))
    n = 60 * 64
    share = np.array([seen.get(tuple(world), 0) / n for world in worlds[near].tolist()])
    assert sum(seen.values()) == n
    # One draw per chain and turn from few worlds, each a conditional of its own: five standard errors.
    assert (np.abs(share - p) <= 5 * np.sqrt(p * (1 - p) / n) + 1e-12).all()


def test_sums_that_an_exchange_leaves_alone_cost_nothing() -> None:
    problem = Problem(grounded(PERMUTATION.format(n=40) + "weight 1: p(1) = 1\nquery p(1)"))
    plan = compile_model(problem)
    chosen = choose_exchanges(clusters(problem.parts))
    assert 40 * 4 <= len(chosen) <= 40 * 6
    arrays = block_arrays(problem.graph, plan.rows, chosen)
    assert len(arrays.affected) == 0
    assert {len(block.members) for block in chosen} == {2}


def test_small_clusters_and_truth_values_have_no_exchanges() -> None:
    assert choose_exchanges(clusters(Parts(grounded(PERMUTATION.format(n=4) + "query p(1)").graph))) == []
    n = 60
    derived = [([(v, [0, 1]) for v in range(n)], range(n + 1))]
    model = make_model([2] * n, [((n,), [0 if k == 20 else -np.inf for k in range(n + 1)])], derived)
    assert choose_exchanges(clusters(Parts(model.graph))) == []


def test_large_permutations_move_and_stay_permutations() -> None:
    """Each unknown alone is stuck, and two of them have too many joint states to be listed."""
    n = 70
    model = grounded(PERMUTATION.format(n=n) + "weight 1: p(1) = 1\nquery p(1)")
    chains = init(Problem(model), 1, 3, 1)
    before = chains.states.copy()
    chains.step(3, 1)
    assert (np.sort(chains.states, axis=0) == np.arange(n)[:, None]).all()
    assert (chains.states != before).mean() > 0.9


@pytest.mark.parametrize(
    "rule", ["alldifferent(p(x) for x in N)", "forall(p(x) != p(y) for x, y in N if x < y)"]
)
def test_permutations_are_sampled_rightly(rule: str) -> None:
    text = (
        f"type N = 1..7\nrandom p(N): N\nrequire {rule}\nweight 0.3 * x: p(x) = x for x in N\n"
        "factor -0.2 * p(1) * p(2)\nquery p(1)\nquery p(1) < p(2)\nquery p(3) + p(4)"
    )
    exact, sampled = (plx.run(text, method=method, seed=3) for method in ("exact", "gibbs"))
    assert sampled.converged
    for right, answer in zip(exact, sampled, strict=True):
        found = {estimate.text: estimate for estimate in answer.estimates}
        for estimate in right.estimates:
            mine = found[estimate.text]
            assert abs(mine.p - estimate.p) <= 5 * mine.mcse + 1e-4
