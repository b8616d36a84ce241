"""The lower bound on the width of every elimination order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from plx.graph.model import GroundModel
from plx.infer.exact.elimination import plan
from plx.infer.exact.treewidth import least_bits, surely_wider
from tests.models import make_model


def random_model(seed: int) -> GroundModel:
    rng = np.random.default_rng(seed)
    cards = [2, 3, *rng.integers(1, 4, size=rng.integers(1, 10)).tolist()]
    factors = []
    for _ in range(int(rng.integers(2, 30))):
        scope = sorted(rng.permutation(len(cards))[: rng.integers(1, 4)].tolist())
        factors.append((scope, rng.integers(1, 5, size=[cards[v] for v in scope]).tolist()))
    total = ([(0, [0, 1]), (1, [0, 1, 2])], [0, 1, 2, 3])
    factors += [
        ([len(cards)], [0, 1, 2, 4]),
        ([2, len(cards)], np.arange(4 * cards[2]).reshape(-1, 4).tolist()),
    ]
    return make_model(cards, factors, [total])


@pytest.mark.parametrize("seed", range(80))
def test_no_order_is_narrower_than_the_bound(seed: int) -> None:
    model = random_model(seed)
    widest = plan(model).table_bits
    assert not surely_wider(model.graph, widest + 1e-9, least=0)
    assert least_bits(model.graph) <= widest + 1e-9


@pytest.mark.parametrize("n", [4, 9])
def test_cliques_and_trees(n: int) -> None:
    """A clique of n has n bits, all of which the bound sees; a tree and a star have two."""
    clique = make_model([2] * n, [(pair, [[0, 1], [2, 0]]) for pair in itertools.combinations(range(n), 2)])
    assert surely_wider(clique.graph, n - 0.5, least=0) and not surely_wider(clique.graph, n, least=0)
    assert n - 0.5 < least_bits(clique.graph) <= n
    tree = make_model([2] * n, [([(v - 1) // 2, v], [[0, 1], [2, 0]]) for v in range(1, n)])
    assert not surely_wider(tree.graph, 2, least=0)
    star = make_model([2] * n, [([0, v], [[0, 1], [2, 0]]) for v in range(1, n)])
    assert not surely_wider(star.graph, 2, least=0)
