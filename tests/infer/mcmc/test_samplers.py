"""Every sampler of the table: agreement with exact answers, repeatability and threads."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plx.graph.model import GroundModel
from plx.infer.gibbs.chains import chains_at, sweep
from plx.infer.gibbs.compiled import compile_model
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.problem import Problem
from tests.models import log_weights, make_model, marginal, node_states, random_model

ROOT = Path(__file__).parents[3]
every_sampler = pytest.mark.parametrize("name", SAMPLERS)


def with_all_nodes(model: GroundModel) -> GroundModel:
    """The model with a query for every node, derived ones too."""
    from tests.models import _queries

    return replace(model, queries=_queries(model.values, model.graph.card.tolist()))


def z_scores(model: GroundModel, name: str, seed: int, draws: int = 600) -> np.ndarray:
    """Per state of every node: (estimate − truth) / standard error from 64 chains."""
    sampler = SAMPLERS[name]
    chains = sampler.init(Problem(model), seed, 64, 1)
    sampler.step(chains, 60, 1)
    share = sampler.step(chains, draws, 1) / draws
    targets = Problem(model).targets
    truth = np.concatenate([marginal(model.graph, nodes) for nodes in targets.nodes])
    error = share.std(axis=0, ddof=1) / 8
    free = error > 1e-12  # some answers need no draw
    np.testing.assert_allclose(share.mean(axis=0)[~free], truth[~free], atol=0.02)
    return (share.mean(axis=0)[free] - truth[free]) / error[free]


@every_sampler
def test_random_models_agree_with_enumeration(name: str) -> None:
    agree_with_enumeration(name, models=10 if name == "mcsat" else 25)  # whose sweeps take long


def agree_with_enumeration(name: str, models: int) -> None:
    scores = []
    for seed in range(models):
        rng = np.random.default_rng(seed)
        model = random_model(rng, variables=5, factors=6, derived=3, max_card=4)
        scores.append(z_scores(with_all_nodes(model), name, seed))
    z = np.concatenate(scores)
    assert np.abs(z).max() < 5
    assert 0.85 < z.std() < 1.15, "standard errors are calibrated"


@pytest.mark.parametrize("random_scan", [False, True])
@pytest.mark.parametrize("entries", [0, 1 << 12])
def test_tables_and_sums_give_the_same_distribution(random_scan: bool, entries: int) -> None:
    weights = [[[0, 1, -1], [2, 0, 0]], [[1, 0, 1], [0, -2, 1]]]
    derived = [
        ([(0, [0, 1]), (1, [1, 0]), (2, [0, 1, 2])], [0, 1, 2, 0, 1]),
        ([(3, [0, 1]), (4, [2, 0, 1])], [1, 0, 1, 0]),
    ]
    factors = [
        ((0, 1, 2), weights),
        ((4,), [0, 1, -1]),
        ((3, 5), [[0, 1], [1, 0]]),
        ((1, 4), [[0, 1, 2], [1, 0, 0]]),
    ]
    model = with_all_nodes(make_model([2, 2, 3, 2], factors, derived))
    plan = compile_model(Problem(model), entries)
    assert (plan.arrays.conditional >= 0).all() == (entries > 0)
    chains = chains_at(plan, np.zeros((4, 64), dtype=np.int32), 3, 1, random_scan)
    sweep(chains, 50)
    share = chains.step(1000, 1) / 1000
    truth = np.concatenate([marginal(model.graph, nodes) for nodes in plan.targets.nodes])
    assert np.abs((share.mean(axis=0) - truth) / (share.std(axis=0, ddof=1) / 8)).max() < 4.5


@pytest.mark.parametrize("seed", range(15))
def test_totals_and_states_of_derived_nodes_are_kept_up_to_date(seed: int) -> None:
    model = random_model(np.random.default_rng(seed), variables=6, factors=8, derived=4, hard=0.2)
    for entries in (0, 1 << 12):
        plan = compile_model(Problem(replace(model, queries=())), entries)
        start = SAMPLERS["gibbs"].init(Problem(model), seed, 8, 1).states
        chains = chains_at(plan, start, seed, 1)
        sweep(chains, 20)
        block = chains.blocks[0]
        states = chains.states.T.astype(np.int64)
        nodes = node_states(model.graph, states)
        np.testing.assert_array_equal(block.level, nodes.T[plan.rows.node])
        assert np.isfinite(log_weights(model.graph, states)).all(), "no impossible state is ever entered"


@every_sampler
def test_many_states_need_wide_storage(name: str) -> None:
    weights = [0] * 150 + [1] * 150
    model = make_model([300, 2], [((0,), weights), ((0, 1), [[k % 2, 0] for k in range(300)])])
    chains = SAMPLERS[name].init(Problem(model), 0, 64, 1)
    if name == "gibbs":
        assert chains.blocks[0].state.dtype == np.uint16
    SAMPLERS[name].step(chains, 20, 1)
    share = SAMPLERS[name].step(chains, 1000, 1) / 1000
    truth = marginal(model.graph, [0])
    upper = share[:, 150:300].sum(axis=1)
    assert abs(upper.mean() - truth[150:].sum()) < 4.5 * upper.std(ddof=1) / 8
    z = (share[:, :300].mean(axis=0) - truth) / (share[:, :300].std(axis=0, ddof=1) / 8)
    assert np.abs(z).max() < 5


@every_sampler
def test_extreme_weights_give_certainty(name: str) -> None:
    model = make_model(
        [2, 2, 3], [((0, 1), [[10000, -10000], [-10000, 10000]]), ((1, 2), [[-10000, 0, 1]] * 2)]
    )
    chains = SAMPLERS[name].init(Problem(model), 0, 16, 1)
    SAMPLERS[name].step(chains, 50, 1)
    share = SAMPLERS[name].step(chains, 500, 1) / 500
    assert np.isfinite(share).all()
    np.testing.assert_array_equal(share[:, 4], 0)
    assert share[:, 6].mean() == pytest.approx(np.e / (1 + np.e), abs=0.03)


@every_sampler
def test_a_seed_repeats_and_threads_do_not_matter(name: str) -> None:
    model = with_all_nodes(
        random_model(np.random.default_rng(4), variables=6, factors=8, derived=2, hard=0.2)
    )
    sampler = SAMPLERS[name]
    counts = []
    for threads, chains in ((1, 100), (2, 100), (3, 100), (1, 40)):
        state = sampler.init(Problem(model), 11, chains, threads)
        counts.append(sampler.step(state, 30, 2) + sampler.step(state, 5, 1))
    np.testing.assert_array_equal(counts[0], counts[1])
    np.testing.assert_array_equal(counts[0], counts[2])
    np.testing.assert_array_equal(counts[0][:40], counts[3])
    other = sampler.init(Problem(model), 12, 100, 1)
    assert (counts[0] != sampler.step(other, 35, 1)).any()


@every_sampler
def test_draws_may_be_asked_for_in_any_portions(name: str) -> None:
    model = random_model(np.random.default_rng(5))
    sampler = SAMPLERS[name]
    whole, parts = sampler.init(Problem(model), 1, 8, 1), sampler.init(Problem(model), 1, 8, 1)
    once, twice = sampler.step(whole, 30, 1), sampler.step(parts, 10, 1) + sampler.step(parts, 20, 1)
    np.testing.assert_allclose(once, twice, rtol=1e-13, atol=0)


@every_sampler
def test_chains_of_every_kind_say_what_a_run_asks(name: str) -> None:
    """Where they stand, if they say so, is possible and changes; pools are of one count or more."""
    rules = [((0, 1), [[0, 1], [2, -np.inf]]), ((2, 3), [[0, 0.3], [0.3, 0]])]
    for factors in (rules, rules[1:]):
        model = with_all_nodes(make_model([2, 2, 2, 2], factors))
        chains = SAMPLERS[name].init(Problem(model), 3, 20, 1)
        counts = SAMPLERS[name].step(chains, 4, 1)
        pooled, standing = chains.pooled(), chains.standing()
        assert chains.sweeps() >= 1 and all(note.strip() for note in chains.notes())
        assert pooled is None or (pooled.shape == counts.shape[1:] and (pooled >= 1).all())
        if standing is None:
            continue
        graph = standing.model.graph
        seen = []
        for _ in range(5):
            states = np.array(standing.states(np.arange(graph.n_variables)))
            assert states.shape == (graph.n_variables, 20)
            assert np.isfinite(log_weights(graph, states.T)).all()
            seen.append(states)
            SAMPLERS[name].step(chains, 1, 1)
        assert (seen[0] != seen[-1]).any()


@pytest.mark.parametrize(
    "code",
    [
        "from plx.infer.mcmc.samplers import SAMPLERS; assert SAMPLERS['lifted'].init",
        "import plx; plx.run('random coin\\nquery coin', method='exact')",
        "import plx; plx.run('random coin\\nquery coin')",
    ],
    ids=["names", "exact", "auto"],
)
def test_what_samples_nothing_loads_no_kernels(code: str) -> None:
    code += (
        "\nimport sys\n"
        "heavy = ('numba', 'plx.infer.kernels', 'plx.infer.gibbs', 'plx.infer.orbits')\n"
        "print(*(name for name in sys.modules if name.startswith(heavy)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not done.stdout.split()
