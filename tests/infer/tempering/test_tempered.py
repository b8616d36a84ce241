"""Replica exchange: what lanes weigh, which worlds they keep, and answers where single chains are stuck."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plx
from plx.graph.worlds import log_weights, node_states
from plx.infer.infer import infer
from plx.infer.options import Options
from plx.infer.problem import Problem
from plx.infer.tempering import tempered
from plx.infer.tempering.soft import raised
from tests.models import make_model, random_model

NO = -np.inf


def test_weights_are_raised_and_zeros_stay() -> None:
    table = np.array([1.0, NO, -2.0, 0.0])
    np.testing.assert_array_equal(raised(table, 0.0), [0, NO, 0, 0])
    np.testing.assert_array_equal(raised(table, 0.5), [0.5, NO, -1, 0])


@pytest.mark.parametrize("seed", range(4))
def test_lanes_weigh_what_their_worlds_do(seed: int) -> None:
    """Also after exchanges, with tables of all sizes, derived nodes and hard rules."""
    hard = 0.1 * (seed % 2)
    model = random_model(
        np.random.default_rng(seed), variables=7, factors=9, max_card=5, derived=3, hard=hard
    )
    chains = tempered.init(Problem(model), seed, 16, 1)
    chains.step(7, 1)
    ladders, graph = chains.ladders, chains.ladders.updates.plan.graph
    weights = ladders.weights()
    (group,) = ladders.groups
    for k in range(len(ladders.beta)):
        nodes = node_states(graph, group.state[k])
        np.testing.assert_allclose(weights[k], log_weights(graph, nodes), atol=1e-9)
        live = ladders.updates.plan.rows.first_passive
        np.testing.assert_array_equal(group.level[k][:live], nodes[ladders.updates.plan.rows.node][:live])


def test_many_equal_factors_are_counted_past_what_a_byte_holds() -> None:
    pairs = [((i, i + 1), [[1, 0], [0, 1]]) for i in range(699)]
    model = make_model([2] * 700, [*pairs, *(((i,), [0, 2]) for i in range(0, 700, 2))])
    chains = tempered.init(Problem(model), 1, 16, 1)
    chains.step(1, 1)
    nodes = node_states(model.graph, chains.states)
    np.testing.assert_allclose(chains.ladders.weights()[-1], log_weights(model.graph, nodes), atol=1e-6)


def test_exchanges_are_refused_about_equally_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempered, "solvable_part", lambda parts: None)
    rng = np.random.default_rng(3)
    pairs = [((i, j), [[0, 0], [0, int(rng.integers(-4, 5))]]) for i in range(20) for j in range(i)]
    chains = tempered.init(Problem(make_model([2] * 20, pairs)), 1, 64, 1)
    chains.ladders.rounds(100, 1)
    tally = chains.ladders.tallies()
    rates = tally.refused.sum(axis=1) / (tally.tried * 64)
    assert chains.tuned.apart < 0.1 and len(rates) > 4
    assert rates.max() - rates.min() < 0.2
    assert (tally.tried == 50).all(), "even and odd pairs in turn"
    assert tally.trips.min() > 0, "replicas travel between the ends"


def test_a_seed_gives_one_answer_for_any_number_of_threads() -> None:
    model = random_model(np.random.default_rng(5), variables=8, factors=10, derived=2, hard=0.1)
    asked = Options(seed=3, chains=100, samples=3000, seconds=None)
    found = [infer(model, "tempered", replace(asked, threads=threads)) for threads in (1, 2, 3)]
    for other in found[1:]:
        assert (other.log_z, other.log_z_mcse) == (found[0].log_z, found[0].log_z_mcse)
        for a, b in zip(found[0].answers, other.answers, strict=True):
            np.testing.assert_array_equal(a.p, b.p)


BIMODAL = """
type Person = 1..14
random smokes(Person)
weight 0.9: smokes(x) = smokes(y)   for x, y in Person if x < y
weight 2: smokes(1)
query smokes(3)
query logz
"""


def test_two_modes_of_friends_and_smokers() -> None:
    model = plx.compile(BIMODAL)
    exact, found = model.run(method="exact"), model.run(method="tempered", seed=1, accuracy=0.01)
    stuck = model.run(method="gibbs", seed=1, samples=20_000, seconds=None)["smokes(3)"]
    assert not stuck.converged
    assert found.converged
    assert abs(found["smokes(3)"].probability - exact["smokes(3)"].probability) < 4 * found["smokes(3)"].mcse
    assert abs(found["logz"].log_z - exact["logz"].log_z) < 4 * found["logz"].mcse
    assert 0 < found["logz"].mcse < 0.1


def test_nothing_but_hard_rules_needs_no_temperatures() -> None:
    tied = [[NO, 0], [0, NO]]
    found = infer(make_model([2] * 6, [((i, i + 1), tied) for i in range(5)]), "tempered", Options(seed=1))
    assert found.log_z == pytest.approx(np.log(2))
    one = infer(make_model([3], [((0,), [0, 1, 2])]), "tempered", Options(seed=1))
    assert one.log_z == pytest.approx(np.log(1 + np.e + np.e**2), abs=0.1)


JACKPOT = """
type N = 1..{n}
random up(N)
weight 40: forall(up(i) for i in N)
weight 0.5: up(1)
query up(2)
"""


def test_a_world_that_outweighs_all_others_is_not_missed_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without jumps. log Z has an error as large as what that world weighs more."""
    monkeypatch.setattr(tempered, "jumps", lambda *_: None)
    model = plx.compile(JACKPOT.format(n=30) + "query logz")
    assert model.run(method="exact")["up(2)"].probability > 0.999
    found = model.run(method="tempered", seed=1, samples=20_000, seconds=None)
    assert not found["up(2)"].converged and not found["logz"].converged
    assert abs(found["logz"].log_z - 40.5) < 2 * found["logz"].mcse
    assert any("no chain came near the most probable world" in note for note in found.inference.notes)
    assert not any("--method tempered" in line for line in found.inference.advice)


def test_a_world_that_chains_find_is_not_spoken_of() -> None:
    model = plx.compile(JACKPOT.format(n=6))
    found = model.run(method="tempered", seed=1, accuracy=0.02)
    assert found.converged and found["up(2)"].probability > 0.999
    assert not any("no chain came near" in note for note in found.inference.notes)
