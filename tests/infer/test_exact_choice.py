"""The choice among exact ways, and the refusal where none fits."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from plx import deadline
from plx.api import compile as compile_model
from plx.errors import NoWorldError, PlxError
from plx.formats.reader import read_model
from plx.graph.model import GroundModel, GroundQuery
from plx.infer.exact_choice import WAYS, ExactWays, exact_way
from plx.infer.exact_plan import Refusal
from plx.infer.infer import infer
from plx.infer.inference import Answer, Inference
from plx.infer.options import Options
from plx.infer.problem import Problem
from tests.infer.estimating import with_joint_queries
from tests.infer.exact.test_partition_plan import partition_model
from tests.models import log_z, make_model, marginal, random_model

PAPER = Path(__file__).parents[3] / "shared" / "paper"

SMOKERS = """
    type Person = p1..p{n}
    random smokes(Person)
    random friends(Person, Person)
    weight 1.4 / {n}: smokes(x) for x in Person
    weight 1.1 / {n}: friends(x, y) & smokes(x) => smokes(y) for x, y in Person
    query smokes(p1)
    query (smokes(p1), friends(p2, p1))
    query count(smokes(x) for x in Person)
"""


@pytest.mark.skipif(not PAPER.exists(), reason="needs ../shared/paper")
def test_the_published_curriculum_is_exact_once_its_values_are_merged() -> None:
    path = PAPER / "sc_20_10.json"
    way = exact_way(Problem(read_model(path)))
    assert way is not None and "merged" in way.reason and way.operations < 1e7
    expected = json.loads(path.read_text())["exact_marginals"]
    for answer, p in zip(way.run().answers, expected, strict=True):
        np.testing.assert_allclose(answer.p, p, atol=1e-9)


def test_wide_domains_are_exact_once_their_values_are_merged() -> None:
    """Seven tied unknowns of nine states, of which eight are alike: 128 sums of worlds in place of 9⁷."""
    n, alike = 7, 8
    ties = np.random.default_rng(3).integers(-3, 4, size=(n, n))
    factors = [
        ([i, j], [[int(ties[i, j]) * (a == b == 0) for a in range(alike + 1)] for b in range(alike + 1)])
        for j in range(n) for i in range(j)
    ]  # fmt: skip
    way = exact_way(Problem(make_model([alike + 1] * n, factors)))
    assert way is not None and "merged" in way.reason and way.operations < 1e6
    at_zero = np.array(list(itertools.product([True, False], repeat=n)))
    logs = np.einsum("wi,wj,ij->w", at_zero, at_zero, np.triu(ties, 1)) + np.log(alike) * (~at_zero).sum(
        axis=1
    )
    p = np.exp(logs - np.logaddexp.reduce(logs))
    for answer, zero in zip(way.run().answers, p @ at_zero, strict=True):
        np.testing.assert_allclose(answer.p, [zero, *[(1 - zero) / alike] * alike], atol=1e-12)


def test_wide_models_of_alike_people_are_counted() -> None:
    few, many = (exact_way(Problem(compile_model(SMOKERS.format(n=n)).ground)) for n in (12, 60))
    assert few is not None and "eliminated" in few.reason
    assert many is not None and "interchangeable blocks are summed over 61 count vectors" in many.reason
    answers = many.run().answers
    assert answers[0].p[1] == pytest.approx(answers[2].mean / 60, abs=1e-12)
    assert answers[1].p.reshape(2, 2).sum(axis=1)[1] == pytest.approx(answers[0].p[1], abs=1e-12)


def varied() -> Iterator[GroundModel]:
    """Random models, relations that are partitions, models of interchangeable people, and models of wide
    domains whose values are alike."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        yield with_joint_queries(
            random_model(rng, variables=5, factors=6, derived=2, max_card=4, hard=0.2), rng, 4
        )
    for seed in range(6):
        yield partition_model(seed)
    for n in (2, 3):
        yield compile_model(SMOKERS.format(n=n)).ground
    for card in (4, 6):
        table = np.zeros((card, card), dtype=int)
        table[0, 0], table[0, 1] = 2, -1
        yield make_model([card, card, 2], [([0, 1], table), ([1, 2], table[:, :2])])


def agree_with_enumeration(name: str) -> None:
    found = [(model, WAYS[name](Problem(model))) for model in varied()]
    fitting = [(model, plan) for model, plan in found if not isinstance(plan, Refusal | None)]
    assert fitting, "it fits none of the models"
    for model, plan in fitting:
        done = plan.run()
        assert (plan.operations is None or plan.operations > 0) and 0 < plan.memory < math.inf
        assert plan.reason and done.reason
        assert done.log_z == pytest.approx(log_z(model.graph) + model.log_constant, abs=1e-9)
        for query, answer in zip(model.queries, done.answers, strict=True):
            nodes = [target.node for target in query.targets]
            np.testing.assert_allclose(answer.p, marginal(model.graph, nodes), atol=1e-9)


def impossible_is_said(name: str) -> None:
    """No world: the rules on the first two unknowns clash, whatever the others do."""
    table = [[0, -math.inf], [-math.inf, 0]]
    model = make_model([2, 2, 2], [([0, 1], table), ([0], [0, -math.inf]), ([1], [-math.inf, 0])])
    plan = WAYS[name](Problem(model))
    if not isinstance(plan, Refusal | None):
        with pytest.raises(NoWorldError):
            plan.run()


@pytest.mark.parametrize("name", WAYS)
def test_every_way_agrees_with_enumeration(name: str) -> None:
    agree_with_enumeration(name)


@pytest.mark.parametrize("name", WAYS)
def test_every_way_says_that_no_world_is_possible(name: str) -> None:
    impossible_is_said(name)


