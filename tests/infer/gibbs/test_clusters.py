"""Clusters of hard rules, alike ones and wide ones side by side, against brute force."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import plx
from plx.graph.model import FactorGraph
from plx.infer.gibbs.clusters import clusters
from plx.infer.problem import Parts
from tests.models import all_states, log_weights, make_model

INF = float("inf")

Rule = tuple[str, Callable[[tuple[int, ...]], bool]]

RULES: dict[int, Rule] = {
    2: ("{0}(1) | {0}(2)", any),
    3: ("count({0}(i) for i in 1..3) != 1", lambda world: sum(world) != 1),
    12: ("exists({0}(i) for i in 1..12)", any),
    13: ("count({0}(i) for i in 1..13) >= 7", lambda world: sum(world) >= 7),
}
"""Hard rules by how many unknowns they tie."""

MIXED = st.lists(st.sampled_from([2, 2, 2, 3, 3, 12, 13]), min_size=3, max_size=7).filter(
    lambda x: max(x) > 3
)


def chance(width: int) -> float:
    """The probability that the first unknown of a rule holds."""
    left = [world for world in worlds(width) if RULES[width][1](world)]
    return sum(world[0] for world in left) / len(left)


def program(widths: list[int]) -> str:
    lines = [f"random r{i}(1..{width})" for i, width in enumerate(widths)]
    lines += [f"require {RULES[width][0].format(f'r{i}')}" for i, width in enumerate(widths)]
    return "\n".join([*lines, *(f"query r{i}(1)" for i in range(len(widths)))])


@pytest.mark.parametrize("method", ["gibbs", "random-scan", "lifted", "orbital", "vv", "nec"])
@settings(max_examples=3, deadline=None, derandomize=True, phases=[Phase.generate])
@given(widths=MIXED)
def test_samplers_take_wide_rules_beside_alike_ones(method: str, widths: list[int]) -> None:
    result = plx.compile(program(widths)).run(method=method, seed=1, samples=4096, chains=16)
    for width, query in zip(widths, result.queries, strict=True):
        assert query.probability == pytest.approx(chance(width), abs=0.045)


@settings(max_examples=30, deadline=None)
@given(widths=MIXED, seed=st.integers(0, 1000))
def test_clusters_are_the_tied_unknowns_and_alike_ones_have_equal_rules(widths: list[int], seed: int) -> None:
    """Unknowns are numbered at random; each cluster allows what its rule does."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(sum(widths)).tolist()
    groups, derived, factors = [], [], []
    for width in rng.permutation(widths).tolist():
        mine = sorted(order.pop() for _ in range(width))
        groups.append(mine)
        if width < 3:
            factors.append((mine, [[-INF, 0], [0, 0]]))
            continue
        factors.append(
            ([sum(widths) + len(derived)], [0 if RULES[width][1](w) else -INF for w in counts(width)])
        )
        derived.append(([(v, [0, 1]) for v in mine], list(range(width + 1))))
    found = clusters(Parts(make_model([2] * sum(widths), factors, derived).graph))
    rows = [row for alike in found for row in alike.variables.tolist()]
    assert sorted(sorted(row) for row in rows) == sorted(groups)
    assert sorted(len(alike.variables) for alike in found) == sorted(widths.count(w) for w in set(widths))
    for alike in found:
        assert possible(alike.graph) == sum(
            map(RULES[alike.graph.n_variables][1], worlds(alike.graph.n_variables))
        )


def counts(width: int) -> list[tuple[int, ...]]:
    """A world of each number of unknowns that hold."""
    return [(1,) * n + (0,) * (width - n) for n in range(width + 1)]


def worlds(width: int) -> itertools.product[tuple[int, ...]]:
    return itertools.product((0, 1), repeat=width)


def possible(graph: FactorGraph) -> int:
    return int(np.isfinite(log_weights(graph, all_states(graph))).sum())
