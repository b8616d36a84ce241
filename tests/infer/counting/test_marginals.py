"""Sums over counts against elimination and closed forms."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from plx.errors import NoWorldError
from plx.graph.model import GroundModel, GroundQuery, Target
from plx.infer.counting.compositions import compositions, falling, log2_how_many, log_multinomial
from plx.infer.counting.marginals import count, count_plan
from plx.infer.counting.sum_out import sum_out
from plx.infer.exact.elimination import solve
from tests.models import make_model

Factor = tuple[list[int], object]


def ask(model: GroundModel, targets: list[tuple[int, ...]]) -> GroundModel:
    queries = [GroundQuery("logz", "logz", "logz", (), (), None)]
    for nodes in targets:
        parts = tuple(Target(v, model.values.ids(range(model.graph.card[v]))) for v in nodes)
        queries.append(GroundQuery("joint", f"{nodes}", f"{nodes}", parts, (), None))
    return dataclasses.replace(model, queries=tuple(queries))


def assert_counts_agree(model: GroundModel, largest: float = 2.0**22) -> None:
    plan = count_plan(model)
    assert plan is not None and plan.fits(largest)
    counted, eliminated = count(plan), solve(model)
    assert counted.log_z == pytest.approx(eliminated.log_z, abs=1e-9)
    for a, b in zip(counted.answers[1:], eliminated.answers[1:], strict=True):
        np.testing.assert_allclose(a.p, b.p, atol=1e-11)


class Society:
    """Random models over n people: cells of each person, private unknowns, pairs, counters, classes."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.n = int(rng.integers(3, 6))
        self.cells = [int(c) for c in rng.integers(2, 4, size=rng.integers(1, 3))]
        self.cards: list[int] = [c for _ in range(self.n) for c in self.cells]
        self.factors: list[Factor] = []
        self.hard = float(rng.choice([0.0, 0.1]))

    def table(self, *shape: int) -> np.ndarray:
        out = np.array(
            [Fraction(int(w), 4) for w in self.rng.integers(-4, 5, size=math.prod(shape))], dtype=object
        )
        out[self.rng.random(len(out)) < self.hard] = -math.inf
        out[-1] = Fraction(1, 2)
        return out.reshape(shape)

    def cell(self, person: int, cell: int) -> int:
        return person * len(self.cells) + cell

    def new(self, card: int) -> int:
        self.cards.append(card)
        return len(self.cards) - 1

    def people(self) -> None:
        for c, card in enumerate(self.cells):
            tables = [self.table(card) for _ in range(int(self.rng.integers(1, 3)))]
            self.factors += [([self.cell(x, c)], tables[x % len(tables)]) for x in range(self.n)]
        if len(self.cells) == 2 and self.rng.random() < 0.7:
            inner = self.table(*self.cells)
            self.factors += [([self.cell(x, 0), self.cell(x, 1)], inner) for x in range(self.n)]
        if self.rng.random() < 0.5:
            private = self.table(self.cells[0], 3)
            self.factors += [([self.cell(x, 0), self.new(3)], private) for x in range(self.n)]

    def pairs(self) -> None:
        a, b = (int(c) for c in self.rng.integers(0, len(self.cells), size=2))
        with_friends = self.rng.random() < 0.5
        table = self.table(self.cells[a], self.cells[b], *([2] * with_friends))
        own = self.table(2)
        for x in range(self.n):
            for y in range(self.n):
                if x != y:
                    friend = [self.new(2)] if with_friends else []
                    self.factors.append(([self.cell(x, a), self.cell(y, b), *friend], table))
                    if friend:
                        self.factors.append((friend, own))

    def counters(self) -> tuple[list, list[Factor]]:
        first = len(self.cards)
        top = self.n * (self.cells[0] - 1)
        whole = ([(self.cell(x, 0), list(range(self.cells[0]))) for x in range(self.n)], list(range(top + 1)))
        some = (
            [(self.cell(x, 0), [0] + [1] * (self.cells[0] - 1)) for x in range(self.n)],
            [0] + [1] * self.n,
        )
        mixed = ([(first, [int(k > 1) for k in range(top + 1)]), (first + 1, [0, 1])], [0, 1, 0])
        derived = [whole, some, mixed]
        coupled = self.table(self.cells[0], 2)
        factors: list[Factor] = [([first], self.table(top + 1)), ([first + 1, first + 2], self.table(2, 2))]
        factors += [([self.cell(x, 0), first + 2], coupled) for x in range(self.n)]
        return derived, factors

    def model(self) -> GroundModel:
        self.people()
        for _ in range(int(self.rng.integers(1, 3))):
            self.pairs()
        derived, more = self.counters() if self.rng.random() < 0.5 else ([], [])
        model = make_model(self.cards, self.factors + more, derived)
        nodes = model.graph.n_nodes
        targets = [tuple(self.rng.permutation(nodes)[: self.rng.integers(1, 4)].tolist()) for _ in range(6)]
        return ask(model, [(int(v),) for v in range(nodes)] + targets)