def test_a_refusal_names_the_size_and_the_rules_that_couple_most() -> None:
    ways = ExactWays(Problem(coupled()))
    assert ways.cheapest() is None
    text = str(ways.refusal("about 10^14"))
    assert "about 10^14 worlds" in text and "a table of at least 10^13 entries, whatever the order" in text
    assert "couples most: `factor …`" in text


QUEENS = """
    type Line = 1..8
    random row(Line): Line
    require alldifferent(row(c) for c in Line)
    require alldifferent(row(c) + c for c in Line)
    require alldifferent(row(c) - c for c in Line)
    query row(1) = 1
"""


def test_few_worlds_are_looked_for_before_a_good_order_where_a_first_one_is_wide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(WAYS, "elimination", lambda _: pytest.fail("an order is searched for"))
    way = exact_way(Problem(compile_model(QUEENS).ground))
    assert way is not None and "92 worlds keep every hard rule" in way.reason
    chain = make_model([2] * 30, [([i, i + 1], [[1, 0], [0, -math.inf]]) for i in range(29)])
    with pytest.raises(pytest.fail.Exception, match="an order"):
        exact_way(Problem(chain))


def test_most_probable_worlds_alone_need_no_sums() -> None:
    rng = np.random.default_rng(1)
    n = 45
    table = [[[int(w), 0], [0, 1]] for w in rng.integers(1, 9, size=n * n)]
    factors = [([i, j], table[i * n + j]) for i in range(n) for j in range(i + 1, n)]
    query = GroundQuery("map", "map", "map", (), (), None)
    model = replace(make_model([2] * n, factors), queries=(query,))
    way = exact_way(Problem(model))
    assert way is not None and way.run().log_z is None
    (answer,) = infer(model, "exact").answers
    assert answer.worlds[0].log_weight > 0


def coupled(n: int = 45) -> GroundModel:
    """Unknowns that all meet one another: no order to eliminate them in is narrow."""
    table = [[[int(w), 0], [0, 1]] for w in np.random.default_rng(0).integers(1, 9, size=n * n)]
    return make_model([2] * n, [([i, j], table[i * n + j]) for i in range(n) for j in range(i + 1, n)])


@dataclass
class Told:
    """A plan that says what it is told to say; it looks at a clock, and answers nothing."""

    operations: float | None
    memory: float = 8.0
    reason: str = "told so"
    work: Callable[[], None] = lambda: None

    def run(self) -> Inference:
        self.work()
        deadline.check()
        return Inference("exact", self.reason, (Answer(p=np.ones(1)),) * 45, log_z=0.0)


def test_the_cheapest_plan_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WAYS, "dear", lambda problem: Told(2e9, reason="dear"))
    monkeypatch.setitem(WAYS, "cheap", lambda problem: Told(1e9, reason="cheap"))
    monkeypatch.setitem(WAYS, "untold", lambda problem: Told(None, reason="untold"))
    way = exact_way(Problem(coupled()))
    assert way is not None and way.reason == "cheap"


def test_a_plan_of_unknown_cost_is_tried_where_no_other_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WAYS, "untold", lambda problem: Told(None))
    assert exact_way(Problem(coupled())) is None
    for method in ("auto", "exact"):
        assert infer(coupled(), method).reason == "told so"


def test_a_plan_of_unknown_cost_has_a_slice_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up when its slice is over, and the next is tried; what is left is for sampling."""
    monkeypatch.setattr(deadline, "now", lambda: passed)
    passed = 0.0

    def work() -> None:
        nonlocal passed
        passed += 3.0

    monkeypatch.setitem(WAYS, "slow", lambda problem: Told(None, reason="slow", work=work))
    options = Options(seconds=10.0, samples=1000)
    assert "out of reach" in infer(coupled(), "auto", options).reason
    monkeypatch.setitem(WAYS, "quick", lambda problem: Told(None, reason="quick"))
    assert infer(coupled(), "auto", options).reason == "quick"
    monkeypatch.delitem(WAYS, "quick")
    with pytest.raises(PlxError, match="out of reach"):
        infer(coupled(), "exact", replace(options, seconds=3.2))


def test_a_plan_that_surely_takes_longer_than_there_is_time_is_refused_with_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(WAYS, "long", lambda problem: Told(8e11, reason="a long way"))
    with pytest.raises(PlxError, match=r"a long way: about 10.12 operations take more than \d+ s"):
        infer(coupled(), "exact", Options(seconds=60.0))
    assert infer(coupled(), "exact", Options(seconds=None)).reason == "a long way"
    monkeypatch.setitem(WAYS, "untold", lambda problem: Told(None, reason="untold"))
    assert infer(coupled(), "exact", Options(seconds=60.0)).reason == "untold"


def test_a_plan_past_the_memory_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WAYS, "large", lambda problem: Told(1.0, memory=1e12))
    ways = ExactWays(Problem(coupled()))
    assert ways.cheapest() is None
    assert "large needs 1,000,000,000,000 bytes of memory" in str(ways.refusal("many"))


def test_a_refusal_tells_of_every_way() -> None:
    """Two families of 4 states and 300 members: too many count vectors, and too wide to eliminate."""
    model = compile_model("""
        type T = t1..t300
        random f(T): 1..4
        weight 0.001: f(x) = f(y) for x, y in T if x != y
        query f(t1)
    """).ground
    ways = ExactWays(Problem(model))
    assert ways.cheapest() is None
    text = str(ways.refusal("about 10^180"))
    assert "elimination needs a table of at least" in text
    assert "counting needs 4,590,551 count vectors (at most 4,194,304 are summed)" in text
    assert "enumeration visits at most 4,194,304 worlds" in text
