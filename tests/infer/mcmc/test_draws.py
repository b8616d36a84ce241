"""Draws of chains: worlds of the model, as often as they should be, and the same for the same seed."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import plx
from plx.graph.worlds import log_weights, node_states
from plx.infer.infer import infer
from plx.infer.options import Options
from tests.infer.estimating import with_joint_queries
from tests.models import make_model, marginal, random_model

METHODS = ["exact", "gibbs", "lifted", "orbital", "vv", "nec", "mcsat", "random-scan"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_draws_are_as_frequent_as_their_probabilities(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = with_joint_queries(random_model(rng), rng, 3)
    found = infer(model, method, Options(seed=seed, draws=100, accuracy=0.02, seconds=None))
    assert found.log_weights is not None and found.log_weights.shape == (64, 100)
    for query, answer in zip(model.queries, found.answers, strict=True):
        assert answer.states is not None and answer.states.shape == (64, 100)
        nodes = tuple(target.node for target in query.targets)
        p = marginal(model.graph, nodes)
        share = np.bincount(answer.states.ravel(), minlength=len(p)) / answer.states.size
        assert (share[p == 0] == 0).all()
        independent = answer.states.size / 20  # draws may hang together still
        assert (np.abs(share - p) < 5 * np.sqrt(p * (1 - p) / independent) + 1e-9).all()


def test_the_log_weight_is_that_of_the_world_drawn() -> None:
    rng = np.random.default_rng(5)
    model = random_model(rng)
    every = tuple(q for q in model.queries)
    found = infer(replace(model, queries=every), "gibbs", Options(seed=1, draws=20, accuracy=0.05))
    states = np.array([answer.states for answer in found.answers])  # all variables are asked for
    worlds = states[: model.graph.n_variables].reshape(model.graph.n_variables, -1)
    expected = log_weights(model.graph, node_states(model.graph, worlds)) + model.log_constant
    assert found.log_weights is not None
    assert found.log_weights.ravel() == pytest.approx(expected)


HARD = """
type P = 1..4
random a(P)
random n: 0..4
random c(P): {red, green, blue}
require n = count(a(p) for p in P)
require c(1) != c(2)
weight 0.8: a(p) & c(p) = red for p in P
query a(p) for p in P
query n
query (c(1), c(2))
query a(1) given n = 3
query map
query logz
"""


@pytest.mark.parametrize("method", ["auto", "gibbs", "mcsat", "lifted"])
def test_worlds_that_are_drawn_keep_hard_rules(method: str) -> None:
    result = plx.run(HARD, method=method, seed=3, draws=50, accuracy=0.02)
    a = np.stack([result[f"a({p})"].draws for p in range(1, 5)])
    assert (a.sum(axis=0) == result["n"].draws).all()
    pairs = result["(c(1), c(2))"].draws
    assert pairs.shape == (64, 50, 2)
    assert (pairs[..., 0] != pairs[..., 1]).all()
    assert abs(result["a(1) given n = 3"].draws.mean() - 0.75) < 0.2
    for name in ("map", "logz"):
        with pytest.raises(AttributeError, match="has no draws"):
            _ = result[name].draws


@pytest.mark.parametrize("method", ["exact", "gibbs", "lifted"])
def test_a_seed_gives_the_same_draws(method: str) -> None:
    one, two = (plx.run(HARD, method=method, seed=3, draws=20, samples=4000) for _ in range(2))
    other = plx.run(HARD, method=method, seed=4, draws=20, samples=4000)
    assert all((a.draws == b.draws).all() for a, b in zip(one[:6], two[:6], strict=True))
    assert any((a.draws != b.draws).any() for a, b in zip(one[:6], other[:6], strict=True))
    kept, none = one, plx.run(HARD, method=method, seed=3, samples=4000)
    assert kept == none  # draws change no answer


def test_too_many_draws_are_refused_before_the_work() -> None:
    with pytest.raises(plx.CallError, match=r"take [\d,.]+ GB; the limit is 1.1 GB"):
        plx.run(HARD, draws=10**8)
    with pytest.raises(plx.CallError, match="`draws` is a whole number"):
        plx.run(HARD, draws=0)


def test_draws_for_which_there_is_no_time_are_absent_with_a_note() -> None:
    result = plx.run("random n: 0..2\nquery n", method="gibbs", seconds=0.0, draws=10)
    assert any("no time for draws" in note for note in result.notes)
    with pytest.raises(AttributeError, match="has no draws"):
        _ = result["n"].draws
    with pytest.raises(plx.CallError, match="no draws were kept"):
        result.to_arviz()


def test_ctrl_c_keeps_the_draws_so_far() -> None:
    def impatient(report: object) -> None:
        if report.phase == "drawing worlds":  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    with pytest.raises(plx.Interrupted) as caught:
        plx.run("random n: 0..2\nquery n", method="gibbs", seed=1, draws=1000, progress=impatient)
    assert caught.value.result is not None
    assert caught.value.result["n"].draws.shape == (64, 64)


def test_one_world_is_drawn_again_and_again() -> None:
    model = make_model([2, 2], [([0], [0, -math.inf]), ([1], [-math.inf, 0])])
    found = infer(model, "gibbs", Options(seed=1, draws=5))
    drawn = [answer.states for answer in found.answers]
    assert list(itertools.chain(*(np.unique(states).tolist() for states in drawn))) == [0, 1]
