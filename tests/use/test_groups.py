"""Queries with different `given`s: one run each, within one time limit, ended by one Ctrl-C."""

from __future__ import annotations

import time

import pytest

import plx
from plx.infer.options import Progress

PROGRAM = """
type T = t1..t9
random f(T)
weight 0.3: f(x) & f(y) for x, y in T if x < y
query f(t1)
query f(t1) given f(t2)
query f(t1) given !f(t2)
"""


def test_the_runs_share_the_time() -> None:
    plx.run(PROGRAM, method="gibbs", samples=64, seed=1)  # compile first
    start = time.perf_counter()
    result = plx.run(PROGRAM, method="gibbs", seconds=0.9, accuracy=1e-9, seed=1)
    assert time.perf_counter() - start < 5
    assert len(result) == 3 and not result.converged


def test_ctrl_c_ends_all_runs() -> None:
    phases: list[str] = []

    def interrupt(report: Progress) -> None:
        phases.append(report.phase)
        if report.error is not None:
            raise KeyboardInterrupt

    model = plx.compile(PROGRAM)
    with pytest.raises(plx.Interrupted) as caught:
        model.run(method="gibbs", seconds=20, accuracy=1e-9, seed=1, progress=interrupt)
    result = caught.value.result
    assert result is not None
    assert result.status == "interrupted" and len(result) == 1
    assert not result.converged
    assert phases.count("searching for a first state") == 1
