"""Unknowns that no query needs: what is left out changes no answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plx
from plx.graph import barren
from plx.graph.barren import without_barren
from plx.graph.model import GroundModel
from tests.models import all_states, log_weights, make_model, node_states

INF = float("inf")


def network(seed: int, asked: int = 2) -> GroundModel:
    """A random Bayesian network with weights on some of it, and a derived parent; it asks for some of it."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, size=7).tolist()
    derived = [([(0, [0, 1, 1][: cards[0]]), (1, [0, 1, 2][: cards[1]])], [0, 1, 1, 1])]
    card = [*cards, 2]
    factors = []
    for child in range(7):
        parents = rng.choice(child, size=min(child, 2), replace=False).tolist()
        if child > 2 and rng.random() < 0.4:
            parents = [*parents[:1], 7]
        shape = [*(card[p] for p in parents), cards[child]]
        chances = rng.integers(1, 9, size=shape)
        logs = np.where(chances > 6, -INF, np.log(chances))
        logs[..., 0] = 0
        with np.errstate(divide="ignore"):
            logs = logs - np.log(np.exp(logs).sum(axis=-1, keepdims=True))
        factors.append(([*parents, child], logs))
    for _ in range(int(rng.integers(0, 3))):
        node = int(rng.integers(0, 7))
        factors.append(([node], rng.integers(-2, 3, size=cards[node])))
    model = make_model(cards, _exact(factors), derived)
    return replace(
        model, queries=tuple(model.queries[int(i)] for i in rng.choice(7, size=asked, replace=False))
    )


def _exact(factors: list) -> list:
    """Doubles as exact weights."""
    from fractions import Fraction

    exact = np.vectorize(lambda w: w if w == -INF else Fraction(float(w)), otypes=[object])
    return [(scope, exact(np.asarray(table, dtype=float))) for scope, table in factors]


def answers(model: GroundModel) -> tuple[float, list[np.ndarray]]:
    """Log Z and the distribution of every target, by enumeration."""
    states = all_states(model.graph)
    logs = log_weights(model.graph, states) + model.log_constant
    weights = np.exp(logs)
    nodes = node_states(model.graph, states)
    found = []
    for query in model.queries:
        target = query.targets[0]
        column = nodes[:, target.node] if target.node >= 0 else np.zeros(len(states), dtype=int)
        found.append(np.bincount(column, weights=weights, minlength=len(target.labels)) / weights.sum())
    return float(np.log(weights.sum())), found


@pytest.mark.parametrize("seed", range(40))
def test_pruned_models_have_the_same_answers(seed: int) -> None:
    model = network(seed)
    pruned = without_barren(model)
    (log_z, before), (after_z, after) = answers(model), answers(pruned)
    assert after_z == pytest.approx(log_z, abs=1e-12)
    for one, other in zip(before, after, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


def test_scopes_of_large_models_are_gone_through_first(monkeypatch: pytest.MonkeyPatch) -> None:
    models = [network(seed, 1) for seed in range(20)]
    sorted_first = [without_barren(model) for model in models]
    scanned: list[int] = []
    monkeypatch.setattr(barren, "PIECE", 1)
    monkeypatch.setattr(barren, "pieces", lambda n: scanned.append(n) or (slice(i, i + 1) for i in range(n)))
    for model, known in zip(models, sorted_first, strict=True):
        found = without_barren(model)
        for one, other in zip(found.graph, known.graph, strict=True):
            np.testing.assert_array_equal(one, other)
        assert found.constant_weight == known.constant_weight
    assert scanned


def test_some_of_these_models_are_pruned_and_some_are_not_to_the_roots() -> None:
    sizes = [without_barren(network(seed)).graph.n_variables for seed in range(40)]
    assert min(sizes) <= 3 and max(sizes) >= 6


def left(text: str) -> int:
    return without_barren(plx.compile(text).ground).graph.n_variables


CHAIN = "type T = 0..9 random s(t: T) ~ 0.3 if t = 0 else 0.1 + 0.8 * s(t - 1) "


def test_what_comes_after_the_last_question_is_left_out() -> None:
    assert left(CHAIN + "query s(3)") == 4
    assert left(CHAIN + "query logz") == 0
    assert left(CHAIN + "observe s(6) query s(3)") == 6
    assert left(CHAIN + "query s(3) given s(5)") == 6
    assert left(CHAIN + "query map") == 10


def test_a_weight_keeps_what_it_is_about_and_its_parents() -> None:
    assert left(CHAIN + "weight 1: s(5) & s(6) query s(0)") == 7
    assert left(CHAIN + "weight 1: s(5) query s(0)") == 6


def test_a_count_of_unknowns_that_nobody_asks_for_is_left_out() -> None:
    text = "type T = 0..19 random a(T) ~ 0.3 random b ~ 0.1 + 0.8 * (count(a(t) for t in T) > 9) query a(0)"
    assert left(text) == 1


def test_networks_of_other_tools_are_pruned_too() -> None:
    model = make_model(
        [2, 2], _exact([([0], [np.log(0.25), np.log(0.75)]), ([0, 1], np.log([[0.5, 0.5], [0.2, 0.8]]))])
    )
    assert without_barren(replace(model, queries=model.queries[:1])).graph.n_variables == 1
