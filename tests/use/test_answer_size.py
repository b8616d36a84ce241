"""Answers of too many values are refused at once, with the size, the place and what to ask instead."""

from __future__ import annotations

import time
import tracemalloc

import pytest

import plx
from plx.errors import PlxError

UNKNOWNS = """
type T = 1..40
random f(T)
random g(T): 1..1000
"""


def joint(n: int, f: str = "f") -> str:
    return f"({', '.join(f'{f}({i})' for i in range(1, n + 1))})"


@pytest.mark.parametrize("method", ["auto", "exact", "gibbs", "lifted", "nec", "mcsat"])
@pytest.mark.parametrize("n", [21, 29, 40])
def test_a_joint_of_too_many_values_is_refused_at_once(method: str, n: int) -> None:
    model = plx.compile(f"{UNKNOWNS}query f(1)\nquery {joint(n)}\n")
    begin = time.process_time()
    with pytest.raises(PlxError) as refused:
        model.run(method=method)
    assert time.process_time() - begin < 20
    (found,) = refused.value.diagnostics
    size = f"{2**n:,}" if n < 29 else {29: "536,870,912", 40: "about 10^12"}[n]
    assert f"has {size} values; the limit is 1,048,576" in found.message
    assert found.span is not None and found.span.line == 6
    assert found.hint is not None and "query map" in found.hint and "max-ground" not in found.hint


def test_every_query_that_is_too_wide_is_named() -> None:
    model = plx.compile(f"{UNKNOWNS}query {joint(30)}\nquery {joint(3)}\nquery {joint(40, 'g')}\n")
    with pytest.raises(PlxError) as refused:
        model.run()
    assert [found.span.line for found in refused.value.diagnostics if found.span] == [5, 7]
    assert "about 10^120 values" in refused.value.diagnostics[1].message


def test_all_answers_together_have_a_limit() -> None:
    query = "query (g(i), g(j)) for i, j in T if i < j & i <= 2"
    with pytest.raises(PlxError, match="have 77,000,000 values together; the limit is 4,194,304"):
        plx.compile(f"{UNKNOWNS}{query}\n").run()


def test_what_is_observed_or_given_does_not_count() -> None:
    known = ", ".join(f"f({i})" for i in range(4, 41))
    model = plx.compile(f"{UNKNOWNS}weight 1: f(1)\nquery {joint(40)} given {known}\n")
    assert len(model.run().queries[0].estimates) == 8


@pytest.mark.parametrize("method", ["lifted", "nec"])
def test_memory_for_a_joint_grows_with_its_values_not_their_square(method: str) -> None:
    model = plx.compile(f"{UNKNOWNS}weight i/40: f(i) for i in T\nquery {joint(13)}\n")
    tracemalloc.start()
    try:
        result = model.run(method=method, seed=1, samples=4, chains=2, seconds=2)
        assert tracemalloc.get_traced_memory()[1] < 1 << 28
    finally:
        tracemalloc.stop()
    assert sum(estimate.p for estimate in result.queries[0].estimates) == pytest.approx(1)
