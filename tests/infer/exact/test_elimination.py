"""The junction tree against brute force, on hand-made and random factor graphs."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plx.errors import NoWorldError
from plx.formats.reader import read_model
from plx.graph.model import GroundModel, GroundQuery, Target
from plx.infer.exact import elimination, split
from plx.infer.exact import elimination_order as order
from plx.infer.exact.elimination import plan, solve
from plx.infer.exact.limits import ExactBudget
from tests import models
from tests.models import make_model

SMALL = sorted((Path(__file__).parents[2] / "formats" / "small").glob("*.json"))
PAPER = Path(__file__).parents[4] / "shared" / "paper"


def ask(model: GroundModel, *targets: tuple[int, ...], kind: str = "joint") -> GroundModel:
    """The model with one query per tuple of nodes; -1 stands for a target that evidence decided."""
    queries = []
    for nodes in targets:
        labels = [model.values.ids(range(model.graph.card[v] if v >= 0 else 1)) for v in nodes]
        parts = tuple(Target(v, ids) for v, ids in zip(nodes, labels, strict=True))
        queries.append(GroundQuery(kind, f"{nodes}", f"{nodes}", parts, (), None))  # type: ignore[arg-type]
    return dataclasses.replace(model, queries=tuple(queries))


def smokers(n: int, scale: Fraction = Fraction(1)) -> GroundModel:
    """Friends and smokers over n people; people come first, then friends(x, y) row by row."""
    smoke, copy = scale * Fraction(14, 10), scale * Fraction(11, 10)
    factors: list[tuple[list[int], object]] = [([x], [0, smoke]) for x in range(n)]
    for x in range(n):
        for y in range(n):
            friends = n + x * n + y
            table = np.full((2, 2, 2), copy, dtype=object)
            table[1, 0, 1] = 0  # x smokes, y does not, and they are friends
            factors.append(([friends], [0, copy]) if x == y else ([x, y, friends], table))
    return make_model([2] * (n + n * n), factors)


@pytest.mark.parametrize("small", [64, 1], ids=["whole functions", "partial sums"])
def test_random_models_agree_with_enumeration(monkeypatch: pytest.MonkeyPatch, small: int) -> None:
    monkeypatch.setattr(split, "SMALL", small)
    rng = np.random.default_rng(small)
    for i in range(200):
        model = models.random_model(
            rng,
            variables=int(rng.integers(1, 8)),
            factors=int(rng.integers(0, 8)),
            derived=int(rng.integers(0, 4)),
            hard=0.2 * (i % 2),
        )
        n = model.graph.n_nodes
        model = ask(model, *(tuple(rng.integers(0, n, size=rng.integers(1, 4)).tolist()) for _ in range(5)))
        monkeypatch.setattr(elimination, "JOINT_OPERATIONS", 1e7 * (i % 3))
        done = solve(model)
        assert done.log_z == pytest.approx(models.log_z(model.graph), abs=1e-9)
        for query, answer in zip(model.queries, done.answers, strict=True):
            nodes = [target.node for target in query.targets]
            np.testing.assert_allclose(answer.p, models.marginal(model.graph, nodes), atol=1e-12)


def test_joint_query_that_no_clique_holds_gets_its_own_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elimination, "JOINT_OPERATIONS", 0)
    rng = np.random.default_rng(5)
    weights = [[Fraction(int(w), 10) for w in row] for row in rng.integers(-9, 9, size=(3, 3))]
    chain = make_model([3] * 9, [([i, i + 1], weights) for i in range(8)])
    model = ask(chain, (0, 4, 8), (8, 0), (3, 3), (2, -1))
    chosen = plan(model)
    assert len(chosen.apart) == 2
    for query, answer in zip(model.queries, solve(model, chosen).answers, strict=True):
        nodes = [target.node for target in query.targets if target.node >= 0]
        np.testing.assert_allclose(answer.p, models.marginal(model.graph, nodes), atol=1e-12)


def test_targets_of_different_components_are_independent() -> None:
    model = ask(make_model([2, 3, 2], [([0], [0, 1]), ([1], [0, 1, 2])]), (0, 1, 2))
    expected = np.einsum("a,b,c->abc", *(models.marginal(model.graph, [v]) for v in range(3))).ravel()
    np.testing.assert_allclose(solve(model).answers[0].p, expected, atol=1e-12)


def test_extreme_weights_neither_overflow_nor_underflow() -> None:
    big = 10_000
    tables = [[[big, -big, 0], [0, big, -big], [-big, 1, big]], [[-big] * 3, [big] * 3, [1, 2, 3]]]
    factors = [([i, i + 1], tables[i % 2]) for i in range(40)]
    factors += [([0], [-math.inf, -big, -3 * big]), ([40], [0, -math.inf, 0])]
    model = make_model([3] * 41, factors)
    done = solve(model)
    alpha = model.graph.table_values(40)
    for i in range(40):
        alpha = np.logaddexp.reduce(alpha[:, None] + np.array(tables[i % 2], dtype=float), axis=0)
    alpha = alpha + model.graph.table_values(41)
    assert done.log_z == pytest.approx(np.logaddexp.reduce(alpha), rel=1e-13)
    assert done.answers[0].p[0] == 0.0
    np.testing.assert_allclose(done.answers[40].p, np.exp(alpha - np.logaddexp.reduce(alpha)), atol=1e-9)
    for answer in done.answers:
        assert np.isfinite(answer.p).all() and answer.p.sum() == pytest.approx(1.0)


def test_probability_zero_names_the_rules() -> None:
    inf = math.inf
    model = make_model(
        [2, 2, 2], [([0, 1], [[0, -inf], [-inf, 0]]), ([0], [0, -inf]), ([1], [-inf, 0]), ([2], [0, 1])]
    )
    with pytest.raises(NoWorldError, match="no world"):
        solve(model)


@pytest.mark.parametrize("at_least", [1, 2, 500, 999])
def test_threshold_on_a_thousand_literals_is_binomial(at_least: int) -> None:
    """The output map distinguishes few sums, so the plan stays small; weights decide the tail."""
    n = 1000
    counter = ([(i, [0, 1]) for i in range(n)], [0] * at_least + [1] * (n - at_least + 1))
    model = ask(make_model([2] * n, [([n], [0, 2])], [counter]), (n,), (0,))
    chosen = plan(model)
    assert 2**chosen.table_bits <= 2 * n + 0.1
    log_total = n * math.log(2)
    tail = math.fsum(math.exp(_log_binomial(n, k) - log_total) for k in range(at_least, n + 1))
    p = tail * math.exp(2) / (1 - tail + tail * math.exp(2))
    done = solve(model, chosen)
    assert done.answers[0].p[1] == pytest.approx(p, rel=1e-9)
    assert done.answers[1].p.sum() == pytest.approx(1.0)


def _log_binomial(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def test_whole_distribution_of_a_count_of_a_thousand() -> None:
    n = 1000
    model = make_model(
        [2] * n, [([i], [0, 1]) for i in range(n)], [([(i, [0, 1]) for i in range(n)], range(n + 1))]
    )
    model = ask(model, (n,), kind="number")
    chosen = plan(model)
    assert chosen.operations < 1e8
    answer = solve(model, chosen).answers[0]
    p = 1 / (1 + math.exp(-1))
    assert answer.mean == pytest.approx(n * p, rel=1e-12)
    assert answer.sd == pytest.approx(math.sqrt(n * p * (1 - p)), rel=1e-9)


def test_a_count_along_a_ring_widens_it_by_the_sums_that_meet() -> None:
    n = 60
    factors = [([min(i, (i + 1) % n), max(i, (i + 1) % n)], [[1, 0], [0, 1]]) for i in range(n)]
    model = make_model([2] * n, factors, [([(i, [0, 1]) for i in range(n)], range(n + 1))])
    chosen = plan(ask(model, (n,)))
    assert 2**chosen.table_bits <= 2**4 * (n / 2 + 1) ** 2 + 0.1
    p = solve(chosen.model, chosen).answers[0].p
    transfer = np.array([[math.e, 1.0], [1.0, math.e]])
    polynomial = np.zeros((2, 2, n + 1))
    polynomial[0, 0, 0] = polynomial[1, 1, 0] = 1.0
    for _ in range(n):
        step = np.einsum("abk,bc->ack", polynomial, transfer)
        polynomial = np.stack([step[:, 0], np.roll(step[:, 1], 1, axis=1)], axis=1)
    counts = polynomial[0, 0] + polynomial[1, 1]
    np.testing.assert_allclose(p, counts / counts.sum(), atol=1e-12)


def test_chain_of_wide_variables_takes_linear_memory() -> None:
    chain = make_model([5] * 20, [([i, i + 1], np.eye(5, dtype=int).tolist()) for i in range(19)])
    chosen = plan(chain)
    assert 2**chosen.table_bits == pytest.approx(25)
    assert 2**chosen.entry_bits <= 20 * 5 + 25.1
    np.testing.assert_allclose(solve(chain, chosen).answers[7].p, np.full(5, 0.2), atol=1e-12)


def test_a_wide_model_is_refused_with_its_size() -> None:
    n = 40
    clique = make_model([2] * n, [([i, j], [[0, 1], [1, 0]]) for i in range(n) for j in range(i + 1, n)])
    chosen = plan(clique)
    assert chosen.table_bits == n
    assert not chosen.fits()
    assert plan(make_model([2], [([0], [0, 1])])).fits(ExactBudget(entries=8, operations=1000))


@pytest.mark.parametrize(("n", "p"), [(2, 0.837962), (3, 0.874677), (5, 0.937859), (10, 0.993113)])
def test_smokers_have_their_closed_values(n: int, p: float) -> None:
    assert solve(smokers(n)).answers[0].p[1] == pytest.approx(p, abs=5e-7)


def test_twenty_smokers_agree_with_the_sum_over_counts() -> None:
    n, scale = 20, Fraction(1, 20)
    smoke, copy = float(scale * Fraction(14, 10)), float(scale * Fraction(11, 10))
    both = math.log(2 * math.exp(copy)) * 2
    mixed = math.log(math.exp(copy) + 1) + math.log(2 * math.exp(copy))
    logs = np.array(
        [
            _log_binomial(n, k) + k * smoke + k * (n - k) * mixed
            + (k * (k - 1) + (n - k) * (n - k - 1)) / 2 * both
            for k in range(n + 1)
        ]
    )  # fmt: skip
    p = np.exp(logs - np.logaddexp.reduce(logs))
    assert solve(smokers(n, scale)).answers[0].p[1] == pytest.approx(p @ np.arange(n + 1) / n, abs=1e-11)


def assert_as_published(path: Path) -> None:
    expected = json.loads(path.read_text())["exact_marginals"]
    for answer, p in zip(solve(read_model(path)).answers, expected, strict=True):
        np.testing.assert_allclose(answer.p, p, atol=1e-9)


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_small_models_have_their_exact_marginals(path: Path) -> None:
    assert_as_published(path)


@pytest.mark.skipif(not PAPER.exists(), reason="needs ../shared/paper")
@pytest.mark.parametrize("name", ["ring_test4_size500", "ring_size1000", "sc_10_5"])
def test_published_models_have_their_exact_marginals(name: str) -> None:
    assert_as_published(PAPER / f"{name}.json")


def test_a_count_over_a_grid_follows_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(n: int) -> GroundModel:
        edges = [([v, v + 1], [[1, 0], [0, 1]]) for v in range(n * n) if (v + 1) % n]
        edges += [([v, v + n], [[1, 0], [0, 1]]) for v in range(n * n - n)]
        model = make_model([2] * n * n, edges, [([(v, [0, 1]) for v in range(n * n)], range(n * n + 1))])
        return ask(model, (n * n,))

    chosen = plan(counted(12))
    assert chosen.fits() and 2**chosen.table_bits < 2e6
    small = counted(4)
    exact = models.marginal(small.graph, [16])
    for least in (0.0, 1e9):  # both ways to split, the rows' and the tree's
        monkeypatch.setattr(elimination, "SPLIT_OPERATIONS", least)
        np.testing.assert_allclose(solve(small).answers[0].p, exact, atol=1e-12)


def grid(rows: int, columns: int) -> GroundModel:
    """An Ising grid without a name for each node."""
    node = np.arange(rows * columns).reshape(rows, columns)
    pairs = [(node[:, :-1], node[:, 1:]), (node[:-1], node[1:])]
    scope = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])
    model = make_model([2] * node.size, [([0, 1], [[1, 0], [0, 1]])])
    return dataclasses.replace(
        model,
        graph=model.graph._replace(
            scope_start=2 * np.arange(len(scope) + 1),
            scope=scope.ravel().astype(np.int32),
            table_of=np.zeros(len(scope), dtype=np.int32),
            rule_of=np.zeros(len(scope), dtype=np.int32),
        ),
        queries=model.queries[:1],
    )


@pytest.mark.parametrize(("rows", "columns", "fits"), [(6, 4000, True), (150, 150, False), (21, 1000, False)])
def test_the_search_for_an_order_of_a_large_network_is_short(
    monkeypatch: pytest.MonkeyPatch, rows: int, columns: int, fits: bool
) -> None:
    """Counting fill takes seconds in a network of 10⁵ nodes, so it must promise something."""
    tried: list[bool] = []
    eliminated = order._eliminated

    def watched(graph: Any, forced: Any, by_fill: bool, *others: Any) -> Any:
        tried.append(by_fill)
        return eliminated(graph, forced, by_fill, *others)

    monkeypatch.setattr(order, "_eliminated", watched)
    chosen = plan(grid(rows, columns))
    assert chosen.fits() is fits
    assert len(tried) <= 1 + max(3, 200_000 // (rows * columns))
    assert fits or chosen.complete or tried == [False]
