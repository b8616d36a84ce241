"""What stays at β = 0 is matched with what is at β = 1: factors beside the cut, and gains."""

from __future__ import annotations

import numpy as np
import pytest

from plx.graph.worlds import log_weights, node_states
from plx.infer.problem import Parts, Problem
from plx.infer.tempering import tempered
from plx.infer.tempering.matched import _regression, reference
from plx.infer.tempering.soft import Path, apart
from plx.infer.tempering.solvable import Part, solvable_part
from tests.benchmarks.log_z import CRITICAL, ising
from tests.models import all_states, random_model


def _part(size: int) -> Part:
    found = solvable_part(Parts(ising(size, CRITICAL).graph))
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(4))
def test_factors_apart_weigh_what_they_did(seed: int) -> None:
    """At β = 1, and at β = 0 the shares that their labels have."""
    rng = np.random.default_rng(seed)
    graph = random_model(
        rng, variables=5, factors=9, max_card=3, derived=seed % 2, hard=0.2 * (seed > 1)
    ).graph
    label = rng.integers(-1, 3, graph.n_factors)
    out, entry = apart(graph, label)
    nodes = node_states(graph, all_states(graph).T)
    np.testing.assert_allclose(log_weights(out, nodes), log_weights(graph, nodes))
    assert (label == entry[out.table_start[out.table_of]]).all()
    path = Path(np.array([0.0, 1.5, 0.5, 1.0])[entry])
    finite = np.isfinite(out.table)
    for beta in (0.0, 0.3, 1.0):
        table = path.at(out.table, beta)
        assert (np.isfinite(table) == finite).all()
        line = path.at(out.table, 0.0)[finite] + beta * path.part(out.table)[finite]
        np.testing.assert_allclose(table[finite], line, atol=1e-12)


def test_strips_are_matched_where_they_were_cut_apart() -> None:
    """Pairs along borders are stronger at β = 0, and log Z there is that of these tables."""
    model = ising(24, CRITICAL)
    apart_ = reference(model.graph, _part(24))
    assert (apart_.label == 0).sum() == 96 and apart_.classes >= 2
    ladders = tempered.init(Problem(model), 1, 64, 1).ladders
    path, part = ladders.updates.path, ladders.updates.part
    assert path.first is not None and part is not None
    share = [float(path.first[apart_.entry == k][0]) for k in range(apart_.classes + 1)]
    assert share[0] == 0.0 and max(share[1:]) > 1.15 and min(share[1:]) > 0.9
    plain = apart_.solved(apart_.path(np.zeros(apart_.classes)))
    assert plain.log_z == pytest.approx(_part(24).over(model.graph).log_z) and part.log_z > plain.log_z + 1
    assert part.log_z == pytest.approx(apart_.solved(path).log_z)


def test_gains_are_told_from_draws_or_not_at_all() -> None:
    rng = np.random.default_rng(0)
    beside, noise = rng.normal(size=(2, 5000)), rng.normal(size=5000)
    gain = _regression(np.stack([0.4 * beside[0] - 0.1 * beside[1] + 0.3 * noise, *beside]))
    assert gain is not None and np.abs(gain - [0.4, -0.1]).max() < 0.03
    assert _regression(np.stack([noise, *beside])) is None
    assert _regression(np.stack([np.ones(5000), *beside])) is None
