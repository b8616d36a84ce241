"""Connected components against a search from every node."""

from __future__ import annotations

import numpy as np
import pytest

from plx.graph.components import component_numbers, smallest_reachable


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
