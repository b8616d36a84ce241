"""Leaves and their factors, against a reading of the graph one factor at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from plx.graph.leaves import WIDEST, alike, find_leaves, narrow_factors, padded_scopes
from plx.graph.model import FactorGraph
from tests.models import random_model


def factors_by_variable(graph: FactorGraph, chosen: np.ndarray) -> dict[int, list[int]]:
    out: dict[int, list[int]] = {v: [] for v in range(graph.n_variables)}
    for f in np.flatnonzero(chosen):
        for v in graph.scope_of(f).tolist():
            out[v].append(int(f))
    return out


@pytest.mark.parametrize("seed", range(30))
def test_leaves_are_the_unknowns_whose_few_factors_nest(seed: int) -> None:
    graph = random_model(np.random.default_rng(seed)).graph
    narrow = narrow_factors(graph)
    for f in range(graph.n_factors):
        scope = graph.scope_of(f)
        assert narrow[f] == (len(scope) <= WIDEST and (scope < graph.n_variables).all())
    scope = padded_scopes(graph, narrow)
    candidate = np.random.default_rng(seed).random(graph.n_variables) < 0.8
    found = find_leaves(scope, candidate)
    expected = []
    for v, factors in factors_by_variable(graph, narrow).items():
        scopes = [set(graph.scope_of(f).tolist()) for f in factors]
        if candidate[v] and len(factors) <= 3 and all(s <= max(scopes, key=len) for s in scopes):
            expected.append(v)
    assert found.variable.tolist() == expected


@pytest.mark.parametrize("seed", range(30))
def test_what_is_alike_has_the_same_sum_of_tables(seed: int) -> None:
    graph = random_model(np.random.default_rng(seed)).graph
    narrow = narrow_factors(graph)
    scope = padded_scopes(graph, narrow)
    leaves = find_leaves(scope, np.ones(graph.n_variables, dtype=bool))
    mentioned = factors_by_variable(graph, narrow)
    seen = []
    for kind in alike(leaves, scope, graph.table_of, graph.card):
        tables = [graph.table_values(f) for f in kind.factors]
        total = np.moveaxis(sum(kind.laid_out(tables), np.zeros(kind.shape)), kind.axis, -1)
        for leaf, others in zip(kind.leaf.tolist(), kind.others.tolist(), strict=True):
            seen.append(leaf)
            nodes = (*others, leaf)
            for states in itertools.product(*(range(n) for n in total.shape)):
                at = dict(zip(nodes, states, strict=True))
                expected = sum(
                    graph.table_values(f)[tuple(at[v] for v in graph.scope_of(f).tolist())]
                    for f in mentioned[leaf]
                )
                assert total[states] == pytest.approx(expected)
    assert sorted(seen) == leaves.variable.tolist()
