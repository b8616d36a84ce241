"""Scopes against loops, sizes against both, and what is too large."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plx.errors import PlxError
from plx.ground.bind import all_instances, count_candidates, instances
from plx.ground.env import ROOT
from plx.ground.evaluate import Evaluator
from plx.ground.grounder import ground
from plx.ground.index import TupleIndex
from tests.ground.programs import checked

T = range(4)
E = [(0, 1), (1, 2), (2, 2), (3, 0), (3, 1)]
HEADER = """
type T = 0..3
relation e(T, T) = {(0, 1), (1, 2), (2, 2), (3, 0), (3, 1)}
random b(T)
"""

SCOPES = {
    "x, y in T": [(x, y) for x in T for y in T],
    "x, y in T if x < y": [(x, y) for x in T for y in T if x < y],
    "x, y in T if e(x, y)": E,
    "x, y in T if e(y, x) & x != y": [(x, y) for y, x in E if x != y],
    "x in T, y in {1, 2} if e(x, y)": [(x, y) for x, y in E if y in (1, 2)],
    "x in T, y in x..3": [(x, y) for x in T for y in range(x, 4)],
    "x in T, y in {x, 3 - x, 1}": [(x, y) for x in T for y in dict.fromkeys((x, 3 - x, 1))],
    "x in T, y in {x} | {0, 3}": [(x, y) for x in T for y in dict.fromkeys((x, 0, 3))],
    "(x, y) in e": E,
    "(x, y) in e if x = y": [(2, 2)],
    "(x, y) in e, z in T if e(y, z) & z != x": [(x, y, z) for x, y in E for z in T if (y, z) in E and z != x],
    "(x, y) in e, (u, v) in e if u = y": [
        (x, y, u, v) for (x, y), (u, v) in itertools.product(E, E) if u == y
    ],
    "x in T if exists(e(x, y) for y in T if y > x)": [(0,), (1,)],
    "x in T if count(e(x, y) for y in T) = 2": [(3,)],
    "x in T if sum(y for y in T if e(x, y)) > 1": [(1,), (2,)],
    "x in T, y in T if x > 1 => e(x, y)": [(x, y) for x in T for y in T if x <= 1 or (x, y) in E],
    "x in T if x != 0 & 6 / x = 3": [(2,)],
    "x in 3..1": [],
}


def scope_of(text: str):
    program = checked(HEADER + f"weight 1: b(0) for {text}")
    return Evaluator(program), program.rules[0].scope


def rows(evaluator: Evaluator, envs) -> list[tuple[int, ...]]:
    out = []
    for env in envs:
        out += [tuple(evaluator.values[int(i)] for i in row) for row in env.stack(list(env.columns))]
    return out


@pytest.mark.parametrize("portion", [None, 1, 3])
@pytest.mark.parametrize(("text", "expected"), SCOPES.items())
def test_instances(text: str, expected: list[tuple[int, ...]], portion: int | None) -> None:
    evaluator, scope = scope_of(text)
    assert sorted(rows(evaluator, instances(evaluator, ROOT, scope, portion))) == sorted(expected)


@pytest.mark.parametrize(("text", "expected"), SCOPES.items())
def test_counts_are_known_before(text: str, expected: list[tuple[int, ...]]) -> None:
    evaluator, scope = scope_of(text)
    assert len(expected) <= count_candidates(evaluator, ROOT, scope, 10**9)
    if " if " not in text:
        assert count_candidates(evaluator, ROOT, scope, 10**9) == len(expected)


def test_a_guard_that_is_a_relation_costs_time_in_its_facts() -> None:
    people = range(100_000)
    facts = [(i, i + 1) for i in range(99_999)]
    program = checked(
        "type P\nrelation next(P, P)\nrandom b(P)\nweight 1: b(x) & b(y) for x, y in P if next(x, y)",
        P=people,
        next=facts,
    )
    assert ground(program, max_ground=100_000).graph.n_factors == 99_999


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_index_of_tuples(data: st.DataObject) -> None:
    k = data.draw(st.integers(0, 4))
    ids = st.lists(st.sampled_from([0, 1, 5, 7000]), min_size=k, max_size=k).map(tuple)
    table, asked = data.draw(st.lists(ids, max_size=8)), data.draw(st.lists(ids, max_size=8))
    index = TupleIndex(np.array(table, dtype=np.int64).reshape(len(table), k))
    queries = np.array(asked, dtype=np.int64).reshape(len(asked), k)
    assert list(index.find(queries)) == [table.index(row) if row in table else -1 for row in asked]
    begin, count = index.span(queries)
    for row, first, n in zip(asked, begin, count, strict=True):
        assert [table[i] for i in index.order[first : first + n]] == [row] * table.count(row)


def test_wide_keys_are_packed() -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2**20, size=(2000, 4)) * 3
    index = TupleIndex(rows)
    assert (index.find(rows) == np.arange(2000)).all()
    assert (index.find(rows + 1) == -1).all()


def test_too_large_is_refused_before_the_work() -> None:
    program = checked("type P = 1..10000\nrandom b(P)\nweight 1: b(x) & b(y) for x, y in P")
    with pytest.raises(PlxError) as caught:
        ground(program)
    message = str(caught.value)
    assert "100,000,000" in message and "50,000,000" in message and "--max-ground" in message
    assert "weight 1: b(x) & b(y)" in message


def test_every_large_rule_is_named() -> None:
    program = checked(
        "type P = 1..100\nrandom b(P)\nweight 1: b(x) | b(y) for x, y in P\nweight 2: b(x) for x in P\n"
        "weight 3: b(x) & b(y) for x, y in P"
    )
    with pytest.raises(PlxError) as caught:
        ground(program, max_ground=1000)
    assert [d.span.line for d in caught.value.diagnostics] == [3, 5]


def test_aggregates_count_towards_the_limit() -> None:
    text = "type P = 1..100\nrandom b(P)\nweight 1: exists(b(y) for y in P if y != x) for x in P"
    with pytest.raises(PlxError, match="max-ground"):
        ground(checked(text), max_ground=5000)
    ground(checked(text.replace(" if y != x", "")), max_ground=5000)


def test_portions_do_not_change_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        HEADER
        + "weight 1: b(x) & b(y) for x, y in T\nweight 2: exists(b(y) for y in T if e(x, y)) for x in T"
    )
    whole = ground(checked(text)).graph
    for module in ("bind", "factors", "evidence"):
        monkeypatch.setattr(f"plx.ground.{module}.PORTION", 2)
    parts = ground(checked(text)).graph
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(a, b)


def test_all_instances_of_an_empty_scope_is_one() -> None:
    evaluator, _ = scope_of("x in T")
    scope = checked("random z\nweight 1: z").rules[0].scope
    assert all_instances(evaluator, ROOT, scope).n == 1
