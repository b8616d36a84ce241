"""Kernels give the identical result plain and compiled, and are compiled when that pays."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plx.errors import PlxError
from plx.graph.model import GroundModel
from plx.infer.best.max_sum import best_worlds
from plx.infer.counting.marginals import count, count_plan
from plx.infer.exact.elimination import solve
from plx.jit import Kernel
from plx.jit.kernel import PLAIN_STEPS
from tests.models import random_model

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has an allowance of plain steps of its own."""
    monkeypatch.setattr(Kernel, "steps_left", PLAIN_STEPS)


def as_plain(kernel: Kernel[..., object], steps: float, calls: int = 1) -> Callable[..., object]:
    return kernel._plain


def as_compiled(kernel: Kernel[..., object], steps: float, calls: int = 1) -> Callable[..., object]:
    return kernel.compiled


def everything(model: GroundModel) -> Iterator[object]:
    """All that exact inference tells of a model, to the last bit."""
    try:
        found = solve(model)
        yield found.log_z
        yield [answer.p.tobytes() for answer in found.answers if answer.p is not None]
        for world in best_worlds(model, 3):
            yield world.states.tobytes(), world.log_weight
        counted = count_plan(replace(model, queries=()))
        yield counted and count(counted).log_z
    except PlxError as error:
        yield str(error)


@pytest.mark.parametrize("hard", [0.0, 0.2])
def test_plain_and_compiled_agree_to_the_last_bit(monkeypatch: pytest.MonkeyPatch, hard: float) -> None:
    for seed in range(15):
        rng = np.random.default_rng(seed)
        model = random_model(rng, variables=6, factors=7, derived=2, hard=hard)
        monkeypatch.setattr(Kernel, "sized", as_plain)
        plain = list(everything(model))
        monkeypatch.setattr(Kernel, "sized", as_compiled)
        assert list(everything(model)) == plain


def test_a_small_program_needs_no_numba() -> None:
    code = (
        "import sys; sys.argv = ['plx', 'run', 'examples/smokers.plx']\n"
        "from plx.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 0\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True)


def test_small_work_is_plain_until_there_is_much_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def compiled(function: object, signature: object) -> object:
        made.append(function)
        return function

    monkeypatch.setattr("plx.jit.compile.compiled", compiled)
    first, second = Kernel(abs), Kernel(abs)
    assert first.sized(PLAIN_STEPS / 2)(-1) == 1
    assert first.sized(PLAIN_STEPS / 2)(-2) == 2
    assert not made
    assert first.sized(1.0)(-3) == 3
    assert made == [abs]
    assert first.sized(1.0) is first.compiled
    assert second.sized(PLAIN_STEPS)(-4) == 4
    assert made == [abs, abs]


def test_much_work_is_compiled_at_once_and_then_little_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plx.jit.compile.compiled", lambda function, signature: function)
    first, second = Kernel(abs), Kernel(abs)
    assert first.sized(2 * PLAIN_STEPS) is abs
    assert second.sized(PLAIN_STEPS / 20) is not abs  # numba has started: what is left is a tenth
    assert second.sized(PLAIN_STEPS / 10) is abs
