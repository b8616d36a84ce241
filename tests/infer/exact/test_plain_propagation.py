"""Propagation in plain numbers, against that in log space."""

from __future__ import annotations

import numpy as np
import pytest

from plx.errors import NoWorldError
from plx.graph.model import GroundModel
from plx.infer.exact import junction_tree
from plx.infer.exact.elimination import plan, solve
from plx.infer.exact.junction_tree import Propagation
from plx.infer.inference import Inference
from tests.infer.estimating import with_joint_queries
from tests.models import make_model, random_model

NO = -np.inf


def both(monkeypatch: pytest.MonkeyPatch, model: GroundModel) -> list[Inference]:
    """The answers in plain numbers where these hold, and in log space."""
    chosen = plan(model)
    found = []
    for least in (0.0, np.inf):
        with monkeypatch.context() as patch:
            patch.setattr(junction_tree, "_PLAIN_OPERATIONS", least)
            found.append(solve(model, chosen))
    return found


def same(done: Inference, expected: Inference) -> None:
    assert done.log_z == pytest.approx(expected.log_z, rel=1e-13, abs=1e-12)
    for answer, other in zip(done.answers, expected.answers, strict=True):
        np.testing.assert_allclose(answer.p, other.p, atol=1e-13)


def test_it_gives_what_log_space_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(25):
        rng = np.random.default_rng(seed)
        model = random_model(rng, variables=7, factors=9, derived=seed % 3, max_card=4, hard=0.1 * (seed % 2))
        try:
            same(*both(monkeypatch, with_joint_queries(model, rng, 2)))
        except NoWorldError:
            continue


def grid(n: int, weights: np.ndarray) -> GroundModel:
    node = np.arange(n * n).reshape(n, n)
    across = zip(node[:, :-1].flat, node[:, 1:].flat, strict=True)
    down = zip(node[:-1].flat, node[1:].flat, strict=True)
    pairs = [tuple(map(int, pair)) for pair in (*across, *down)]
    tables = np.resize(weights, (len(pairs), 2, 2)).tolist()
    return make_model([2] * (n * n), list(zip(pairs, tables, strict=True)))


def test_a_compiled_one_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.random.default_rng(0).integers(-3, 4, 44)
    same(*both(monkeypatch, grid(11, weights)))


def test_products_below_what_doubles_hold_are_left_to_log_space(monkeypatch: pytest.MonkeyPatch) -> None:
    far = [[0, -400], [-400, 0]]
    star = make_model([2] * 6, [((0, i), far) for i in range(1, 6)] + [((0,), [0, NO])])
    tight = make_model([2] * 2, [((0, 1), [[0, -900], [-900, 0]]), ((0,), [NO, 0])])
    for model in (star, tight):
        tree = plan(model).skeleton
        same(*both(monkeypatch, model))
        held = Propagation(tree, [(0,)])._plainly(tree.network.table)
        assert (held is None) == (model is tight)
    chain = make_model([2] * 5, [((i, i + 1), far) for i in range(4)] + [((0,), [0, -1]), ((4,), [-2, 0])])
    same(*both(monkeypatch, chain))
    hub = make_model([2] * 9, [((0, i), [[0, -300], [-300, -1]]) for i in range(1, 9)] + [((0,), [0, -300])])
    same(*both(monkeypatch, hub))


def test_a_model_without_a_world_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junction_tree, "_PLAIN_OPERATIONS", 0.0)
    with pytest.raises(NoWorldError):
        solve(make_model([2, 2], [((0, 1), [[0, NO], [NO, 0]]), ((0,), [0, NO]), ((1,), [NO, 0])]))
