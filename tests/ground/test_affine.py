"""Affine expressions added up at the end are what adding step by step makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import plx
from plx.errors import PlxError
from plx.ground.affine import AffineSums
from tests.ground.test_world import content
from tests.learn.programs import at, learning

START = """
type K = 1..3
type I = 1..6
param x(K, I) = {(1, 1): 0.25, (1, 2): 1/3, (2, 1): 2, (2, 5): -1.5, (3, 3): log(2), else: 0}
param p(I) = {6: 0, else: 0.5}
random y(I)
learn a
learn b(K)
learn c = 0.5
"""


def unfitted(text: str) -> object:
    try:
        return content(plx.compile(text).origin.unfitted())
    except PlxError as error:
        return str(error)


def both(text: str) -> object:
    collected = unfitted(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AffineSums, "mentions", lambda self, expr: False)
        assert unfitted(text) == collected
    return collected


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(learning())
def test_both_ways_agree(text: str) -> None:
    both(at(text, np.array([0.5, -1.0, 0.25])))


@pytest.mark.parametrize(
    "weight",
    [
        "a + sum(b(k) * x(k, i) for k in K)",
        "sum(b(k) * x(k, i) + sum(b(j) / 3 for j in K if j < k) for k in K) - 2 * a",
        "a - a + x(1, i)",
        "-(a * 2 - 3 * x(1, i) * b(1) * i) / 4 + 1/2 - c",
        "sum(a for k in K if k > i) + log(3)",
        "a + log(p(i))",
        "a * log(p(i)) + c",
        "c - log(p(i))",
    ],
)
def test_sums_and_logs_of_zero(weight: str) -> None:
    both(START + f"weight {weight}: y(i) for i in I\n")


def test_coefficients_are_exact() -> None:
    learned = plx.compile(
        START + "weight sum(b(k) * x(k, i) for k in K) + x(1, i): y(i) for i in I if i < 3\n"
    )
    tables = content(learned.origin.unfitted())[-2]
    shown = [plx.weights.text(table[1]) for table in tables]
    assert shown == ["0.25*b(1) + 2*b(2) + 0.25", "1/3*b(1) + 1/3"]
