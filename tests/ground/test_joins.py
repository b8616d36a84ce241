"""Joins against loops over all facts, in every order of the bindings; what is shown of them; their limits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plx
from plx.check.program import Scope
from plx.errors import PlxError
from plx.graph.model import GroundStep
from plx.ground import plan as planning
from plx.ground.bind import all_instances, count_candidates, instances
from plx.ground.env import ROOT
from plx.ground.evaluate import Evaluator
from plx.ground.grounder import ground
from tests.ground.programs import checked

TRUSTS = "type P = {P}\nrelation e(P, P)\nparam a(P)\nrandom b(P)\n"

SCOPES = {
    "(x, y) in e, (y, z) in e": lambda x, y, z, e, a: (x, y) in e and (y, z) in e,
    "x, y, z in P if e(x, y) & e(z, y) & a(x) = a(z)": (
        lambda x, y, z, e, a: (x, y) in e and (z, y) in e and a[x] == a[z]
    ),
    "(x, y) in e, z in P if a(z) = a(x) & z != y": (
        lambda x, y, z, e, a: (x, y) in e and a[z] == a[x] and z != y
    ),
    "(x, y) in e, (y, z) in e, (z, x) in e": (
        lambda x, y, z, e, a: (x, y) in e and (y, z) in e and (z, x) in e
    ),
    "x in P, (x, y) in e, z in P if (y, z) not in e & z > x": (
        lambda x, y, z, e, a: (x, y) in e and (y, z) not in e and z > x
    ),
    "(x, y) in e, (x + 1, z) in e": lambda x, y, z, e, a: (x, y) in e and (x + 1, z) in e,
    "(x, y) in e, z in {x, y} if e(z, 0)": (
        lambda x, y, z, e, a: (x, y) in e and z in (x, y) and (z, 0) in e
    ),
    "(x, 1) in e, (x, y) in e, (y, z) in e": (
        lambda x, y, z, e, a: (x, 1) in e and (x, y) in e and (y, z) in e
    ),
}


def evaluator_of(people: int, facts: set[tuple[int, int]], ages: list[int], text: str) -> tuple:
    header = TRUSTS.replace("{P}", f"0..{people - 1}")
    program = checked(f"{header}weight 1: b(0) for {text}", e=sorted(facts), a=dict(enumerate(ages)))
    return Evaluator(program), program.rules[0].scope


def values(evaluator: Evaluator, scope: Scope, env, names: str) -> list[tuple[int, ...]]:
    uids = {env.names[uid]: uid for uid in env.columns}
    columns = [env.columns[uids[name]] for name in names]
    return [tuple(evaluator.values[int(i)] for i in row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("text", SCOPES)
@pytest.mark.parametrize("reorder", [False, True])
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_joins_are_nested_loops(text: str, reorder: bool, data: st.DataObject) -> None:
    """In every order the same rows, in the order of the loops where all are wanted at once."""
    people = data.draw(st.integers(2, 5))
    pairs = st.tuples(st.integers(0, people - 1), st.integers(0, people - 1))
    facts = set(data.draw(st.lists(pairs, min_size=1, max_size=12)))
    ages = data.draw(st.lists(st.integers(0, 2), min_size=people, max_size=people))
    holds = SCOPES[text]
    every = itertools.product(range(people), repeat=3)
    expected = sorted(row for row in every if holds(*row, facts, ages))
    with pytest.MonkeyPatch.context() as patch:
        if reorder:
            patch.setattr(planning, "_REORDER", 0)
            patch.setattr(planning, "_GAIN", 1.0)
        evaluator, scope = evaluator_of(people, facts, ages, text)
        whole = all_instances(evaluator, ROOT, scope)
        assert sorted(values(evaluator, scope, whole, "xyz")) == expected
        portion = data.draw(st.integers(1, 4))
        some = [values(evaluator, scope, env, "xyz") for env in instances(evaluator, ROOT, scope, portion)]
        assert sorted(itertools.chain.from_iterable(some)) == expected
        assert count_candidates(evaluator, ROOT, scope, 10**9) >= len(expected)


CHAIN = "(x, y) in e, (y, z) in e, (z, w) in e, v in P if a(v) = 0 & v = w"


def test_another_order_finds_the_same_instances_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    facts = set(map(tuple, rng.integers(0, 40, (150, 2)).tolist()))
    ages = [0] + [1] * 39
    evaluator, scope = evaluator_of(40, facts, ages, CHAIN)
    plan = evaluator.plan(scope, frozenset())
    assert [step.place for step in plan.steps] != [0, 1, 2, 3] and plan.steps[0].place == 3
    found = values(evaluator, scope, all_instances(evaluator, ROOT, scope), "xyzv")
    monkeypatch.setattr(planning, "_REORDER", 10**12)
    evaluator, scope = evaluator_of(40, facts, ages, CHAIN)
    assert evaluator.plan(scope, frozenset()).in_order
    assert values(evaluator, scope, all_instances(evaluator, ROOT, scope), "xyzv") == found
    assert len(found) > 5


@pytest.mark.parametrize(
    "guard", ["a(x) + a(v) > 0", "6 / (1 + x + v) > 0", "exists(e(x, k) & k != v for k in P)"]
)
def test_what_may_lack_a_value_is_asked_in_the_written_order(guard: str) -> None:
    facts = set(map(tuple, np.random.default_rng(3).integers(0, 40, (150, 2)).tolist()))
    evaluator, scope = evaluator_of(40, facts, [0] + [1] * 39, f"{CHAIN} & {guard}")
    assert evaluator.plan(scope, frozenset()).in_order


TWO_HOPS = """
type P
relation e(P, P)
random s(P)
weight 1: s(x) => s(z) for {}
query s(0)
"""


@pytest.mark.parametrize(
    "scope",
    ["(x, y) in e, (y, z) in e", "(x, y) in e, (w, z) in e if w = y", "x, y, z in P if e(x, y) & e(y, z)"],
)
def test_the_limit_is_on_the_rows_of_the_join(scope: str) -> None:
    """Twenty thousand facts of which each meets two others: no product is in the way."""
    people = np.arange(10_000)
    steps = [np.stack([people, (people + step) % 10_000], axis=1) for step in (1, 2)]
    program = checked(TWO_HOPS.format(scope), P=people, e=np.concatenate(steps))
    assert ground(program, 40_000).rules[0].instances == 40_000
    with pytest.raises(PlxError, match=r"up to 40,000 ground instances.*the limit is 39,999"):
        ground(program, 39_999)


def test_a_join_over_the_limit_on_the_way_is_refused_with_a_bound_that_suffices() -> None:
    """Two hops through a hub are 10^6 rows; a third has at most as many for each as the hub has facts."""
    spokes = np.arange(1, 1001)
    hub = np.zeros(1000, dtype=np.int64)
    facts = np.concatenate([np.stack([spokes, hub], axis=1), np.stack([hub, spokes], axis=1)])
    text = TWO_HOPS.format("(x, y) in e, (y, z) in e, (z, _) in e if x = z")
    program = checked(text, P=np.arange(1001), e=facts)
    with pytest.raises(PlxError) as caught:
        ground(program, 100_000)
    (found,) = caught.value.diagnostics
    assert "line" not in found.message and found.span is not None and found.span.line == 5
    bound = int(found.hint.split("--max-ground ")[1].split("`")[0]) if found.hint else 0
    assert ground(program, bound).graph.n_variables


def test_rows_on_the_way_count_even_where_none_are_left() -> None:
    text = """
    type P = 1..10000
    relation none(P, P) = {}
    random f
    weight 1: f for x, y in P, (x, y) in none
    """
    with pytest.raises(PlxError, match="up to 100,000,000 ground instances"):
        ground(checked(text.replace("(x, y) in none", "(z, _) in none if 1 / (x + y + z) > 0")))
    assert ground(checked(text)).rules[0].instances == 0  # it begins with the facts


def test_what_has_no_value_where_it_is_not_asked_for() -> None:
    """A key that cannot be worked out for every row is a guard again."""
    text = """
    type P = 0..3
    relation e(P, P) = {(0, 1), (1, 2), (2, 3)}
    random b(P)
    weight 1: b(x) & b(y) for x, y in P if x != 0 & y != 0 & 6 / x = 6 / y
    weight 1: b(x) & b(z) for (x, y) in e, z in P if y > 1 & z > 1 & 6 / (y - 1) = 6 / (z - 1)
    query b(0)
    """
    model = plx.compile(text).ground
    assert [rule.factors for rule in model.rules] == [3, 2]


def test_steps_and_their_rows_are_shown() -> None:
    text = """
    type P = {anna, bob, cleo, dan}
    relation friends(P, P) = {(anna, bob), (bob, cleo), (cleo, dan), (dan, dan), (bob, dan)}
    random s(P)
    weight 1: s(x) => s(z) for (x, y) in friends, (y, z) in friends if x != z
    weight 1: s(x) | s(y) for x, y in P if friends(x, y)
    weight 1: s(y) for (anna, y) in friends
    observe s(z) for (bob, y) in friends, (y, z) in friends
    query s(anna)
    """
    rules = plx.compile(text).ground.rules
    assert rules[0].steps == (
        GroundStep("(x, y) in friends", (), 5),
        GroundStep("(y, z) in friends", ("y",), 5),
    )
    assert rules[1].steps == (GroundStep("x in P", (), 4), GroundStep("y in P", ("friends(x, y)",), 5))
    assert rules[2].steps == ()
    assert [step.rows for step in rules[3].steps] == [2, 2]
