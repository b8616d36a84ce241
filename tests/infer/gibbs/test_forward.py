"""First states of Bayesian networks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import plx
from plx.graph.model import GroundModel
from plx.graph.worlds import log_weights, node_states
from plx.infer.gibbs import forward
from plx.infer.gibbs.forward import forward_states, is_network
from plx.infer.gibbs.initial_states import initial_states
from plx.infer.kernels.forward import draw_worlds
from plx.infer.problem import Problem

NETWORK = """
type T = 1..6
type S = {lo, mid, hi}
param step(S, S) = {(lo, lo): 0.5, (lo, mid): 0.5, (mid, hi): 1, (hi, hi): 0.9, (hi, lo): 0.1, else: 0}
random s(t: T): S ~ {lo: 1, else: 0} if t = 1 else step(s(t - 1))
random a(T) ~ 0.3
random many ~ (count(a(t) for t in T) >= 2)
random y ~ noisy_or(0, 1: many, 0.5: s(6) = hi)
"""


def model(text: str) -> GroundModel:
    return plx.compile(text).ground


def test_without_evidence_first_states_are_draws_of_the_distribution() -> None:
    found = model(NETWORK + "query y")
    drawn = forward_states(found, seed=1, chains=4000)
    assert drawn.is_exact
    nodes = node_states(found.graph, drawn.states)
    assert np.isfinite(log_weights(found.graph, nodes)).all()
    truth = plx.run(NETWORK + "query y query s(6) query many", method="exact")
    names = {found.atoms.name(int(a)): v for v, a in enumerate(found.atoms.atom_of)}
    for name in ("y", "many"):
        p = truth[name].probability
        assert abs(drawn.states[names[name]].mean() - p) < 5 * np.sqrt(p * (1 - p) / 4000)
    for state, p in enumerate(truth["s(6)"].distribution.values()):
        assert abs((drawn.states[names["s(6)"]] == state).mean() - p) < 5 * np.sqrt(p * (1 - p) / 4000) + 1e-9


@pytest.mark.parametrize(
    "evidence", ["observe y", "observe !y", "observe s(4) = hi", "observe a(1) | s(6) = hi"]
)
def test_first_states_keep_the_zeros_of_what_is_observed(evidence: str) -> None:
    found = model(NETWORK + evidence)
    assert not forward_states(found, seed=1, chains=4).is_exact
    states = initial_states(Problem(found), seed=1, chains=32)
    assert np.isfinite(log_weights(found.graph, node_states(found.graph, states))).all()


def test_compiled_and_plain_code_draw_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = model(NETWORK + "observe y")
    drawn = []
    for way in (draw_worlds.compiled, draw_worlds.function):
        monkeypatch.setattr(forward, "draw_worlds", SimpleNamespace(sized=lambda steps, way=way: way))
        drawn.append(forward_states(found, seed=2, chains=20).states)
    assert np.array_equal(*drawn)


def test_weights_make_a_network_something_else() -> None:
    assert is_network(model(NETWORK + "require a(1) | a(2)"))
    assert not is_network(model(NETWORK + "weight 1: a(1) = a(2)"))


def test_states_depend_on_the_chain_and_not_on_how_many_there_are() -> None:
    found = model(NETWORK)
    few, many = (forward_states(found, seed=3, chains=n).states for n in (3, 5))
    assert np.array_equal(few, many[:, :3])
    assert not np.array_equal(many[:, 0], many[:, 1])


def test_a_bif_network_starts_forward(tmp_path: Path) -> None:
    file = tmp_path / "two.bif"
    file.write_text(
        "network two { }\n"
        "variable a { type discrete [ 2 ] { y, n }; } variable b { type discrete [ 2 ] { y, n }; }\n"
        "probability ( a ) { table 0.2, 0.8; } probability ( b | a ) { (y) 1, 0; (n) 0.5, 0.5; }"
    )
    assert is_network(plx.load(file).ground)
