"""Connected components against a search from every node."""

from __future__ import annotations

import numpy as np
import pytest

from plx.graph.components import component_numbers, smallest_reachable
from plx.graph.components import components as components_of
from plx.graph.subgraph import live_derived
from tests.models import random_model


def searched(n: int, edges: list[tuple[int, int]]) -> list[int]:
    """The smallest node that each can be reached from."""
    near: list[set[int]] = [set() for _ in range(n)]
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    out = [-1] * n
    for root in range(n):
        waiting = [root] if out[root] < 0 else []
        while waiting:
            node = waiting.pop()
            if out[node] < 0:
                out[node] = root
                waiting += near[node]
    return out


@pytest.mark.parametrize("seed", range(30))
def test_components(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    edges = rng.integers(0, n, (int(rng.integers(0, 2 * n)), 2))
    expected = searched(n, edges.tolist())
    assert smallest_reachable(n, *edges.T).tolist() == expected
    numbers = {first: i for i, first in enumerate(sorted(set(expected)))}
    assert component_numbers(n, *edges.T).tolist() == [numbers[first] for first in expected]


def test_a_long_path_in_any_order() -> None:
    path = np.random.default_rng(1).permutation(5000)
    assert not smallest_reachable(5000, path[:-1], path[1:]).any()
    assert not smallest_reachable(5000, np.arange(4999), np.arange(1, 5000)).any()


def test_components_of_a_graph_that_is_looked_at_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(20):
        graph = random_model(np.random.default_rng(seed)).graph
        live = live_derived(graph)
        whole = components_of(graph, live)
        with monkeypatch.context() as patch:
            patch.setattr(
                "plx.graph.components.pieces", lambda n: (slice(i, min(i + 2, n)) for i in range(0, n, 2))
            )
            np.testing.assert_array_equal(components_of(graph, live), whole)
        owner = np.repeat(np.arange(graph.n_derived), np.diff(graph.input_start)) + graph.n_variables
        edges = [
            (int(a), int(b))
            for a, b in zip(owner, graph.input_node, strict=True)
            if live[a - graph.n_variables]
        ]
        for f in range(graph.n_factors):
            edges += [(int(graph.scope_of(f)[0]), int(node)) for node in graph.scope_of(f)]
        first = np.array(searched(graph.n_nodes, edges))
        kept = np.concatenate([np.ones(graph.n_variables, dtype=bool), live])
        expected = np.full(graph.n_nodes, -1)
        expected[kept] = np.unique(first[kept], return_inverse=True)[1]
        np.testing.assert_array_equal(whole, expected)
