"""Unknowns that are summed out before sampling: what is left, and what it tells of them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from time import process_time

import numpy as np
import pytest

import plx
from plx.deadline import within
from plx.graph.model import GroundModel
from plx.infer.orbits import lifted
from plx.infer.orbits.collapse import Collapsed, collapse
from plx.infer.orbits.lifted import set_up
from plx.infer.orbits.orbit_averages import OrbitAverages, orbit_averages
from plx.infer.problem import Problem
from plx.lift.reduced import reduced_model
from tests.infer.estimating import estimates, with_joint_queries
from tests.models import all_states, log_weights, make_model, random_model


def with_leaves(seed: int) -> GroundModel:
    """A core of a few unknowns of few weights, and unknowns that hang on one, two or none of them."""
    rng = np.random.default_rng(seed)
    core = rng.integers(2, 4, size=int(rng.integers(1, 4))).tolist()
    cards, factors = list(core), []
    for _ in range(int(rng.integers(0, 4))):
        scope = rng.permutation(len(core))[: int(rng.integers(1, 3))].tolist()
        factors.append((scope, rng.integers(0, 2, size=[core[i] for i in scope]).tolist()))
    for _ in range(int(rng.integers(1, 4))):
        others = rng.permutation(len(core))[: int(rng.integers(0, 3))].tolist()
        card = int(rng.integers(2, 4))
        scope = rng.permutation([len(cards), *others]).tolist()
        cards.append(card)
        factors.append((scope, rng.integers(0, 2, size=[cards[i] for i in scope]).tolist()))
        for other in others[:1] if rng.random() < 0.5 else []:
            factors.append(([other, len(cards) - 1], rng.integers(0, 2, size=(cards[other], card)).tolist()))
        if rng.random() < 0.5:
            factors.append(([len(cards) - 1], rng.integers(0, 3, size=card).tolist()))
    model = make_model(cards, factors)
    return with_joint_queries(model, rng, 1) if seed % 3 == 0 else model


def log_z(model: GroundModel) -> float:
    return float(np.logaddexp.reduce(log_weights(model.graph, all_states(model.graph)))) + model.log_constant


@pytest.mark.parametrize("block", range(2))
def test_what_was_summed_out_is_in_the_constant(block: int) -> None:
    """Collapsing and merging leave the sum over all worlds as it is, by exact weights."""
    smaller = 0
    for seed in range(100 * block, 100 * block + 100):
        model = with_leaves(seed)
        model = replace(model, constant_weight=model.values.id(Fraction(seed, 7)))
        inner = collapse(model).model
        for reduced in (inner, reduced_model(model).model, reduced_model(inner).model):
            smaller += reduced.graph.n_variables < model.graph.n_variables
            assert log_z(reduced) == pytest.approx(log_z(model), abs=1e-9), seed
    assert smaller > 100


def test_thousands_of_unlike_leaves_are_summed_out_in_seconds() -> None:
    """Their constants are irrational, and no two are alike."""
    n = 2000
    model = make_model([2] * n, [((i,), [0, Fraction(i + 1, 1000)]) for i in range(n)], queries="")
    begin = process_time()
    inner = collapse(model).model
    assert process_time() - begin < 60
    assert inner.graph.n_variables == 0
    assert inner.log_constant == pytest.approx(sum(np.log1p(np.exp((i + 1) / 1000)) for i in range(n)))


def lifted_estimates(model: GroundModel) -> tuple[Collapsed, OrbitAverages]:
    collapsed = collapse(model)
    setting = set_up(collapsed)
    return collapsed, orbit_averages(setting.leaves, setting.reduced, setting.symmetry, setting.slots)


@pytest.mark.parametrize("block", range(4))
def test_leaves_are_summed_out_and_told_without_bias(block: int) -> None:
    gone = told = pooled = 0
    for seed in range(100 * block, 100 * block + 100):
        model = with_leaves(seed)
        collapsed, found = lifted_estimates(model)
        left = found.model.graph.n_variables
        gone += model.graph.n_variables - left
        told += sum(len(leaves.variable) for leaves in collapsed.leaves)
        pooled = max(pooled, int(found.pooled.max()))
        np.testing.assert_allclose(*estimates(model, found), atol=1e-12)
        assert log_z(collapsed.model) == pytest.approx(log_z(model), abs=1e-11)
    assert gone > 50
    assert told > 50
    assert pooled > 1


def test_models_with_derived_nodes_are_told_without_bias() -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        model = random_model(rng, variables=5, factors=6, derived=3, max_card=4)
        model = with_joint_queries(model, rng, 8)
        _, found = lifted_estimates(model)
        np.testing.assert_allclose(*estimates(model, found), atol=1e-12)


FRIENDS = """
type Person = 0..29
random smokes(Person)
random friends(Person, Person)
weight 0.4: smokes(x) for x in Person
weight 0.05: friends(x, y) & smokes(x) => smokes(y) for x, y in Person
query {asked}
"""


def test_leaves_that_others_move_with_stay_where_there_are_many() -> None:
    few = plx.compile(FRIENDS.format(asked="smokes(0)\nquery friends(1, 2)")).ground
    chains = lifted.init(Problem(few), 1, 8)
    assert chains.averages.model.graph.n_variables == 30
    many = plx.compile(FRIENDS.format(asked="friends(x, y) for x, y in Person")).ground
    chains = lifted.init(Problem(many), 1, 8)
    assert chains.averages.model.graph.n_variables == 30 * 29 + 30
    assert chains.averages.pooled.max() >= 30 * 29


def friends_and_smokers(n: int) -> tuple[float, float]:
    """The probabilities of smokes(x) and of friends(x, y), x ≠ y, by the sum over the number of smokers."""
    copy, k = math.exp(0.05), np.arange(n + 1)
    mixed = k * (n - k)
    logs = np.array([math.log(math.comb(n, i)) for i in k]) + 0.4 * k
    logs += mixed * math.log(copy + 1) + (n * n - mixed) * math.log(2 * copy)
    p = np.exp(logs - np.logaddexp.reduce(logs))
    breaks = float(p @ mixed) / (n * (n - 1))  # x smokes and y does not
    return float(p @ k) / n, breaks / (copy + 1) + (1 - breaks) / 2


def test_answers_of_leaves_agree_with_the_sum_over_counts() -> None:
    model = plx.compile(
        FRIENDS.format(asked="smokes(x) for x in Person\nquery friends(1, 2)\nquery friends(3, 3)")
    )
    smokes, friends = friends_and_smokers(30)
    truth = [smokes] * 30 + [friends, 0.5]
    for p, exact in zip(truth, model.run(method="exact"), strict=True):
        assert exact.probability == pytest.approx(p, abs=1e-9)
    for p, sampled in zip(truth, model.run(method="lifted", seed=4, accuracy=1e-4, seconds=600), strict=True):
        assert sampled.converged and sampled.mcse < 1e-4
        assert abs(sampled.probability - p) < 4.5 * sampled.mcse + 1e-9


def _chain(states: int) -> GroundModel:
    return plx.compile(
        f"type Step = 1..9\ntype State = 1..{states}\nrandom state(Step): State\n"
        "factor 0.37 * abs(state(t) - state(t + 1)) * t for t in Step if t < 9\n"
        "query state(1) = 1\n"
    ).ground


def test_sums_of_long_sums_are_not_summed() -> None:
    """Each round would make exact weights longer by the number of states."""
    assert collapse(_chain(2)).model.graph.n_variables < collapse(_chain(40)).model.graph.n_variables == 8


def test_a_round_that_the_clock_ends_is_as_if_it_had_not_been() -> None:
    model = _chain(3)
    with within(0.0):
        found = collapse(model)
    assert found.model is model and found.leaves == ()
