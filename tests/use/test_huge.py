"""Models of more worlds than a double can count: every command answers, or refuses in words."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import plx
from plx.answer import ground_report
from plx.api import compare
from plx.errors import PlxError
from plx.graph.sizes import size_text
from plx.model import Model

UNLIKE = """
type R = 1..{n}
random c(R, R): 1..{card}
param w(i: R, j: R) = (i*7919 + j*104729) % 1000/500 - 1
factor w(i, j) * c(i, j)                        for i, j in R
factor w(j, i) * abs(c(i, j) - c(i, j + 1))     for i, j in R if j < {n}
factor w(i, j) * abs(c(i, j) - c(i + 1, j))     for i, j in R if i < {n}
query c(1, 1)
"""

DENSE = """
type R = 1..320
random c(R): 1..10
param w(i: R, j: R) = (i*7919 + j*104729) % 1000/500 - 1
weight w(i, j): c(i) = c(j)                     for i, j in R if i < j
query c(1)
"""

ALIKE = """
type R = 1..{n}
random c(R, R): 1..{card}
weight 0.01: c(1, 1) = c(i, j)                  for i, j in R
require count(c(i, j) = 2 for i, j in R) >= 3
query c(1, 1)
"""


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """What numpy says of an overflow is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


UNLIKES = st.builds(UNLIKE.format, n=st.integers(23, 26), card=st.integers(4, 12)).map(plx.compile)
ALIKES = st.builds(ALIKE.format, n=st.integers(18, 30), card=st.integers(10, 20)).map(plx.compile)


def answers_or_names_the_size(model: Model) -> None:
    try:
        result = model.run(method="exact", seconds=30)
    except PlxError as error:
        assert "about 10^" in str(error) and "^inf" not in str(error)
    else:
        assert sum(estimate.p for estimate in result.queries[0].estimates) == pytest.approx(1)


few = settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])


@few
@given(UNLIKES, st.sampled_from(["auto", "vv", "nec"]))
def test_samplers_answer_where_unknowns_are_unlike(model: Model, method: str) -> None:
    result = model.run(method=method, seed=1, chains=2, samples=16, seconds=30)
    assert all(0 <= estimate.p <= 1 for estimate in result.queries[0].estimates)


@few
@given(ALIKES, st.sampled_from(["auto", "gibbs"]))
def test_samplers_answer_where_unknowns_are_alike(model: Model, method: str) -> None:
    result = model.run(method=method, seed=1, chains=2, samples=16, seconds=30)
    assert all(0 <= estimate.p <= 1 for estimate in result.queries[0].estimates)


@few
@given(st.one_of(UNLIKES, ALIKES))
def test_the_exact_way_answers_or_names_the_size(model: Model) -> None:
    answers_or_names_the_size(model)


@few
@given(UNLIKES)
def test_other_commands(model: Model) -> None:
    assert "variables" in ground_report.summary(model.ground)
    assert str(model.symmetries(seconds=0.5))
    found = compare(model, ["gibbs"], seconds=0.02, chains=1, lanes=2, truth="long", seed=1)
    assert len(found.curves) == 1


def test_the_most_probable_world_is_found_or_bounded() -> None:
    result = plx.compile(UNLIKE.format(n=23, card=5) + "query map").run(
        seed=1, chains=2, samples=16, seconds=1
    )
    (world,) = result["map"].worlds
    assert world.optimal or world.bound is None or world.bound >= world.log_weight


def test_a_clique_of_more_states_than_a_double_counts() -> None:
    answers_or_names_the_size(plx.compile(DENSE))


def test_sizes_in_words() -> None:
    assert [size_text(bits) for bits in (0, 10, 29, 1100, 5000)] == [
        "1", "1,024", "536,870,912", "about 10^331", "about 10^1505",
    ]  # fmt: skip
