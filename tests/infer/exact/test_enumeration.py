"""Enumeration against brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plx
from plx.errors import PlxError
from plx.graph.model import GroundModel, GroundQuery, Target
from plx.infer.exact import enumeration
from plx.infer.exact.enumeration import EnumerationPlan
from plx.infer.problem import Problem
from tests.models import all_states, log_weights, log_z, make_model, marginal, random_model

INF = float("inf")


def asking(model: GroundModel, *nodes: tuple[int, ...], kind: str = "joint") -> GroundModel:
    """The model with a query for the joint distribution of each tuple of nodes."""
    queries = []
    for group in nodes:
        targets = tuple(Target(node, model.values.ids(range(model.graph.card[node]))) for node in group)
        queries.append(GroundQuery(kind, str(group), str(group), targets, (), None))  # type: ignore[arg-type]
    return replace(model, queries=tuple(queries))


@pytest.mark.parametrize("seed", range(40))
def test_all_joints_of_pairs_agree_with_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(rng, variables=5, factors=3, derived=2, max_card=4, hard=0.2)
    n = model.graph.n_nodes
    pairs = [(a, b) for a in range(n) for b in range(n)]
    found = EnumerationPlan(Problem(asking(model, *pairs))).run()
    assert found.log_z == pytest.approx(log_z(model.graph), abs=1e-10)
    for pair, answer in zip(pairs, found.answers, strict=True):
        np.testing.assert_allclose(answer.p, marginal(model.graph, pair), atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_chunks_of_a_component_add_up(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model(np.random.default_rng(seed), variables=6, factors=8, derived=2, hard=0.2)
    whole = EnumerationPlan(Problem(model)).run()
    monkeypatch.setattr(enumeration, "TOGETHER", 5)
    parts = EnumerationPlan(Problem(model)).run()
    assert parts.log_z == pytest.approx(whole.log_z, abs=1e-10)
    for a, b in zip(parts.answers, whole.answers, strict=True):
        np.testing.assert_allclose(a.p, b.p, atol=1e-12)


def test_a_count_over_independent_unknowns_needs_no_common_component() -> None:
    weights = [[0, k] for k in range(-10, 10)]
    derived = [([(v, [0, 1]) for v in range(20)], range(21))]
    model = make_model([2] * 20, [((v,), w) for v, w in enumerate(weights)], derived)
    assert EnumerationPlan(Problem(model)).worlds == 40
    found = EnumerationPlan(Problem(asking(model, (20,), kind="number"))).run().answers[0]
    p = 1 / (1 + np.exp(-np.arange(-10.0, 10.0)))
    assert found.mean == pytest.approx(p.sum())
    assert found.sd == pytest.approx(np.sqrt((p * (1 - p)).sum()))
    expected = np.ones(1)
    for one in p:
        expected = np.convolve(expected, [1 - one, one])
    np.testing.assert_allclose(found.p, expected, atol=1e-12)


def test_a_count_and_one_of_its_unknowns_are_joint() -> None:
    derived = [([(v, [0, 1]) for v in range(4)], [0, 1, 1, 1, 1])]
    model = make_model([2] * 4, [((v,), [0, v]) for v in range(4)], derived)
    found = EnumerationPlan(Problem(asking(model, (2, 4), (4, 2, 0)))).run()
    np.testing.assert_allclose(found.answers[0].p, marginal(model.graph, (2, 4)), atol=1e-12)
    np.testing.assert_allclose(found.answers[1].p, marginal(model.graph, (4, 2, 0)), atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_the_best_worlds_in_order(seed: int) -> None:
    model = random_model(np.random.default_rng(seed), variables=6, factors=4, derived=1, hard=0.3)
    query = GroundQuery("map", "map", "map 7", (), (), None, best=7)
    worlds = EnumerationPlan(Problem(replace(model, queries=(query,)))).run().answers[0].worlds
    states = all_states(model.graph)
    weights = log_weights(model.graph, states)
    expected = np.sort(weights[weights > -np.inf])[::-1][:7]
    np.testing.assert_allclose([world.log_weight for world in worlds], expected, atol=1e-12)
    own = log_weights(model.graph, np.array([world.states for world in worlds]))
    np.testing.assert_allclose(own, expected, atol=1e-12)
    assert len({tuple(world.states) for world in worlds}) == len(worlds)


def test_extreme_weights_stay_finite() -> None:
    model = make_model([2, 2], [((0,), [-10000, 0]), ((0, 1), [[10000, 0], [-10000, 9999]])])
    found = EnumerationPlan(Problem(model)).run()
    logs = log_weights(model.graph, all_states(model.graph))
    assert found.log_z == pytest.approx(np.logaddexp.reduce(logs))
    np.testing.assert_allclose(found.answers[1].p, [0.0, 1.0], atol=1e-12)


@pytest.mark.parametrize(
    ("cards", "said"),
    [
        ([3, 3, 3], "all 9 worlds of 3 independent parts were enumerated"),
        ([2, 2000, 1], "all 2,002 worlds of 2 independent parts were enumerated"),
        ([4], "all 4 worlds were enumerated"),
        ([1, 1], "the only world was looked at"),
        ([], "the only world was looked at"),
    ],
)
def test_worlds_of_independent_parts_are_said_to_be_such(cards: list[int], said: str) -> None:
    """Three unknowns of three values have 27 worlds, of which 9 are looked at: 3 for each."""
    assert EnumerationPlan(Problem(make_model(cards, []))).reason == said


def test_the_log_constant_belongs_to_log_z() -> None:
    model = make_model([2], [((0,), [0, 1])])
    model = replace(model, constant_weight=model.values.id(-700))
    assert EnumerationPlan(Problem(model)).run().log_z == pytest.approx(np.log1p(np.e) - 700)


def test_no_possible_world_is_an_error_that_names_rules() -> None:
    model = make_model([2, 2], [((0, 1), [[-INF, 0], [-INF, -INF]]), ((1,), [0, -INF])])
    with pytest.raises(PlxError, match="no world satisfies"):
        EnumerationPlan(Problem(model)).run()


def test_the_size_is_known_however_large() -> None:
    model = make_model([2] * 3000, [((i, i + 1), [[0, 1], [0, 0]]) for i in range(2999)])
    plan = EnumerationPlan(Problem(model))
    assert plan.bits == pytest.approx([3000])
    assert plan.worlds == np.inf and plan.operations > 1e300


def test_each_part_is_asked_for_its_own_targets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    own = enumeration._accumulate
    monkeypatch.setattr(enumeration, "_accumulate", lambda *a: calls.append(a[4]) or own(*a))
    n = 40
    text = f"type P = 1..{n}\nrandom a(P)\nweight p / 9: a(p) for p in P\nquery a(p) for p in P\n"
    result = plx.compile(text + "query count(a(p) for p in P if p <= 5) as n\n").run(method="exact")
    assert len(calls) == n + 5
    odds = np.exp(np.arange(1, 6) / 9)
    assert result["n"].distribution[0] == pytest.approx(np.prod(1 / (1 + odds)), rel=1e-12)
    assert result["a(3)"].probability == pytest.approx(odds[2] / (1 + odds[2]), rel=1e-12)
