"""First states, the SAT encoding, and what is said when there is none."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from plx.errors import PlxError
from plx.graph.model import FactorGraph, GroundModel, GroundRule
from plx.infer.gibbs.initial_states import initial_states
from plx.infer.hard.cnf import Encoder
from plx.infer.hard.sat import Satisfier, contradiction
from plx.infer.problem import Problem
from tests.models import all_states, log_weights, make_model, random_model

INF = float("inf")


def hard_model(seed: int) -> GroundModel:
    """A random model, often impossible, with sums of uneven contributions."""
    rng = np.random.default_rng(seed)
    cards = [int(c) for c in rng.integers(2, 5, size=5)]
    card = list(cards)
    derived = []
    for _ in range(2):
        inputs = sorted(rng.choice(len(card), size=3, replace=False).tolist())
        parts = [(i, rng.integers(0, 4, size=card[i]).tolist()) for i in inputs]
        top = sum(max(vector) for _, vector in parts)
        output = rng.integers(0, 3, size=top + 1).tolist()
        derived.append((parts, output))
        card.append(max(output) + 1)
    factors = []
    for _ in range(int(rng.integers(3, 9))):
        scope = sorted(rng.choice(len(card), size=int(rng.integers(1, 4)), replace=False).tolist())
        shape = [card[node] for node in scope]
        factors.append((scope, np.where(rng.random(shape) < 0.5, -INF, 0.0)))
    return make_model(cards, factors, derived)


def possible(graph: FactorGraph) -> bool:
    return bool(np.isfinite(log_weights(graph, all_states(graph))).any())


@pytest.mark.parametrize("seed", range(60))
def test_the_solver_finds_a_world_exactly_if_there_is_one(seed: int) -> None:
    model = hard_model(seed)
    found = Satisfier(model.graph).near(np.zeros(5, dtype=np.int32))
    assert (found is not None) == possible(model.graph)
    if found is not None:
        assert np.isfinite(log_weights(model.graph, found[None])).all()


def test_both_outcomes_occur_among_these_models() -> None:
    outcomes = [possible(hard_model(seed).graph) for seed in range(60)]
    assert 10 < sum(outcomes) < 50


@pytest.mark.parametrize("seed", range(25))
def test_literals_of_derived_nodes_mean_their_states(seed: int) -> None:
    """With the variables fixed, exactly the literal of the state that the node has is satisfiable."""
    from pysat.solvers import Solver

    graph = hard_model(seed).graph
    encoder = Encoder(graph)
    nodes = range(graph.n_variables, graph.n_nodes)
    literal = {(node, s): encoder.literal(node, s) for node in nodes for s in range(graph.card[node])}
    states = all_states(graph)[:: 1 + np.prod(graph.card[:5]) // 30]
    from tests.models import node_states

    truth = node_states(graph, states)
    with Solver(name="glucose4", bootstrap_with=encoder.clauses) as solver:
        for row in truth:
            fixed = [literals[row[node]] for node, literals in encoder.variables.items()]
            for (node, state), meaning in literal.items():
                assert solver.solve(assumptions=[*fixed, meaning]) == (row[node] == state)


@pytest.mark.parametrize("seed", range(20))
def test_every_chain_starts_at_a_possible_world(seed: int) -> None:
    model = random_model(
        np.random.default_rng(seed), variables=8, factors=14, derived=2, hard=0.5, max_card=4
    )
    states = initial_states(Problem(model), seed, 20)
    assert states.shape == (8, 20)
    assert np.isfinite(log_weights(model.graph, states.T)).all()
    np.testing.assert_array_equal(states[:, :5], initial_states(Problem(model), seed, 5))


def test_chains_start_at_different_worlds() -> None:
    either = [[-INF, 0], [0, 0]]
    model = make_model([2] * 12, [((i, i + 1), either) for i in range(11)])
    states = initial_states(Problem(model), 0, 50)
    assert len({tuple(column) for column in states.T}) > 30


def pigeons(holes: int) -> GroundModel:
    """One pigeon more than holes, no two in one hole: hopeless for a local search."""
    n = holes + 1
    differ = [[-INF if a == b else 0 for b in range(holes)] for a in range(holes)]
    return make_model([holes] * n, [(pair, differ) for pair in itertools.combinations(range(n), 2)])


def test_what_only_the_solver_can_decide() -> None:
    with pytest.raises(PlxError, match="no world satisfies"):
        initial_states(Problem(pigeons(5)), 0, 3)


def test_a_narrow_solution_is_found() -> None:
    n = 30
    step = [[0, -INF], [-INF, 0]]
    chain = make_model([2] * n, [((i, i + 1), step) for i in range(n - 1)] + [((0,), [-INF, 0])])
    np.testing.assert_array_equal(initial_states(Problem(chain), 0, 4), 1)


def test_an_exact_count_is_met() -> None:
    derived = [([(v, [0, 1]) for v in range(200)], range(201))]
    table = [0 if k == 100 else -INF for k in range(201)]
    states = initial_states(Problem(make_model([2] * 200, [((200,), table)], derived)), 0, 8)
    np.testing.assert_array_equal(states.sum(axis=0), 100)


def test_the_error_names_the_rules_that_clash_and_no_others() -> None:
    model = make_model(
        [2, 2, 2, 2],
        [((0, 1), [[-INF, 0], [0, 0]]), ((0,), [0, -INF]), ((1,), [0, -INF]), ((2, 3), [[-INF, 0], [0, 0]])],
    )
    rules = tuple(GroundRule("require", f"require rule {i}", None) for i in range(4))
    graph = model.graph._replace(rule_of=np.arange(4, dtype=np.int32))
    model = replace(model, graph=graph, rules=rules)
    text = str(contradiction(model))
    assert all(f"rule {i}" in text for i in (0, 1, 2))
    assert "rule 3" not in text
    assert "x(0), x(1)" in text


def test_a_rule_that_fails_by_itself_is_named_alone() -> None:
    text = str(contradiction(make_model([2], [((0,), [-INF, -INF])])))
    assert "no world satisfies `factor …` (on x(0))" in text
    assert "together" not in text
