"""Tables over counts of conditions: what an update would draw from, against the weights of worlds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plx
from plx.graph.model import GroundModel
from plx.infer.gibbs.chains import chains_at
from plx.infer.gibbs.compiled import CompiledModel, compile_model
from plx.infer.kernels.random import BITS
from plx.infer.problem import Problem
from tests.models import log_weights, make_model, marginal, node_states

SMOKERS = """
type Person = p1..p5
random smokes(Person)
random friends(Person, Person)
weight 0.7: smokes(x) for x in Person
weight 1.1: friends(x, y) & smokes(x) => smokes(y) for x, y in Person
weight -0.4: friends(x, y) & friends(y, x) for x, y in Person if x < y
"""

GRADES = """
type Course = c1..c4
type Grade = 0..5
random grade(Course): Grade
random linked(Course, Course)
weight 1.2: linked(c, d) & grade(c) != 0 => grade(d) = 0 for c, d in Course if c != d
weight 0.3: grade(c) = 2 | grade(d) = 5 for c, d in Course if c < d
weight 0.5: grade(c) = 3 for c in Course
"""


def clauses(seed: int) -> GroundModel:
    """Random clauses with few different weights over unknowns of two to four states."""
    rng = np.random.default_rng(seed)
    card = rng.integers(2, 5, 7).tolist()
    factors: list[tuple[tuple[int, ...], object]] = []
    for _ in range(25):
        scope = tuple(rng.choice(7, rng.integers(1, 4), replace=False).tolist())
        table = np.full([card[v] for v in scope], 0.0)
        literals = []
        for axis, v in enumerate(scope):
            own = np.arange(card[v]) == rng.integers(card[v])
            own = ~own if rng.random() < 0.5 else own
            literals.append(own.reshape([-1 if a == axis else 1 for a in range(len(scope))]))
        table += rng.choice([0.5, -0.5, 1.5]) * np.any(np.broadcast_arrays(*literals), axis=0)
        factors.append((scope, table.tolist()))
    return make_model(card, factors)


def from_tables(plan: CompiledModel, v: int, states: np.ndarray) -> np.ndarray:
    """Cumulative probabilities of v's states but the last, [card - 1, lanes], as the kernel finds them."""
    a = plan.arrays
    rows = np.concatenate([states, node_states(plan.graph, states.T).T[plan.rows.node]])
    index = np.full(states.shape[1], a.offset[v])
    for r in range(a.reader_start[v], a.reader_start[v + 1]):
        if a.reader_row[r] < len(rows):  # else a total, of what v alone feeds: 0 once that is taken away
            index += a.reader_stride[r] * rows[a.reader_row[r]]
    for p in range(a.product_start[v], a.product_start[v + 1]):
        holds = np.ones(states.shape[1], dtype=bool)
        for row, value in zip(
            a.product_row[2 * p : 2 * p + 2], a.product_value[2 * p : 2 * p + 2], strict=True
        ):
            holds &= states[row] == value if value >= 0 else states[row] != ~value
        index += a.product_step[p] * holds
    assert (index >= 0).all() and (index < a.configurations[v]).all()
    planes = a.conditional[v] + a.configurations[v] * np.arange(a.card[v] - 1)
    return np.asarray(a.threshold[planes[:, None] + index] / 2.0**BITS)


def from_worlds(model: GroundModel, v: int, states: np.ndarray) -> np.ndarray:
    """The same from the log weights of worlds."""
    logs = []
    for k in range(model.graph.card[v]):
        moved = states.copy()
        moved[v] = k
        logs.append(log_weights(model.graph, moved.T))
    p = np.exp(np.array(logs) - np.max(logs, axis=0))
    return np.asarray(np.cumsum(p / p.sum(axis=0), axis=0)[:-1])


