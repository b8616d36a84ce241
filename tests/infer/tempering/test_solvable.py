"""The part of a model that is summed over at β = 0: its sum, worlds drawn from it, and what comes of both."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from plx.graph.model import GroundModel
from plx.graph.subgraph import without_factors
from plx.graph.worlds import log_weights as log_weights_of
from plx.graph.worlds import node_states
from plx.infer.infer import infer
from plx.infer.options import Options
from plx.infer.problem import Parts, Problem
from plx.infer.tempering import solvable, tempered
from plx.infer.tempering.solvable import Part, Solvable, solvable_part
from tests.benchmarks.log_z import CRITICAL, ising, ising_log_z, with_log_z
from tests.infer.frequencies import agree
from tests.models import all_states, log_weights, make_model, random_model

WORLDS = 1 << 15


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bags so small that little stays, and that is enough."""
    monkeypatch.setattr(solvable, "PART_BITS", 3.0)
    monkeypatch.setattr(solvable, "CUT", 1.0)


def _part(model: GroundModel) -> tuple[Part, Solvable]:
    found = solvable_part(Parts(model.graph))
    assert found is not None
    return found, found.over(model.graph)


def _small(seed: int) -> GroundModel:
    """Factors over up to three unknowns, of two or three states, and counts in some."""
    rng = np.random.default_rng(seed)
    return random_model(rng, variables=7, factors=9, max_card=3, derived=seed % 3, hard=0)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("seed", range(8))
def test_the_part_has_the_sum_and_the_worlds_of_its_factors(seed: int) -> None:
    model = _small(seed)
    (stays, part), graph, random = _part(model), model.graph, np.random.default_rng(seed)
    rest, states = without_factors(graph, np.flatnonzero(part.cut)), all_states(graph)
    logs = log_weights(rest, states)
    log_z = np.logaddexp.reduce(logs)
    assert 0 < stays.share < 1 and part.log_z == pytest.approx(log_z, abs=1e-9)
    drawn = np.zeros((graph.n_variables, WORLDS), dtype=np.uint8)
    part.draw(drawn, random.integers(1, 2**32, (4, WORLDS), dtype=np.uint32))
    p = np.exp(logs - log_z)
    for v, w in [(0, 3), (1, 5), (2, 6), (4, 4)]:  # pairs, and a single one
        card = int(graph.card[w])
        truth = np.bincount(states[:, v] * card + states[:, w], weights=p, minlength=card**2)
        assert agree(drawn[v].astype(int) * card + drawn[w], truth)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("seed", range(3))
def test_answers_and_log_z_are_right_where_beta_is_on_a_part(seed: int) -> None:
    """Also where factors that are alike, and counted together without it, are on both sides."""
    model = with_log_z([ising(4, 0.7), _small(1), _small(2)][seed])
    exact = infer(model, "exact")
    found = infer(model, "tempered", Options(seed=seed, samples=16_000, seconds=None))
    assert any("factors, the others are drawn" in note for note in found.notes)
    assert exact.log_z is not None and found.log_z is not None
    assert abs(found.log_z - exact.log_z) < 4.5 * found.log_z_mcse
    for answer, truth in zip(found.answers[:-1], exact.answers[:-1], strict=True):
        assert (np.abs(answer.p - truth.p) < 4.8 * answer.mcse).all()


@pytest.mark.usefixtures("narrow")
def test_lanes_weigh_what_beta_is_on() -> None:
    chains = tempered.init(Problem(_small(2)), 2, 16, 1)
    chains.step(7, 1)
    ladders, path = chains.ladders, chains.ladders.updates.path
    graph = ladders.updates.plan.graph
    part = graph._replace(table=path.part(graph.table))
    (group,), weights = ladders.groups, ladders.weights()
    for k in range(len(ladders.beta)):
        nodes = node_states(graph, group.state[k])
        np.testing.assert_allclose(weights[k], log_weights_of(part, nodes), atol=1e-9)
        live = ladders.updates.plan.rows.first_passive
        np.testing.assert_array_equal(group.level[k][:live], nodes[ladders.updates.plan.rows.node][:live])


def test_strips_of_a_grid_stay() -> None:
    """Of a torus most of what would be cut at best: a tree could keep no more than half."""
    (part, _), model = _part(ising(24, 1.0)), ising(24, CRITICAL)
    assert part.share < 0.12  # 0.14 where rings are not opened at one place
    assert (int(part.cut.sum()) / model.graph.n_factors) == pytest.approx(part.share)
    exact = ising_log_z(24, CRITICAL)
    found = infer(with_log_z(model), "tempered", Options(seed=1, samples=4096, seconds=None))
    assert found.log_z is not None and abs(found.log_z - exact) < 4 * found.log_z_mcse


def test_ladders_with_clusters_and_a_part_go_on_from_a_pickle() -> None:
    chains = tempered.init(Problem(ising(16, CRITICAL)), 1, 16, 1)
    again = pickle.loads(pickle.dumps(chains))
    np.testing.assert_array_equal(chains.step(3, 1), again.step(3, 1))


def test_there_is_none_where_all_or_little_could_stay_or_rules_are_hard() -> None:
    chain = [((i, i + 1), [[1, 0], [0, 1]]) for i in range(30)]
    assert solvable_part(Parts(make_model([2] * 31, chain).graph)) is None
    pairs = [((i, j), [[1, 0], [0, 1]]) for i in range(60) for j in range(i)]
    assert solvable_part(Parts(make_model([2] * 60, pairs).graph)) is None
    hard = [((i, j), [[1, 0], [0, -np.inf]]) for i in range(24) for j in range(i) if (i + j) % 5 == 0]
    assert solvable_part(Parts(make_model([2] * 24, hard).graph)) is None
    assert solvable_part(Parts(make_model([2, 3], [((0,), [0, 1])]).graph)) is None


def test_log_z_is_never_said_to_be_without_error() -> None:
    """Where all draws are worlds of one weight, those that were not drawn count."""
    pairs = [((i, j), [[2, 0], [0, 2]]) for i in range(14) for j in range(i)]
    model = with_log_z(make_model([2] * 14, [*pairs, ((0,), [0, 2])]))
    exact, found = infer(model, "exact"), infer(model, "tempered", Options(seed=1, samples=4096))
    assert exact.log_z is not None and found.log_z is not None
    assert 0 < found.log_z_mcse < 0.01 and abs(found.log_z - exact.log_z) < 4 * found.log_z_mcse
