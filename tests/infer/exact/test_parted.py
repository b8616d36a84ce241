"""Exact answers put together from parts that were found elsewhere, against the whole."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from plx.cluster.part import packed
from plx.errors import NoWorldError
from plx.infer.exact import parted as parted_module
from plx.infer.exact import sliced as sliced_module
from plx.infer.exact.elimination import plan
from plx.infer.exact.parted import Parted, answered_by, bundled
from plx.infer.exact.relevant import relevant
from plx.infer.exact.sliced import sliced
from plx.infer.inference import Inference
from plx.infer.problem import Problem
from tests.graph.test_barren import network
from tests.infer.estimating import with_joint_queries
from tests.infer.exact.test_relevant import limit
from tests.infer.exact.test_sliced import small_memory
from tests.models import random_model


class Others:
    """A cluster that finds parts here, from what would be sent."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def each(self, work: Callable[[Any], Any], given: Sequence[Any]) -> list[Any]:
        self.sizes = [len(one) for one in given]
        return [pickle.loads(pickle.dumps(work(pickle.loads(packed(one))))) for one in given]

    def spread(self, sampler: Any, chains: Any, count: int) -> Any:
        raise NotImplementedError


@pytest.fixture(params=[20.0, 300.0])
def others(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Others:
    """Where calls cost so many operations: almost nothing, or some components are sent together."""
    for module in (parted_module, sliced_module):
        monkeypatch.setattr(module, "WORTH_SENDING", request.param)
    return Others()


def require_same(others: Others, found: Any) -> bool:
    """Whether a plan was found in parts, which must not change an answer."""
    assert isinstance(found, Parted)
    try:
        expected: Inference = found.run()  # type: ignore[attr-defined]
    except NoWorldError:
        with pytest.raises(NoWorldError):
            assert answered_by(others, found) is not None or found.run() is None  # type: ignore[attr-defined]
        return False
    done = answered_by(others, found)
    if done is None:
        return False
    assert done.reason == expected.reason and len(others.sizes) > 1
    assert done.log_z == pytest.approx(expected.log_z, abs=1e-12)
    for answer, other in zip(done.answers, expected.answers, strict=True):
        np.testing.assert_allclose(answer.p, other.p, atol=1e-12)
    return True


def test_components_and_trees_of_joint_queries(others: Others, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plx.infer.exact.elimination.JOINT_OPERATIONS", -math.inf)
    parted = apart = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        model = random_model(rng, variables=8, factors=6, derived=2, max_card=3, hard=0.05)
        found = plan(with_joint_queries(model, rng, 2), once=seed % 2 == 0)
        done = require_same(others, found)
        parted, apart = parted + done, apart + (done and len(found.apart) > 0)
    assert parted >= 3 and apart >= 1


def test_ranges_of_slices(others: Others, monkeypatch: pytest.MonkeyPatch) -> None:
    parted = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        model = random_model(rng, variables=7, factors=9, derived=1, max_card=3, hard=0.15)
        whole = plan(with_joint_queries(model, rng, 2), once=False)
        with monkeypatch.context() as within:
            small_memory(within, whole, 1.5)
            found = sliced(whole.model, whole)
        parted += found is not None and require_same(others, found)
    assert parted >= 2


def test_groups_of_queries(others: Others, monkeypatch: pytest.MonkeyPatch) -> None:
    parted = 0
    for seed in (13, 17, 19):
        model = network(seed, asked=7)
        with monkeypatch.context() as within:
            limit(within, 0.8 * plan(model).operations)
            found = relevant(Problem(model), math.inf)
        parted += found is not None and require_same(others, found)
    assert parted == 3


def test_what_is_cheap_is_sent_together() -> None:
    worth = parted_module.WORTH_SENDING
    cost = worth * np.array([0.1, 3.0, 0.3, 0.4, 5.0, 0.3])
    assert bundled(cost) == [[4], [1], [3, 2, 5], [0]] or bundled(cost) == [[4], [1], [3, 2, 5, 0]]
    assert bundled(np.empty(0)) == []


def test_what_is_cheap_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """One part is worth a call, and the others together are not."""
    model = random_model(np.random.default_rng(3), variables=10, factors=7, max_card=3)
    assert answered_by(Others(), plan(model)) is None
