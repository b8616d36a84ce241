"""Proofs of best worlds over the full range of weights, against exact sums by brute force."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plx.graph.model import GroundModel, GroundQuery
from plx.infer.best import toulbar2 as toulbar
from plx.infer.best.choice import most_probable
from plx.infer.best.max_sum import best_worlds
from plx.infer.exact.enumeration import EnumerationPlan
from plx.infer.exact_scores import ranked, sums_of
from plx.infer.inference import World
from plx.infer.options import Options
from plx.infer.problem import Problem
from plx.weights import LogNumber, to_float
from tests.models import make_model

SIZES = [0, 1, Fraction(3, 10_000), Fraction(1, 3), 7, 10**11, 10**16, Fraction(10**18, 7)]
COUNT = 3

Weights = list[list[Fraction]]


@st.composite
def tables(draw: st.DrawFn) -> tuple[GroundModel, Weights]:
    """A chain of five unknowns whose weights are of very different sizes, and its tables, entry by entry."""
    number = st.builds(
        lambda sign, size: Fraction(sign * size), st.sampled_from([1, -1]), st.sampled_from(SIZES)
    )
    flat = draw(st.lists(st.lists(number, min_size=4, max_size=4), min_size=4, max_size=4))
    model = make_model([2] * 5, [([i, i + 1], [t[:2], t[2:]]) for i, t in enumerate(flat)])
    return model, flat


def by_hand(flat: Weights) -> list[Fraction]:
    """The exact log weights of all worlds, largest first."""
    worlds = itertools.product(range(2), repeat=5)
    return sorted((total(flat, world) for world in worlds), reverse=True)


def total(flat: Weights, world: tuple[int, ...]) -> Fraction:
    return sum((t[2 * a + b] for t, (a, b) in zip(flat, itertools.pairwise(world), strict=True)), Fraction(0))


def by_enumeration(model: GroundModel, count: int) -> tuple[World, ...]:
    query = GroundQuery("map", "map", "map", (), (), None, best=count)
    return EnumerationPlan(Problem(replace(model, queries=(query,)))).run().answers[0].worlds


def by_toulbar2(model: GroundModel, count: int) -> tuple[World, ...]:
    found = toulbar.search(model, count)
    assert found is not None
    return found.worlds


WAYS = [best_worlds, by_enumeration] + [by_toulbar2] * toulbar.installed()


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=25, deadline=None)
@given(case=tables())
def test_a_proof_holds_exactly_and_a_bound_is_kept(way, case: tuple[GroundModel, Weights]) -> None:
    model, flat = case
    exact = by_hand(flat)
    worlds = way(model, COUNT)
    assert len({world.states.tobytes() for world in worlds}) == COUNT
    scores = [total(flat, tuple(world.states.tolist())) for world in worlds]
    assert scores == sorted(scores, reverse=True)
    for world, score, best in zip(worlds, scores, exact, strict=False):
        assert world.log_weight == to_float(score)
        if world.optimal:
            assert score == best
        else:
            assert world.bound is not None and world.bound >= to_float(best)


@pytest.mark.parametrize("way", WAYS)
def test_small_weights_beside_large_ones(way) -> None:
    """As 10^16 + 1 is 10^16 in doubles, only exact sums know that the second unknown is true."""
    small = [[0, 0], [0, 1]]
    model = make_model([2, 2, 2], [([0, 1], [[10**16, 0], [0, 10**16]]), ([1, 2], small)])
    best, second = way(model, 2)
    assert best.optimal and best.states.tolist() == [1, 1, 1]
    assert (second.log_weight, second.optimal) == (1e16, True)


@pytest.mark.parametrize("way", WAYS)
def test_more_near_ties_than_can_be_told_apart_are_no_proof(way) -> None:
    """The logs of n + 1 and n agree in doubles; 2^12 worlds are within rounding of the best."""
    n = 10**30
    model = make_model([2] * 12, [])
    low, high = (model.values.id(LogNumber(Fraction(0), Fraction(k), 1)) for k in (n, n + 1))
    graph = make_model([2] * 12, [([v], [1, 2]) for v in range(12)]).graph
    weight = np.array([low, high])[np.arange(len(graph.weight)) % 2]
    model = replace(model, graph=graph._replace(weight=weight, table=model.values.floats(weight)))
    assert sums_of(model).rounding > 0
    (world,) = way(model, 1)
    assert not world.optimal
    assert world.bound is not None and world.bound >= 12 * to_float(model.values[high])
    found, note = most_probable(Problem(model), 1, Options())
    assert not found[0].optimal and "best to rounding" in note


def test_worlds_are_ranked_by_exact_weights() -> None:
    model = make_model([2, 2], [([1], [10**16, 10**16 + 1])])
    states = np.array([[0, 0], [0, 1]], dtype=np.int32)
    assert [world.states.tolist() for world in ranked(model, states)] == [[0, 1], [0, 0]]
