"""Elimination in slices, against the whole tree and enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plx.errors import NoWorldError
from plx.infer.exact import sliced as sliced_module
from plx.infer.exact.elimination import JunctionTreePlan, plan, solve
from plx.infer.exact.limits import ExactBudget
from plx.infer.exact.sliced import sliced
from tests.infer.estimating import with_joint_queries
from tests.models import make_model, random_model


def small_memory(monkeypatch: pytest.MonkeyPatch, whole: JunctionTreePlan, less: float) -> None:
    """Let a plan miss the limit of memory by some doublings."""
    entries = 2.0 ** (whole.entry_bits - less)
    monkeypatch.setattr(sliced_module, "ExactBudget", lambda: ExactBudget(entries=entries))


def test_slices_add_up_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model = random_model(rng, variables=7, factors=9, derived=1, max_card=3, hard=0.15)
        whole = plan(with_joint_queries(model, rng, 2), once=False)
        small_memory(monkeypatch, whole, 1.5)
        found = sliced(whole.model, whole)
        if found is None:
            continue
        try:
            expected = solve(whole.model, whole)
        except NoWorldError:
            with pytest.raises(NoWorldError):
                found.run()
            continue
        done = found.run()
        fixed.append(len(found.fixed))
        assert done.log_z == pytest.approx(expected.log_z, abs=1e-9)
        for answer, other in zip(done.answers, expected.answers, strict=True):
            np.testing.assert_allclose(answer.p, other.p, atol=1e-9)
        assert found.memory < whole.memory and f"each of {found.slices:,} joint states" in found.reason
    assert len(fixed) >= 4 and max(fixed) > 1


def test_a_grid_that_misses_the_limit_by_two_doublings_is_sliced(monkeypatch: pytest.MonkeyPatch) -> None:
    node = np.arange(36).reshape(6, 6)
    pairs = [
        *zip(node[:, :-1].flat, node[:, 1:].flat, strict=True),
        *zip(node[:-1].flat, node[1:].flat, strict=True),
    ]
    model = make_model([2] * 36, [(list(map(int, pair)), [[1, 0], [0, 2]]) for pair in pairs])
    whole = plan(model)
    small_memory(monkeypatch, whole, 2.0)
    found = sliced(model, whole)
    assert found is not None and 4 <= found.slices <= 32
    assert found.run().log_z == pytest.approx(solve(model, whole).log_z, abs=1e-9)


def test_what_takes_too_many_slices_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model([2] * 9, [([i, j], [[1, 0], [0, 2]]) for j in range(9) for i in range(j)])
    whole = plan(model)
    small_memory(monkeypatch, whole, 9.0)
    assert sliced(model, whole) is None
    small_memory(monkeypatch, whole, 2.0)
    monkeypatch.setattr(sliced_module, "SLICED_OPERATIONS", math.e)
    assert sliced(model, whole) is None
