"""Worlds drawn exactly: independent, as frequent as their probabilities, whatever way draws them."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from plx.errors import NoWorldError, PlxError
from plx.graph.model import GroundModel
from plx.infer.exact import limits
from plx.infer.exact.elimination import measured
from plx.infer.exact.sliced import sliced
from plx.infer.exact_choice import WAYS
from plx.infer.exact_draws import draw_worlds
from plx.infer.exact_plan import Drawing, ExactPlan, Refusal
from plx.infer.options import Options
from plx.infer.prepared import Prepared
from plx.infer.problem import Problem
from tests.infer.frequencies import agree
from tests.infer.test_exact_choice import coupled, varied
from tests.models import all_states, log_weights, make_model, marginal

DRAWING = [name for name in WAYS if name != "counting"]


def probabilities(model: GroundModel) -> np.ndarray:
    """The probability of every world, the last variable fastest."""
    logs = log_weights(model.graph, all_states(model.graph))
    p: np.ndarray = np.exp(logs - np.logaddexp.reduce(logs))
    return p


def draws_right(model: GroundModel, plan: ExactPlan, seed: int, count: int = 2000) -> bool:
    assert isinstance(plan, Drawing)
    worlds = plan.draw(count, np.random.default_rng(seed))
    assert worlds.dtype == np.int32 and worlds.shape == (model.graph.n_variables, count)
    assert (plan.draw(count, np.random.default_rng(seed)) == worlds).all()
    cards = model.graph.card[: model.graph.n_variables].tolist()
    return agree(np.ravel_multi_index(tuple(worlds), cards), probabilities(model))


def worlds_are_drawn_by_their_weights(name: str) -> None:
    fitting = 0
    for seed, model in enumerate(itertools.islice(varied(), 1, None, 3)):
        if math.prod(model.graph.card[: model.graph.n_variables].tolist()) > 1000:
            continue
        plan = WAYS[name](Problem(model).asking(()))
        if not isinstance(plan, Refusal | None):
            fitting += 1
            assert draws_right(model, plan, seed)
    assert fitting >= 2, "it fits hardly any of the models"


@pytest.mark.parametrize("name", DRAWING)
def test_worlds_are_drawn_by_their_weights(name: str) -> None:
    worlds_are_drawn_by_their_weights(name)


def test_the_bound_on_frequencies_tells_wrong_draws() -> None:
    rng = np.random.default_rng(1)
    p = np.array([0.3, 0.3, 0.25, 0.15])
    assert agree(rng.choice(4, 2000, p=p), p)
    assert not agree(rng.choice(4, 2000, p=[0.36, 0.24, 0.25, 0.15]), p)
    assert not agree(np.array([0, 1, 2]), np.array([0.5, 0.5, 0.0]))


def copies() -> GroundModel:
    """Three chains of three unknowns, alike but interleaved, and one that differs."""
    pair = [[1, 0], [0, -1]]
    chains = [(0, 3, 6), (1, 5, 7), (2, 4, 8)]
    factors = [f for a, b, c in chains for f in (([a, b], pair), ([b, c], pair), ([a], [0, 1]))]
    return make_model([2] * 10, [*factors, ([9], [0, 2])])


def test_copies_of_a_component_are_drawn_one_by_one() -> None:
    model = copies()
    plan = WAYS["elimination"](Problem(model).asking(()))
    assert not isinstance(plan, Refusal | None)
    assert plan.skeleton.network.n_nodes == 4  # type: ignore[attr-defined]
    assert draws_right(model, plan, 5, 4000)


def test_slices_are_drawn_by_their_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    model = make_model([2] * 6, [([i, j], rng.integers(-2, 3, (2, 2))) for j in range(6) for i in range(j)])
    budget = limits.ExactBudget(entries=24.0)
    monkeypatch.setattr("plx.infer.exact.sliced.ExactBudget", lambda: budget)
    whole = measured(Problem(model).asking(()))
    assert not isinstance(whole, Refusal)
    plan = sliced(model, whole)
    assert plan is not None and plan.fixed
    assert draws_right(model, plan, 3)


def test_partial_sums_are_drawn_with_their_parts() -> None:
    """A node too wide for one function, of which a factor and a sum of it and others say something."""
    total = [(node, [0, 1]) for node in range(8)], list(range(9))
    both = [(8, list(range(9))), (0, [0, 4])], [min(k, 5) for k in range(13)]
    count = [int(w) for w in np.random.default_rng(1).integers(-2, 3, 9)]
    model = make_model(
        [2] * 8, [([8], count), ([9], [0, 1, 0, 2, 0, 1]), ([0, 1], [[1, 0], [0, 1]])], [total, both]
    )
    plan = WAYS["elimination"](Problem(model).asking(()))
    assert not isinstance(plan, Refusal | None) and plan.skeleton.network.n_nodes > 10  # type: ignore[attr-defined]
    assert draws_right(model, plan, 6)


@pytest.mark.parametrize("name", DRAWING)
def test_impossible_worlds_are_not_drawn(name: str) -> None:
    table = [[0, -math.inf], [-math.inf, 0]]
    model = make_model([2, 2, 2], [([0, 1], table), ([0], [0, -math.inf]), ([1], [-math.inf, 0])])
    plan = WAYS[name](Problem(model).asking(()))
    if not isinstance(plan, Refusal | None):
        assert isinstance(plan, Drawing)
        with pytest.raises(NoWorldError):
            plan.draw(10, np.random.default_rng(1))


def test_nodes_that_are_functions_of_unknowns_are_asked_of_the_worlds() -> None:
    """Derived nodes too wide for one function, asked for by themselves and in pairs."""
    inputs = [(node, [0, 1]) for node in range(9)]
    model = make_model(
        [2] * 9, [([i, i + 1], [[1, 0], [0, 1]]) for i in range(8)], [(inputs, list(range(10)))], "nodes"
    )
    found = draw_worlds(Prepared(model), 3000, Options(seed=4, seconds=None))
    assert found.log_weights is not None and found.log_weights.shape == (1, 3000)
    for query, answer in zip(model.queries, found.answers, strict=True):
        assert answer.states is not None
        assert agree(answer.states[0], marginal(model.graph, [query.targets[0].node]))


def test_a_way_that_gives_answers_only_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """And where no other fits, the refusal says so."""
    model = replace(coupled(), queries=())
    with pytest.raises(PlxError, match="drawing worlds exactly is out of reach"):
        draw_worlds(Prepared(model), 10, Options())

    class Answers:
        reason, operations, memory = "answers", 1.0, 1.0

    monkeypatch.setitem(WAYS, "answers", lambda problem: Answers())
    with pytest.raises(PlxError, match="answers gives answers, but no worlds"):
        draw_worlds(Prepared(model), 10, Options())


def test_worlds_that_would_fill_memory_are_refused() -> None:
    with pytest.raises(PlxError, match=r"10 unknowns take 40.0 GB; the limit is 1.1 GB"):
        draw_worlds(Prepared(copies()), 10**9, Options())
