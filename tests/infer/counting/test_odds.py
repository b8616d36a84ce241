"""Blocks that are interchangeable up to weights of their own, against elimination and enumeration."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import plx
from plx.errors import NoWorldError
from plx.infer.counting.compositions import compositions
from plx.infer.counting.marginals import CountPlan, count, count_plan, count_plans
from plx.infer.counting.odds import Odds
from plx.infer.exact.elimination import solve
from plx.infer.infer import infer
from tests.infer.counting.test_marginals import Factor, Society, ask
from tests.models import make_model

PAPER = Path(__file__).parents[4] / "shared" / "paper" / "block-value"


class Individuals(Society):
    """A society in which each person has weights of their own, and 2 to 4 joint states."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.cells = self.cells[:1] if math.prod(self.cells) > 4 else self.cells
        self.cards = [c for _ in range(self.n) for c in self.cells]

    def people(self) -> None:
        super().people()
        for x in range(self.n):
            self.factors += [([self.cell(x, c)], self.table(card)) for c, card in enumerate(self.cells)]


@pytest.mark.parametrize("seed", range(16))
def test_individuals_agree_with_elimination(seed: int) -> None:
    model = Individuals(seed).model()
    *_, last = count_plans(model)
    plan = own_plan(last)
    try:
        eliminated = solve(model)
    except NoWorldError:
        with pytest.raises(NoWorldError):
            count(plan)
        return
    counted = count(plan)
    assert counted.log_z == pytest.approx(eliminated.log_z, abs=1e-9)
    for a, b in zip(counted.answers[1:], eliminated.answers[1:], strict=True):
        np.testing.assert_allclose(a.p, b.p, atol=1e-11)


def own_plan(plan: CountPlan | None) -> CountPlan:
    assert plan is not None and plan.fits()
    assert any(own is not None for own in plan.core.own)
    return plan


@pytest.mark.parametrize(("n", "b"), [(1, 2), (4, 2), (5, 3), (3, 4)])
def test_the_ways_to_have_counts(n: int, b: int) -> None:
    own = np.random.default_rng(n * b).normal(size=(n, b))
    own[0, 0] = -np.inf
    odds, rows = Odds(own), compositions(n, b)
    worlds = np.array([*itertools.product(range(b), repeat=n)])
    weight = np.exp(own[np.arange(n), worlds].sum(axis=1))
    counts = np.stack([(worlds == s).sum(axis=1) for s in range(b)], axis=1)
    mine = (counts[:, None, :] == rows[None, :, :]).all(axis=2)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(odds.logs(rows), np.log(weight @ mine), atol=1e-12)
    for blocks in itertools.permutations(range(n), min(n, 2)):
        seen = odds.seen(rows, blocks)
        for states in itertools.product(range(b), repeat=len(blocks)):
            there = (worlds[:, blocks] == states).all(axis=1)
            share = (weight * there) @ mine / np.maximum(weight @ mine, 1e-300)
            np.testing.assert_allclose(seen[(slice(None), *states)], share, atol=1e-12)


def test_voters_with_leanings_of_their_own() -> None:
    """60 voters, all pairs of whom agree a little: by hand over an elementary symmetric polynomial."""
    n, agree = 60, Fraction(1, 20)
    lean = [Fraction(k * k % 17 - 8, 8) for k in range(n)]
    factors: list[Factor] = [([v], [0, lean[v]]) for v in range(n)]
    pairs: list[Factor] = [([a, b], [[agree, 0], [0, agree]]) for a, b in itertools.combinations(range(n), 2)]
    model = ask(make_model([2] * n, [*factors, *pairs]), [(5,)])
    plan = own_plan(count_plan(model))
    assert plan.vectors == n + 1 and "interchangeable up to weights of their own" in plan.reason

    def log_z(leans: list[Fraction], known: int) -> float:
        symmetric = [1.0]
        for one in leans:
            odds = math.exp(one)
            symmetric = [a + b * odds for a, b in zip([*symmetric, 0.0], [0.0, *symmetric], strict=True)]
        ups = [k + known for k in range(len(symmetric))]
        agreeing = [(k * (k - 1) + (n - k) * (n - k - 1)) / 2 for k in ups]
        return math.log(
            math.fsum(e * math.exp(float(agree) * a) for e, a in zip(symmetric, agreeing, strict=True))
        )

    done = count(plan)
    assert done.log_z == pytest.approx(log_z(lean, 0), abs=1e-9)
    others = lean[:5] + lean[6:]
    assert done.answers[1].p[1] == pytest.approx(math.exp(float(lean[5]) + log_z(others, 1) - done.log_z))


@pytest.mark.skipif(not PAPER.exists(), reason="needs ../shared/paper/block-value")
@pytest.mark.parametrize(
    ("name", "log_z"), [("job_search_30.json", 796.450291), ("job_search_50.graph.txt", 2123.923215)]
)
def test_job_search(name: str, log_z: float, tmp_path: Path) -> None:
    """Published instances whose people differ in weights of their own alone."""
    path = PAPER / name
    if path.suffix != ".json":
        path = tmp_path / "model.json"
        path.write_text(as_json(PAPER / name))
    known = json.loads((PAPER / f"{name.split('.')[0]}.exact.json").read_text())["marginals_first_2n"]
    ground = plx.load(path).ground
    found = infer(dataclasses.replace(ground, queries=ground.queries[: len(known)]), "exact")
    assert found.log_z == pytest.approx(log_z, abs=1e-6)
    np.testing.assert_allclose([answer.p for answer in found.answers], known, atol=1e-9)


def as_json(path: Path) -> str:
    """Lines of a weight, a tab and a disjunction ``var state,var state``, as the other instances have it."""
    lines = path.read_text().splitlines()
    count = len(lines[0].removeprefix("Vars:").split(","))
    features = []
    for line in lines:
        if "\t" in line:
            weight, clause = line.split("\t")
            literals = [[*map(int, literal.split()), 1] for literal in clause.split(",")]
            features.append({"weight": float(weight), "clause": literals})
    variables = [{"name": f"v{i}", "domain_size": 2} for i in range(count)]
    return json.dumps({"name": path.stem, "variables": variables, "features": features})
