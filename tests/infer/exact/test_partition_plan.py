"""Relations that are partitions of up to some twenty elements are answered exactly, against enumeration."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import plx
from plx.errors import NoWorldError
from plx.graph.model import GroundModel, GroundQuery
from plx.infer.circuit.plan import circuit_plan
from plx.infer.exact.partition_plan import PartitionPlan, partition_plan
from plx.infer.exact_choice import ExactWays
from plx.infer.exact_plan import Refusal
from plx.infer.outlook import outlook
from plx.infer.prepared import Prepared
from plx.infer.problem import Problem
from tests.ground.programs import grounded
from tests.infer.estimating import with_joint_queries
from tests.models import all_states, log_weights, make_model, marginal

RECORDS = """
type Record = 1..{n}
random same(Record, Record)
require same(x, x)                            for x in Record
require same(x, y) <=> same(y, x)             for x, y in Record if x < y
require same(x, y) & same(y, z) => same(x, z) for x, y, z in Record
weight ((x * y * 3 + x) % 5 - 2) / 2: same(x, y) for x, y in Record if x < y
"""
PROGRAMS = {
    "plain": RECORDS + "query same(2, 1)\nquery same(3, 3)\nquery logz",
    "several pairs": RECORDS
    + "query (same(1, 2), same(3, 4), same(1, 1))\nquery same(1, 2) & same(2, 3)\n"
    + "query count(same(1, x) for x in Record)",
    "known pairs": RECORDS + "observe !same(1, 2)\nobserve same(3, 4)\nquery same(1, 4)\nquery same(2, 3)",
    "ruled pairs": RECORDS + "require !same(1, 2)\nrequire same(3, 4)\nquery same(1, 4)\nquery logz",
    "given": RECORDS + "query same(1, 4) given same(4, 2), !same(1, 3)",
    "others": RECORDS
    + "random a(Record)\nweight 1 / 2: a(x) <=> a(y) for x, y in Record if x < y\n"
    + "weight 1: a(1)\nquery a(2)\nquery (a(1), same(2, 1), a(3))\nquery logz",
}


def partition_model(seed: int, sets: int = 1) -> GroundModel:
    """Relations on four elements with random weights; one pair of the first is kept apart in some."""
    rng = np.random.default_rng(seed)
    choices = (0, 1, Fraction(-1, 2), 2, Fraction(1, 3), Fraction(-3, 2))
    rule = np.where(np.indices((2, 2, 2)).sum(axis=0) == 2, -np.inf, 0)
    factors: list[tuple[list[int], object]] = []
    for k in range(sets):
        edge = {pair: 6 * k + i for i, pair in enumerate(itertools.combinations(range(4), 2))}
        factors += [([v], [0, choices[rng.integers(6)]]) for v in edge.values()]
        factors += [([0], [0, -np.inf])] if seed % 3 == 2 and not k else []
        factors += [
            ([edge[a, b], edge[a, c], edge[b, c]], rule) for a, b, c in itertools.combinations(range(4), 3)
        ]
    return with_joint_queries(make_model([2] * 6 * sets, factors), rng, 3)


def plan_of(text: str) -> PartitionPlan:
    found = partition_plan(Problem(grounded(text)))
    assert isinstance(found, PartitionPlan)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_those_of_another_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PROGRAMS[name].format(n=5)
    monkeypatch.setattr(ExactWays, "cheapest", lambda ways: partition_plan(ways.problem))
    found = plx.run(text, method="exact")
    monkeypatch.setattr(ExactWays, "cheapest", lambda ways: circuit_plan(ways.problem))
    expected = plx.run(text, method="exact")
    assert "subset by subset" in found.reason and "circuit" in expected.reason
    assert found.log_z == pytest.approx(expected.log_z, abs=1e-10)
    for one, other in zip(found, expected, strict=True):
        assert one.name == other.name
        np.testing.assert_allclose(
            list(one.distribution.values()), list(other.distribution.values()), atol=1e-10
        )


@pytest.mark.parametrize("seed", range(4))
def test_relations_are_independent(seed: int) -> None:
    model = partition_model(seed, sets=2)
    plan = partition_plan(Problem(model))
    assert isinstance(plan, PartitionPlan) and len(plan.pairs.relations) == 2
    for query, answer in zip(model.queries, plan.run().answers, strict=True):
        nodes = [target.node for target in query.targets]
        np.testing.assert_allclose(answer.p, marginal(model.graph, nodes), atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_worlds_are_those_of_enumeration(seed: int) -> None:
    model = replace(
        partition_model(seed, sets=2), queries=(GroundQuery("map", "map", "map", (), (), None, best=5),)
    )
    plan = partition_plan(Problem(model))
    assert isinstance(plan, PartitionPlan)
    worlds = plan.run().answers[0].worlds
    logs = np.sort(log_weights(model.graph, all_states(model.graph)))[::-1]
    np.testing.assert_allclose([world.log_weight for world in worlds], logs[:5], atol=1e-12)
    assert all(world.optimal for world in worlds)
    states = np.array([world.states for world in worlds])
    np.testing.assert_allclose(log_weights(model.graph, states), logs[:5], atol=1e-12)
    assert len(np.unique(states, axis=0)) == 5


def test_a_model_with_a_constant_weight() -> None:
    """What hard rules decide moves weights into the constant of the model that computes them."""
    text = RECORDS.format(n=5) + "require same(1, 3)\nquery map\nquery logz"
    ways = Problem(grounded(text))
    plan, circuit = plan_of(text), ExactWays(ways)
    assert plan.computed.model.log_constant != ways.model.log_constant
    assert plan.run().log_z == pytest.approx(circuit.cheapest().run().log_z, abs=1e-12)  # type: ignore[union-attr]
    (world,) = plan.run().answers[0].worlds
    expected = plx.run(text, method="exact")["map"]
    assert world.log_weight + ways.model.log_constant == pytest.approx(expected.log_weight)


def test_the_way_is_taken_and_told() -> None:
    ready = Prepared(grounded(RECORDS.format(n=9) + "query same(1, 2)"))
    ahead = outlook(ready)
    assert ahead.way == "partitions" and "the partitions of 9 elements were summed over" in ahead.words
    assert not ahead.tried


def refusal(text: str) -> str:
    found = partition_plan(Problem(grounded(text)))
    assert isinstance(found, Refusal)
    return found.needs()


def test_what_is_about_several_pairs_is_refused_in_words() -> None:
    text = RECORDS.format(n=5)
    assert "unlike `weight 1: same(1, 2) <=> same(3, 4)`" in refusal(
        text + "weight 1: same(1, 2) <=> same(3, 4)\nquery same(1, 2)"
    )
    assert "unlike `weight" in refusal(text + "random a\nweight 1: same(1, 2) & a\nquery a")
    assert "queries about pairs alone" in refusal(text + "random a\nweight 1: a\nquery a & same(1, 2)")


def test_what_is_too_large_is_refused_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    text = RECORDS.format(n=5)
    monkeypatch.setattr("plx.infer.exact.partition_plan.PARTITION_OPERATIONS", 1e5)
    assert "partitions of 5 elements take 502,450 operations" in refusal(text + "query same(1, 2)")
    monkeypatch.setattr("plx.infer.exact.partition_plan.PARTITION_WORLDS", 20)
    assert "few pairs at once" in refusal(text + "query count(same(1, x) for x in Record)")


def test_relations_that_are_no_partitions_have_no_such_way() -> None:
    text = RECORDS.format(n=5).replace("for x, y, z in Record\n", "for x, y, z in Record if x + y + z != 6\n")
    assert partition_plan(Problem(grounded(text + "query same(1, 2)"))) is None
    assert partition_plan(Problem(make_model([2, 2], [([0, 1], [[0, 1], [-np.inf, 0]])]))) is None


def test_no_world_is_said() -> None:
    text = RECORDS.format(n=5) + "random c(Record): 1..4\nrequire c(x) != c(y) for x, y in Record if x < y\n"
    plan = plan_of(text + "query same(1, 2)")
    with pytest.raises(NoWorldError):
        plan.run()
