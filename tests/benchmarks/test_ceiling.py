"""Kernels by hand sample what plx samples: their marginals against exact ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from plx.graph.model import GroundModel
from plx.infer.compare.compare import with_marginals
from plx.infer.infer import infer
from tests.benchmarks import ceiling
from tests.benchmarks.ceiling import ByHand
from tests.benchmarks.kernel_models import counts, friends, grid
from tests.models import make_model

LANES, DRAWS = 256, 400


def ring() -> GroundModel:
    rng = np.random.default_rng(3)
    factors = [((i, (i + 1) % 7), rng.normal(size=(2, 2)).tolist()) for i in range(6)]
    return with_marginals(make_model([2] * 7, [*factors, ((0, 6), rng.normal(size=(2, 2)).tolist())]))


def curriculum() -> GroundModel:
    """As published: two people with three courses each, whose grades have 2, 3 and 4 states."""
    cards, people, courses = [2, 3, 4], 2, 3
    start = people * courses
    factors: list[tuple[tuple[int, ...], object]] = []
    for p in range(people):
        for j, card in enumerate(cards):
            factors.append(((p * courses + j,), [0.5 + p, *[0.0] * (card - 1)]))
            for k in range(courses):
                if k != j:
                    table = np.full((2, card, cards[k]), 1.2)
                    table[1, 1:, 1:] = 0
                    link = start + (p * courses + j) * courses + k
                    factors.append(((link, p * courses + j, p * courses + k), table.tolist()))
    return with_marginals(make_model([*cards * people, *[2] * (start * courses)], factors))


CASES: dict[str, tuple[Callable[[], GroundModel], Callable[[GroundModel], ByHand]]] = {
    "ising": (lambda: grid(3, 2), lambda model: ceiling.ising(3, 0.4, LANES)),
    "potts": (lambda: grid(3, 5), lambda model: ceiling.potts(3, 5, 0.4, LANES)),
    "ring": (ring, lambda model: ceiling.ring(model.graph, LANES)),
    "curriculum": (curriculum, lambda model: ceiling.curriculum(model.graph, 2, 3, LANES)),
    "friends": (lambda: with_marginals(friends(4)), lambda model: ceiling.friends(4, LANES)),
    "counts": (lambda: with_marginals(counts(6)), lambda model: ceiling.counts(6, 10, LANES)),
}


@pytest.mark.parametrize("name", CASES)
def test_marginals_are_exact_ones(name: str) -> None:
    make, written = CASES[name]
    model = make()
    chains = written(model)
    assert chains.unknowns == model.graph.n_variables
    chains.sweep(100)
    exact = infer(model, "exact").answers
    counted = [np.zeros((len(answer.p), LANES)) for answer in exact]
    for _ in range(DRAWS):
        chains.sweep(1)
        for count, state in zip(counted, chains.states(), strict=True):
            count[state, np.arange(LANES)] += 1
    for answer, count in zip(exact, counted, strict=True):
        share = count / DRAWS
        error = share.std(axis=1, ddof=1) / np.sqrt(LANES)
        assert (error > 0).all()
        # a thousand comparisons in all: five standard errors are exceeded once in two thousand runs
        assert np.abs((share.mean(axis=1) - answer.p) / error).max() < 5
