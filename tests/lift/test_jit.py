"""Kernels give the identical result with and without compilation."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.orbits.group_moves import moves_of
from plx.infer.problem import Problem
from plx.lift.find import find_symmetry
from tests.benchmarks.models import complete, curriculum, ring
from tests.infer.orbits.moving import apply_moves
from tests.infer.orbits.test_group_moves import GROUPS, known
from tests.models import make_model, random_model

ROOT = Path(__file__).parents[2]


def everything() -> str:
    """Orders, orbits and counts of some small models."""
    out: list[object] = []
    for seed in range(4):
        model = random_model(np.random.default_rng(seed), variables=5, derived=2, weights=(0, 0, 1))
        for kind in ("variable", "vv", "nec"):
            symmetry = find_symmetry(model, kind)  # type: ignore[arg-type]
            out.append((symmetry.order, symmetry.orbits.tolist()))
    for model in (complete(6), curriculum(2, (2, 3)), ring(10)):
        asked = replace(model, queries=make_model(model.graph.card.tolist(), []).queries)
        for name in ("orbital", "vv", "nec", "lifted"):
            chains = SAMPLERS[name].init(Problem(asked), 1, 4, 1)
            out.append(SAMPLERS[name].step(chains, 4, 1).tolist())
    for name, lanes in itertools.product(GROUPS, (1, 4)):
        _, start, group, weight = known(name)
        card, random = np.diff(start), np.arange(lanes + 1, dtype=np.uint64)
        state = (np.arange(lanes * len(card)).reshape(-1, lanes) % card[:, None]).astype(np.uint8)
        accepted = apply_moves(moves_of(group, start, weight)[0], card, state, random, 5)
        out.append((state.tolist(), accepted.tolist(), random.tolist()))
    return repr(out)


def test_the_same_without_compilation() -> None:
    code = "import warnings; warnings.simplefilter('error')\n"
    code += "from tests.lift.test_jit import everything; print(everything())"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
    assert done.stderr == ""
    assert done.stdout.strip() == everything()
