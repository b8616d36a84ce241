"""States that are asked for before they are read: no lane's draws change."""

import numpy as np
import pytest

import plx
from plx.infer.gibbs.chains import chains_at, sweep
from plx.infer.gibbs.compiled import compile_model
from plx.infer.kernels.gibbs import _NEAR
from plx.infer.problem import Problem

MEMBERS = 20_000
LANES = 64


@pytest.mark.parametrize(
    "rule", ["smokes(x) <=> smokes(y)", "smokes(x) & likes(x) => smokes(y)", "mood(x) = mood(y)"]
)
def test_lanes_together_and_apart(rule: str) -> None:
    """64 lanes are more than is near, 32 are not; a lane's states are its own."""
    assert MEMBERS * LANES // 2 <= _NEAR < MEMBERS * LANES
    random = np.random.default_rng(2)
    pairs = np.stack([np.arange(MEMBERS // 2), random.permutation(MEMBERS // 2)], axis=1)
    chosen = "random mood(P): 1..3" if "mood" in rule else "random smokes(P)\nrandom likes(P)"
    text = f"type P\nrelation near(P, P)\n{chosen}\nweight 0.7: {rule} for (x, y) in near if x != y"
    members = np.arange(MEMBERS)
    plan = compile_model(Problem(plx.compile(text, P=members, near=pairs).ground))
    first = np.zeros((plan.graph.n_variables, LANES), dtype=np.int32)
    together, apart = chains_at(plan, first, 1, threads=1), chains_at(plan, first, 1, threads=2)
    assert [len(block.state[0]) for block in together.blocks] == [64]
    assert [len(block.state[0]) for block in apart.blocks] == [32, 32]
    assert all(block.state.ctypes.data % 64 == 0 for block in (*together.blocks, *apart.blocks))
    for chains in (together, apart):
        sweep(chains, 2)
    assert (together.states == apart.states).all()
    assert together.states.any()