def check(model: GroundModel, plan: CompiledModel) -> None:
    rng = np.random.default_rng(0)
    card = model.graph.card[: model.graph.n_variables]
    states = rng.integers(0, card[:, None], (len(card), 50))
    for v in np.flatnonzero(plan.arrays.conditional >= 0).tolist():
        np.testing.assert_allclose(from_tables(plan, v, states), from_worlds(model, v, states), atol=1e-8)


@pytest.mark.parametrize("heat", [1.0, 0.3])
@pytest.mark.parametrize(("program", "entries"), [(SMOKERS, 8), (GRADES, 200)])
def test_programs(program: str, entries: int, heat: float) -> None:
    model = plx.compile(program).ground
    plan = compile_model(Problem(model), entries)
    assert (plan.arrays.conditional >= 0).all(), "counts make small tables do for all unknowns"
    graph = model.graph._replace(table=model.graph.table * heat)
    check(replace(model, graph=graph), plan.with_potentials(graph.table))


@pytest.mark.parametrize("entries", [1, 16, 4096])
@pytest.mark.parametrize("seed", range(6))
def test_random_clauses(seed: int, entries: int) -> None:
    model = clauses(seed)
    plan = compile_model(Problem(model), entries)
    check(model, plan)
    if entries == 4096:
        assert (plan.arrays.conditional >= 0).sum() >= 5, "and most are looked at"


def test_hundreds_of_factors_need_a_small_table() -> None:
    model = plx.compile(SMOKERS.replace("p1..p5", "p1..p60")).ground
    plan = compile_model(Problem(model))
    assert (plan.arrays.conditional >= 0).all()
    assert len(plan.arrays.threshold) < 300
    check_some = replace(model, queries=())
    states = np.random.default_rng(1).integers(0, 2, (model.graph.n_variables, 20))
    for v in (0, 30, 59, 60, 61, 3000):
        np.testing.assert_allclose(
            from_tables(plan, v, states), from_worlds(check_some, v, states), atol=1e-8
        )


def test_many_states_and_a_sum_that_one_unknown_feeds() -> None:
    low = np.linspace(0, 2, 500).tolist()
    derived = [([(0, list(range(500)))], [0] * 300 + [1] * 200)]
    model = make_model([500, 2], [((0,), low), ((2, 1), [[0.3, 0.0], [0.0, 0.9]])], derived)
    plan = compile_model(Problem(model))
    assert plan.arrays.configurations.tolist() == [2, 2]
    check(model, plan)
    chains = chains_at(plan, np.zeros((2, 64), dtype=np.int32), 4, 1)
    chains.step(20, 1)
    share = chains.step(2000, 1) / 2000
    for t, nodes in enumerate(plan.targets.nodes):
        part = slice(*plan.targets.offset[t : t + 2])
        found, truth = share[:, part], marginal(model.graph, nodes)
        for values in (np.arange(len(truth)), np.arange(len(truth)) ** 2):
            means = found @ values
            error = means.std(ddof=1) / 8
            assert abs(means.mean() - truth @ values) < 4.5 * error  # six comparisons


def test_unequal_weights_are_told_apart() -> None:
    factors = [((0, v), [[0.0, 0.0], [0.0, 0.1 * v]]) for v in range(1, 8)]
    model = make_model([2] * 8, factors)
    plan = compile_model(Problem(model), 64)
    assert plan.arrays.conditional[0] >= 0
    check(model, plan)


def test_more_draws_than_a_byte_counts_are_all_recorded() -> None:
    model = make_model([2, 3, 20], [((0, 1), [[0, 1, 0], [1, 0, 0]]), ((1, 2), np.zeros((3, 20)).tolist())])
    plan = compile_model(Problem(model))
    counts = chains_at(plan, np.zeros((3, 8), dtype=np.int32), 1, 1).step(1000, 1)
    totals = np.add.reduceat(counts, plan.targets.offset[:-1], axis=1)
    assert (totals == 1000).all()
    parts = chains_at(plan, np.zeros((3, 8), dtype=np.int32), 1, 1)
    np.testing.assert_array_equal(counts, sum(parts.step(n, 1) for n in (1, 254, 255, 256, 234)))