@pytest.mark.parametrize("seed", range(60))
def test_societies_agree_with_elimination(seed: int) -> None:
    model = Society(seed).model()
    try:
        solve(model)
    except NoWorldError:
        plan = count_plan(model)
        assert plan is not None
        with pytest.raises(NoWorldError):
            count(plan)
        return
    assert_counts_agree(model)


def test_count_vectors() -> None:
    rows = compositions(5, 3)
    assert len(rows) == 21 == len({tuple(row) for row in rows.tolist()})
    assert (rows.sum(axis=1) == 5).all() and (rows >= 0).all()
    assert np.exp(log_multinomial(rows)).sum() == pytest.approx(3**5)
    for k in (0, 1, 2, 3):
        np.testing.assert_allclose(falling(rows, k).reshape(len(rows), -1).sum(axis=1), 1.0)
    # Two blocks of five, three of which are in state 0 and two in state 1.
    row = rows.tolist().index([3, 2, 0])
    np.testing.assert_allclose(falling(rows, 2)[row], np.array([[6, 6, 0], [6, 2, 0], [0, 0, 0]]) / 20)


@pytest.mark.parametrize(("n", "b"), [(5, 3), (1, 7), (1000, 2), (30, 1 << 20), (7, 1), (0, 9)])
def test_the_number_of_count_vectors_in_bits(n: int, b: int) -> None:
    assert log2_how_many(n, math.log2(b)) == pytest.approx(math.log2(math.comb(n + b - 1, b - 1)), abs=1e-9)


def test_the_number_of_count_vectors_of_blocks_past_all_doubles() -> None:
    n, bits = 40, 3000
    exact = math.comb(n + 2**bits - 1, n)
    assert log2_how_many(n, bits) == pytest.approx(math.log2(exact), rel=1e-12)


def test_asymmetric_pairs_are_not_counted() -> None:
    """Rock beats scissors: a table that depends on the order of the pair cannot be counted."""
    table = [[0, 1], [-1, 0]]
    model = make_model([2] * 5, [([i, j], table) for i in range(5) for j in range(i + 1, 5)])
    plan = count_plan(ask(model, []))
    assert plan is None or all(len(family.members) == 1 for family in plan.core.families)
    ring = make_model([2] * 6, [(sorted([i, (i + 1) % 6]), [[1, 0], [0, 1]]) for i in range(6)])
    plan = count_plan(ask(ring, []))
    assert plan is None or all(len(family.members) == 1 for family in plan.core.families)


def test_peeling_keeps_the_distribution() -> None:
    """A chain of four is summed out to a constant, which is log Z."""
    model = make_model([2] * 4, [([i, i + 1], [[1, 0], [0, 2]]) for i in range(3)])
    peeled = sum_out(model.graph, np.zeros(4, dtype=bool))
    assert not peeled.left.any()
    assert peeled.log_constant == pytest.approx(solve(model).log_z)


def test_a_thousand_people() -> None:
    """Complete graph of 1000 with a table for every pair: the Curie-Weiss model, summed by hand."""
    n = 1000
    pair, own = Fraction(1, n), Fraction(1, 5)
    left, right = np.triu_indices(n, 1)
    factors: list[Factor] = [([v], [0, own]) for v in range(n)]
    model = make_model([2] * n, [*factors, ([0, 1], [[pair, 0], [0, pair]])])
    graph = model.graph
    table = int(graph.table_of[-1])
    graph = graph._replace(
        scope_start=np.concatenate([graph.scope_start[: n + 1], n + 2 * np.arange(1, len(left) + 1)]),
        scope=np.concatenate([graph.scope[:n], np.stack([left, right], axis=1).ravel()]).astype(np.int32),
        table_of=np.concatenate([graph.table_of[:n], np.full(len(left), table)]).astype(np.int32),
        rule_of=np.zeros(n + len(left), dtype=np.int32),
    )
    model = ask(dataclasses.replace(model, graph=graph), [(17,), (3, 998)])
    plan = count_plan(model)
    assert plan is not None and plan.vectors == n + 1
    k = np.arange(n + 1)
    logs = np.array([math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in k])
    logs += k * float(own) + (k * (k - 1) + (n - k) * (n - k - 1)) / 2 * float(pair)
    p = np.exp(logs - np.logaddexp.reduce(logs))
    done = count(plan)
    assert done.log_z == pytest.approx(np.logaddexp.reduce(logs), rel=1e-12)
    assert done.answers[1].p[1] == pytest.approx(p @ k / n, abs=1e-10)
    assert done.answers[2].p[3] == pytest.approx(p @ (k * (k - 1)) / (n * (n - 1)), abs=1e-10)
