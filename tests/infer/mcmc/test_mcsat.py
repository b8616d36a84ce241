"""MC-SAT: draws from slices are uniform, listed whole or changed part by part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plx.graph.model import GroundModel
from plx.graph.worlds import derived_totals, node_states
from plx.infer.hard.substitute import substitute
from plx.infer.mcmc import mcsat
from plx.infer.problem import Problem
from tests.models import _queries, log_weights, make_model, marginal, random_model

INF = float("inf")


def hard_model(seed: int) -> GroundModel:
    rng = np.random.default_rng(seed)
    model = random_model(rng, variables=6, factors=8, derived=2, max_card=3, hard=0.4)
    return replace(model, queries=_queries(model.values, model.graph.card.tolist()))


def z_scores(model: GroundModel, seed: int, draws: int) -> np.ndarray:
    chains = mcsat.init(Problem(model), seed, 64, 1)
    mcsat.step(chains, 20, 1)
    share = mcsat.step(chains, draws, 1) / draws
    truth = np.concatenate([marginal(model.graph, nodes) for nodes in Problem(model).targets.nodes])
    error = share.std(axis=0, ddof=1) / 8
    np.testing.assert_allclose(share.mean(axis=0)[error == 0], truth[error == 0], atol=0.02)
    return (share.mean(axis=0) - truth)[error > 0] / error[error > 0]


@pytest.mark.parametrize("visits", [mcsat.VISITS, 0], ids=["listed", "in parts"])
def test_hard_rules_and_counters(visits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcsat, "VISITS", visits)
    z = np.concatenate([z_scores(hard_model(seed), seed, 100) for seed in range(6)])
    assert np.abs(z).max() < 5
    assert z.std() < 1.2


def test_parts_smaller_than_a_piece_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring of 8 colours has 3^8 states, a part at most 64."""
    monkeypatch.setattr(mcsat, "VISITS", 0)
    n = 8
    differ = [[-INF if a == b else int(a == 0) for b in range(3)] for a in range(3)]
    model = make_model([3] * n, [((i, (i + 1) % n), differ) for i in range(n)])
    assert np.abs(z_scores(model, 3, 150)).max() < 4.5


def test_totals_and_states_of_derived_nodes_are_kept_up_to_date() -> None:
    for seed in range(6):
        model = hard_model(seed)
        chains = mcsat.init(Problem(model), seed, 8, 1)
        mcsat.step(chains, 5, 1)
        graph = substitute(Problem(model)).model.graph
        nodes = node_states(graph, chains.state.T)
        assert np.isfinite(log_weights(graph, chains.state)).all()
        live = nodes[graph.n_variables :][: chains.level.shape[1]].T
        if chains.level.shape[1] == graph.n_derived:
            np.testing.assert_array_equal(chains.level, live)
            totals = derived_totals(graph, nodes, np.arange(graph.n_derived))
            np.testing.assert_array_equal(chains.total, totals.T)


def test_two_worlds_far_apart_are_both_visited_by_every_chain() -> None:
    """All equal, by rules that define nothing: single updates are stuck, slices are not."""
    n = 10
    cycle = [((i, (i + 1) % n), [[0, 0], [-INF, 0]]) for i in range(n)]
    model = make_model([2] * n, [*cycle, ((0,), [0, 1])])
    chains = mcsat.init(Problem(model), 0, 16, 1)
    share = mcsat.step(chains, 200, 1)[:, 1] / 200
    assert share.min() > 0.5 and share.max() < 0.95
    assert share.mean() == pytest.approx(np.e / (1 + np.e), abs=0.03)


def test_extreme_weights_do_not_overflow() -> None:
    model = make_model([2, 2], [((0, 1), [[10_000, -10_000], [-10_000, 9_999]]), ((1,), [0, -10_000])])
    share = mcsat.step(mcsat.init(Problem(model), 0, 8, 1), 50, 1) / 50
    assert share[:, 0].min() > 0.9
