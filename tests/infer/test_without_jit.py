"""Kernels of inference give the identical result without compilation, where coverage sees their lines."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from plx.graph.model import GroundModel
from plx.infer.best.max_sum import best_worlds
from plx.infer.circuit.compiled import compiled
from plx.infer.exact import split
from plx.infer.exact.elimination import plan, solve
from plx.infer.gibbs.chains import chains_at
from plx.infer.gibbs.compiled import compile_model
from plx.infer.mcmc.samplers import SAMPLERS
from plx.infer.problem import Problem
from plx.jit.kernel import Kernel
from tests.infer.gibbs.test_count_tables import clauses
from tests.models import make_model, random_model

ROOT = Path(__file__).parents[2]
NO = -np.inf


def everything() -> str:
    """Sums, best worlds, circuits, orders and counts of small models; nothing runs uncompiled by choice."""
    Kernel.steps_left = 0
    return repr([*_exact(), *_circuits(), *_orders(), *_counts()])


def _exact() -> Iterator[object]:
    for small in (64, 1):
        split.SMALL = small  # whole functions, and partial sums
        for seed in range(4):
            model = random_model(np.random.default_rng(seed), variables=5, derived=2, hard=0.2 * (seed % 2))
            done = solve(model)
            yield _rounded([done.log_z, *(p for answer in done.answers for p in answer.p)])
            yield [world.states.tolist() for world in best_worlds(model, 5)]


def _circuits() -> Iterator[object]:
    for seed in range(4):
        model = random_model(np.random.default_rng(seed), variables=5, derived=2, max_card=4, hard=0.3)
        made = compiled(model.graph, np.empty(0, dtype=np.int64))
        yield made.circuit.child.tolist(), _rounded([made.log_sum, *made.joint((0, 1))])
        yield made.best(3)[0].tolist(), made.draw(5, np.random.default_rng(seed)).tolist()


def _rounded(numbers: list[float]) -> list[float]:
    """The exponentials of LLVM and of numpy may differ in the last place."""
    return [round(float(number), 12) + 0.0 for number in numbers]


def _orders() -> Iterator[object]:
    node = np.arange(30).reshape(5, 6)
    pairs = [
        *zip(node[:, :-1].flat, node[:, 1:].flat, strict=True),
        *zip(node[:-1].flat, node[1:].flat, strict=True),
    ]
    grid = make_model([2] * 30, [(pair, [[1, 0], [0, 1]]) for pair in pairs])
    yield plan(grid).skeleton.order.tolist()


def _counts() -> Iterator[object]:
    for name, sampler in SAMPLERS.items():
        for seed in (1, 2):
            model = random_model(np.random.default_rng(seed), variables=4, factors=5, derived=2, hard=0.2)
            chains = sampler.init(Problem(model), 7, 3, 1)
            chains.want_log_z()
            yield sampler.step(chains, 12, 1).tolist()
            if (bridges := chains.bridges()) is not None and bridges.open is not None:
                yield _rounded(bridges.open.control.ravel().tolist())
        counts = sampler.step(sampler.init(Problem(_wide()), 7, 2, 1), 2, 1)
        yield name, np.argwhere(counts).tolist()
    for model in (_exactly_one(), _defined(), _many_ways(), _permutation()):
        for name in ("gibbs", "mcsat", "nec"):
            chains = SAMPLERS[name].init(Problem(model), 1, 4, 1)
            yield SAMPLERS[name].step(chains, 6, 2).tolist()
    wide = random_model(np.random.default_rng(5), variables=6, factors=8, derived=2, max_card=4)
    for model, entries in ((wide, 0), (wide, 1 << 12), (clauses(0), 16), (clauses(1), 1 << 12)):
        start = np.zeros((model.graph.n_variables, 3), dtype=np.int32)  # by sums, tables, and counts
        yield (
            chains_at(compile_model(Problem(model), entries), start, 3, 1).step(300, 1).tolist()
        )  # past a byte


def _wide() -> GroundModel:
    """An unknown of more states than a byte counts."""
    return make_model([2, 9000], [((0, 1), [[(i * j) % 7 for i in range(9000)] for j in range(2)])])


def _exactly_one() -> GroundModel:
    """Unknowns of which exactly one is true, so that two have to change at once."""
    derived = [([(v, [0, 1]) for v in range(4)], range(5))]
    rule = [0 if k == 1 else NO for k in range(5)]
    return make_model([2] * 4, [((4,), rule), *(((v,), [0, v]) for v in range(4))], derived)


def _permutation() -> GroundModel:
    """Unknowns that all differ and take every value, so that two have to exchange theirs."""
    n = 6
    derived = [([(v, np.eye(n, dtype=int)[k].tolist()) for v in range(n)], range(n + 1)) for k in range(n)]
    once = [0 if k == 1 else NO for k in range(n + 1)]
    rules = [((n + k,), once) for k in range(n)]
    return make_model(
        [n] * n, [*rules, ((0, 1), [[(i * j) % 3 for i in range(n)] for j in range(n)])], derived
    )


def _defined() -> GroundModel:
    """A chain of definitions by exclusive or."""
    xor = np.array([[[0, NO], [NO, 0]], [[NO, 0], [0, NO]]])
    return make_model([2] * 7, [((t, 4 + t, t + 1), xor) for t in range(3)] + [((5,), [0, 1])])


def _many_ways() -> GroundModel:
    """Hard rules over unknowns of three states, no one of which defines another."""
    apart = (1 - np.eye(3)).tolist()
    rule = [[0 if ok else NO for ok in row] for row in apart]
    return make_model([3] * 4, [((v, (v + 1) % 4), rule) for v in range(4)] + [((0,), [0, 1, 0])])


def test_the_same_without_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "steps_left", 0)
    monkeypatch.setattr(split, "SMALL", split.SMALL)
    code = "import warnings; warnings.simplefilter('error')\n"
    code += "from tests.infer.test_without_jit import everything; print(everything())"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
    assert done.stderr == ""
    assert done.stdout.strip() == everything()
