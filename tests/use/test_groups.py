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
    assert time.perf_counter() - start < 30
    assert len(result) == 3 and not result.converged


def test_what_there_was_no_time_for_is_not_known() -> None:
    """It has its place in every form, but no answer; and the time is kept however many there are."""
    queries = "query f(t1) as a given f(t2)\nquery f(t1) as late given f(t3)\n"
    queries += "query count(f(x) for x in T) as later given f(t4)\nquery map given f(t5)\n"
    result = plx.run(PROGRAM + queries, method="gibbs", seconds=1e-6, seed=1)
    assert [query.answered for query in result] == [True] + 6 * [False]
    assert not result.converged and "6 of 7 answers not known, as the time was over" in repr(result)
    for query in result[1:]:
        assert "not known" in repr(query) and "not converged" not in repr(query)
        for name in ("probability", "distribution", "mean", "sd", "mcse", "assignment"):
            with pytest.raises(AttributeError, match="the time was over"):
                getattr(query, name)
    assert len(result.to_csv().splitlines()) == 1 + 2 + 6
    assert result.to_pandas()["p"].isna().tolist() == [False, False] + 6 * [True]
    assert [query["values"] for query in result.to_dict()["queries"][1:]] == 6 * [{}]


def test_the_time_is_kept_by_hundreds_of_givens() -> None:
    ring = "type P = 1..300\nrandom s(P)\nweight 0.3: s(x) <=> s(x * 7 % 300 + 1) for x in P\n"
    queries = "query s(1) for x in P if x > 1 given s(x)\n"
    model = plx.compile(ring + queries)
    model.run(method="gibbs", samples=64, seed=1)  # compile first
    begin = time.process_time()
    result = model.run(method="gibbs", seconds=1, seed=1)
    assert time.process_time() - begin < 20
    assert len(result) == 299 and result[0].answered and not result[-1].answered


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
