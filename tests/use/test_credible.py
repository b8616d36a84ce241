"""Quantiles and credible sets, by their definitions and by repeated draws."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plx
from plx.answer.credible import credible_set, quantile
from plx.answer.named import Estimate

weights = st.lists(st.integers(0, 20), min_size=1, max_size=8).filter(any)


def estimates(counts: list[int], values: list[int] | None = None) -> list[Estimate]:
    values = values or list(range(len(counts)))
    return [Estimate(v, str(v), n / sum(counts)) for v, n in zip(values, counts, strict=True)]


@given(weights, st.floats(0.01, 0.99), st.randoms())
def test_a_quantile_is_the_least_value_with_so_much_below(
    counts: list[int], q: float, random: object
) -> None:
    values = list(range(len(counts)))
    random.shuffle(values)  # type: ignore[attr-defined]
    found = quantile(estimates(counts, values), q, None)
    total = sum(counts)
    below = sum(n for v, n in zip(values, counts, strict=True) if v < found.value) / total
    upto = sum(n for v, n in zip(values, counts, strict=True) if v <= found.value) / total
    assert upto >= q - 1e-9
    assert below < q + 1e-9
    assert found.low == found.value == found.high


@given(weights, st.floats(0.01, 1.0))
def test_no_smaller_set_is_as_probable(counts: list[int], mass: float) -> None:
    found = credible_set(estimates(counts), mass, None)
    p = np.array(counts) / sum(counts)
    assert found.p == pytest.approx(p[list(found.values)].sum())  # type: ignore[index]
    assert found.p >= mass - 1e-9
    assert found.mcse == 0.0
    smaller = combinations(p, len(found.values) - 1)
    assert all(sum(some) < mass + 1e-9 for some in smaller)
    assert list(found.values) == sorted(found.values)  # type: ignore[type-var]


def test_the_error_of_a_quantile_covers_the_truth_as_often_as_one_standard_error_should() -> None:
    rng = np.random.default_rng(1)
    p = np.full(200, 1 / 200)
    hits = {0.1: 0, 0.5: 0, 0.9: 0}
    for counts in rng.multinomial(400, p, size=400):
        for q in hits:
            found = quantile(estimates(counts.tolist()), q, 400)
            hits[q] += found.low <= 200 * q - 1 <= found.high
    assert all(0.6 < n / 400 < 0.8 for n in hits.values())


def test_the_error_of_a_credible_set_is_never_zero_where_it_was_sampled() -> None:
    found = credible_set(estimates([0, 10]), 1.0, 10.0)
    assert found.values == (1,)
    assert 0.05 < found.mcse < 0.2


@pytest.mark.parametrize("q", [0.0, 1.0, -1.0, float("nan"), 2.0])
def test_quantiles_are_between_0_and_1(q: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile(estimates([1]), q, None)


@pytest.mark.parametrize("mass", [0.0, 1.5, float("nan")])
def test_a_credible_set_has_a_probability(mass: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        credible_set(estimates([1]), mass, None)


def test_answers_have_both() -> None:
    text = """
    type P = 1..8
    random up(P)
    random level: 0..9
    random colour: {red, green}
    weight 1: up(p) for p in P
    weight 0.5 * k: level = k for k in 0..9
    query count(up(p) for p in P) as ups
    query level
    query colour
    query logz
    """
    exact, sampled = plx.run(text), plx.run(text, method="gibbs", seed=1)
    for name in ("ups", "level"):
        truth, found = exact[name].quantile(0.25), sampled[name].quantile(0.25)
        assert truth.low == truth.value == truth.high
        assert found.low <= truth.value <= found.high
    assert exact["colour"].credible_set(0.5).p == pytest.approx(0.5)
    inside = sampled["level"].credible_set(0.8)
    assert inside.p >= 0.8 and inside.mcse > 0
    with pytest.raises(AttributeError, match="is no number"):
        exact["colour"].quantile(0.5)
    with pytest.raises(AttributeError, match="has no values"):
        exact["logz"].credible_set()
