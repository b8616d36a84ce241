"""Queries with a `given` answered on one count, against the conditioned models."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import plx
from plx.errors import NoWorldError
from plx.graph.model import GroundEvidence, GroundModel
from plx.ground.condition import condition
from plx.infer.counting.shared_evidence import answered_together
from plx.infer.exact.elimination import solve
from plx.source import Source, Span
from tests.infer.counting.test_marginals import Society

SPAN = Span(Source("test", ""), 0, 0)


def with_givens(model: GroundModel, rng: np.random.Generator) -> GroundModel:
    """Every query of a model under one to three facts, which may clash, or under none."""
    queries = []
    for query in model.queries:
        nodes = rng.permutation(model.graph.n_nodes)[: rng.integers(0, 4)].tolist()
        facts = [GroundEvidence(v, int(rng.integers(model.graph.card[v])), SPAN) for v in nodes]
        queries.append(dataclasses.replace(query, given=tuple(facts)))
    return dataclasses.replace(model, queries=tuple(queries))


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_conditioning(seed: int) -> None:
    model = with_givens(Society(seed).model(), np.random.default_rng(seed))
    groups = [(i,) for i in range(len(model.queries))]
    found = answered_together(model, groups, more_than=0)
    for group in groups:
        query = model.queries[group[0]]
        alone = dataclasses.replace(model, queries=(query,))
        try:
            conditioned = condition(alone, query.given) if query.given else alone
            expected = solve(conditioned)
        except NoWorldError:
            assert group not in found
            continue
        if group not in found:
            continue  # a query of logz, or a condition too rare
        p = found[group].answers[0].p.reshape(model.graph.card[[t.node for t in query.targets]].tolist())
        # Conditioning takes what it decides out of the joint distribution.
        decided = tuple(i for i, target in enumerate(conditioned.queries[0].targets) if target.node < 0)
        np.testing.assert_allclose(p.sum(axis=decided).ravel(), expected.answers[0].p, atol=1e-11)
        assert p.sum() == pytest.approx(1)


def test_most_are_found() -> None:
    found = asked = 0
    for seed in range(40):
        model = with_givens(Society(seed).model(), np.random.default_rng(seed))
        groups = [(i,) for i in range(len(model.queries))]
        asked += len(groups)
        found += len(answered_together(model, groups, more_than=0))
    assert found > asked // 2


def test_program_of_many_givens() -> None:
    """Above the threshold, through the front door: the same answers as one `given` a run."""
    text = """
    type Person = 1..150
    random smokes(Person)
    random friends(Person, Person)
    weight 1.4: smokes(x) for x in Person
    weight -3: friends(x, y) for x, y in Person
    weight 0.02: friends(x, y) & smokes(x) => smokes(y) for x, y in Person
    observe !smokes(3)
    """
    queries = [
        "query smokes(1)",
        "query smokes(1) given smokes(2), friends(1, 2)",
        "query smokes(1) & friends(1, 1) given !smokes(2)",
        "query friends(5, 3) given smokes(5)",
        "query count(smokes(x) for x in Person) > 120 given smokes(1)",
        "query smokes(2) given smokes(2)",
    ]
    together = plx.run(text + "\n".join(queries), method="exact")
    alone = [plx.run(text + query, method="exact") for query in queries]
    for i, one in enumerate(alone):
        assert together.queries[i].probability == pytest.approx(one.queries[0].probability, abs=1e-11)
    with pytest.raises(plx.PlxError, match="has probability 0"):
        plx.run(text + "\n".join([*queries, "query smokes(4) given smokes(3), smokes(5)"]), method="exact")
