"""Unknowns that hard rules define are computed, and the distribution stays what it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plx.graph.model import GroundModel, GroundQuery, Target
from plx.infer.gibbs.blocked import readout
from plx.infer.hard.substitute import substitute
from plx.infer.problem import Problem
from plx.values import IMPOSSIBLE
from tests.models import _queries, log_z, make_model, marginal, random_model

INF = float("inf")
YES = 0
NO = -INF


def with_all_nodes(model: GroundModel) -> GroundModel:
    return replace(model, queries=_queries(model.values, model.graph.card.tolist()))


def sampled_from(model: GroundModel) -> np.ndarray:
    """The exact distribution of all targets of the model, by way of the determined one."""
    found = substitute(Problem(model))
    targets = Problem(found.model).targets
    draws = 1 << 40
    if found.model.graph.n_variables:
        p = [marginal(found.model.graph, nodes) if nodes else np.ones(1) for nodes in targets.nodes]
    else:
        p = [np.ones(1) for _ in targets.nodes]
    counts = np.rint(np.concatenate(p) * draws).astype(np.int64)[None]
    return readout(Problem(model), found).apply(counts, draws)[0] / draws


def assert_exact(model: GroundModel) -> None:
    truth = np.concatenate([marginal(model.graph, nodes) for nodes in Problem(model).targets.nodes])
    np.testing.assert_allclose(sampled_from(model), truth, atol=1e-9)


@pytest.mark.parametrize("hard", [0.3, 0.5, 0.7])
def test_random_models_keep_their_distribution(hard: float) -> None:
    computed = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        model = random_model(
            rng,
            variables=6,
            factors=int(rng.integers(3, 10)),
            derived=3,
            max_card=2 + 2 * (seed % 2),
            hard=hard,
        )
        assert_exact(with_all_nodes(model))
        found = substitute(Problem(model))
        computed += model.graph.n_variables - found.model.graph.n_variables
        if found.model.graph.n_variables:
            assert log_z(found.model.graph) + found.model.log_constant == pytest.approx(log_z(model.graph))
    assert computed > 5


def test_joint_queries_see_aliases_and_constants() -> None:
    equal = [[YES, NO], [NO, YES]]
    model = make_model([2, 2, 2, 3], [((0, 1), equal), ((2,), [NO, YES]), ((1, 3), [[0, 1, 2], [1, 0, 0]])])
    labels = model.queries[0].targets[0].labels
    three = model.queries[3].targets[0].labels
    joint = tuple(Target(node, three if node == 3 else labels) for node in (0, 1, 2, 3))
    model = replace(model, queries=(GroundQuery("joint", "j", "j", joint, (), None), *model.queries))
    assert substitute(Problem(model)).model.graph.n_variables == 2
    assert_exact(model)


def test_a_conjunction_is_computed_and_its_rule_is_gone() -> None:
    rule = np.full((2, 2, 2), NO)
    for a in range(2):
        for b in range(2):
            rule[a, b, a & b] = YES
    found = substitute(Problem(make_model([2, 2, 2], [((0, 1, 2), rule), ((2,), [0, 1])])))
    assert found.model.graph.n_variables == 2
    assert not np.isinf(found.model.graph.table).any()


def test_a_chain_of_definitions_becomes_a_chain_of_computed_nodes() -> None:
    """s(t) <=> s(t-1) xor u(t): only s(0) and all u stay."""
    xor = np.array([[[YES, NO], [NO, YES]], [[NO, YES], [YES, NO]]])
    n = 6
    factors = [((t, n + t, t + 1), xor) for t in range(n - 1)]
    factors += [((n + t,), [0, 1]) for t in range(n - 1)]
    model = make_model([2] * (2 * n - 1), factors)
    for reverse in (False, True):
        order = list(range(2 * n - 1))[:: -1 if reverse else 1]
        turned = make_model(
            [2] * (2 * n - 1), [(tuple(order[i] for i in scope), table) for scope, table in factors]
        )
        assert substitute(Problem(turned)).model.graph.n_variables == n
    assert_exact(with_all_nodes(model))


@pytest.mark.parametrize("total", [1, 3])
def test_of_unknowns_with_a_fixed_count_one_is_computed(total: int) -> None:
    n = 6
    derived = [([(v, [0, 1]) for v in range(n)], range(n + 1))]
    table = [YES if k == total else NO for k in range(n + 1)]
    model = make_model([2] * n, [((n,), table), *(((v,), [0, v]) for v in range(n))], derived, "nodes")
    assert substitute(Problem(model)).model.graph.n_variables == n - 1
    assert_exact(model)


def test_unknowns_that_define_each_other_are_not_all_computed() -> None:
    equal = [[YES, NO], [NO, YES]]
    model = make_model(
        [2] * 4, [((i, (i + 1) % 4), equal) for i in range(4)] + [((0,), [0, 1])], queries="nodes"
    )
    assert substitute(Problem(model)).model.graph.n_variables == 1
    assert_exact(model)


def test_what_is_forced_spreads() -> None:
    implies = [[YES, YES], [NO, YES]]
    n = 20
    model = make_model([2] * n, [((0,), [NO, YES])] + [((i, i + 1), implies) for i in range(n - 1)])
    found = substitute(Problem(model))
    assert found.model.graph.n_variables == 0
    np.testing.assert_array_equal(found.nodes.state, 1)


def test_a_contradiction_shows() -> None:
    model = make_model([2, 2], [((0, 1), [[NO, YES], [YES, NO]]), ((0,), [NO, YES]), ((1,), [NO, YES])])
    assert substitute(Problem(model)).model.constant_weight == IMPOSSIBLE


def test_nothing_is_computed_without_reason() -> None:
    model = make_model([2, 2, 2], [((0, 1), [[YES, YES], [NO, YES]]), ((1, 2), [[0, 5], [3, 0]])])
    found = substitute(Problem(model))
    assert found.model.graph is model.graph
    np.testing.assert_array_equal(found.nodes.node, np.arange(3))
