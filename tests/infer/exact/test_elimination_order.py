"""The search for an elimination order: how long it may take."""

from __future__ import annotations

import numpy as np
import pytest

from plx.infer.exact import elimination_order
from plx.infer.exact.elimination_order import find_order
from plx.infer.exact.network import Network
from plx.infer.exact.split import split
from tests.models import make_model


def random_network(n: int, pairs: int, seed: int) -> Network:
    """Unknowns of two to four states, and tables over pairs of neighbours and of some others."""
    rng = np.random.default_rng(seed)
    card = rng.integers(2, 5, size=n).tolist()
    scopes = {(i, i + 1) for i in range(n - 1)}
    while len(scopes) < n - 1 + pairs:
        a, b = sorted(rng.choice(n, size=2, replace=False).tolist())
        scopes.add((a, b))
    factors = [([a, b], rng.integers(0, 3, (card[a], card[b])).tolist()) for a, b in sorted(scopes)]
    return split(make_model(card, factors).graph)


@pytest.mark.parametrize("steps", [0, 100, 100_000])
def test_a_try_that_takes_too_many_steps_is_left_for_an_order_by_size(
    monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    network = random_network(60, 40, 0)
    monkeypatch.setattr(elimination_order, "_SEARCH_STEPS", steps)
    monkeypatch.setattr(elimination_order, "_LONG_SEARCH", steps)
    tree = find_order(network)
    assert tree.complete and len(np.unique(tree.order)) == network.n_nodes
