"""Worlds drawn without grounding, against exact answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plx
from plx.errors import PlxError
from plx.firstorder.draws import draw_worlds
from plx.firstorder.plan import FirstOrderPlan
from plx.firstorder.refusal import NotLiftableError
from plx.values import IntArray
from tests.firstorder.comparing import lifted
from tests.firstorder.programs import functions, linked, mutual, ordered, pair_counts, program, successors

WORLDS = 2000
UNLIKELY = 14.5
"""-log of how likely a share is to be outside of its bound, twice that for both sides: once in a million."""

VOTERS = """
type P = p1..p14
random s(P)
random e(x: P, y: P) if x != y
param w(P) = {p1: 0.3, p2: -0.7, p3: 1.1, p4: 0.2, p5: -0.4, p6: 0.9, p7: 0.5, p8: -1.2, else: 0.1}
weight w(x): s(x) for x in P
weight 0.4: e(x, y) & s(x) => s(y) for x, y in P if x != y
weight 0.1: s(x) & s(y) for x, y in P if x < y
weight 0.5: count(s(x) for x in P) = 6
observe s(p9)
query s(x) for x in P
query e(p1, x) for x in P if x != p1
query (s(p1), s(p2), e(p1, p2))
query count(s(x) for x in P)
query count(s(x) for x in P) >= 7
"""

DEGREES = """
type V = v1..v{n}
random e(x: V, y: V) if x != y
require e(x, y) => e(y, x) for x, y in V if x != y
require count(e(x, y) for y in V if y != x) = {degree} for x in V
query e(x, y) for x, y in V if x < y
"""

EDGES = """
type V = v1..v{n}
random e(x: V, y: V) if x < y
require count(e(x, y) for x, y in V if x < y) {rule}
query e(x, y) for x, y in V if x < y
"""

DERANGEMENTS = """
type V = v1..v5
random f(V): V
require alldifferent(f(x) for x in V)
require f(x) != x for x in V
"""

MUTUAL = """
type P = p1..p30
random g(P): {red, green, blue}
random e(x: P, y: P) if x != y
weight 2: g(x) = red for x in P
require e(x, y) => e(y, x) for x, y in P if x != y
require e(x, y) => g(x) != g(y) for x, y in P if x != y
require count(g(x) = blue for x in P) = 4
query e(x, y) for x, y in P if x != y
query g(x) for x in P
"""


def drawn(text: str, count: int = WORLDS, seed: int = 1) -> dict[str, tuple[IntArray, ...]] | None:
    """The value ids of every instance of the queries without ``given``, by name; None where it is refused."""
    plan = lifted(text)
    try:
        return None if plan is None else values(plan, count, seed)
    except NotLiftableError:
        return None


def values(plan: FirstOrderPlan, count: int, seed: int) -> dict[str, tuple[IntArray, ...]]:
    worlds, asked = draw_worlds(plan, count, np.random.default_rng(seed))
    found = {}
    answers = worlds.answers([query.targets for query in asked])
    for query, answer in zip(asked, answers, strict=True):
        cards = [len(target.labels) for target in query.targets if target.node >= 0]
        assert answer.states is not None
        codes = iter(np.unravel_index(answer.states[0], cards) if cards else ())
        found[query.name] = tuple(
            target.labels[next(codes)] if target.node >= 0 else np.repeat(target.labels, count)
            for target in query.targets
        )
    return found


def farthest(text: str, seed: int) -> tuple[int, float]:
    """How many shares are compared with their probabilities, and the largest difference, Bernstein's bound
    being 1."""
    plan = lifted(text)
    if plan is None:
        return 0, 0.0
    try:
        model, exact = plan.run()
        found = values(plan, WORLDS, seed)
    except (NotLiftableError, PlxError):
        return 0, 0.0
    shares, off = 0, 0.0
    for query, answer in zip(model.queries, exact.answers, strict=True):
        if query.name not in found or not query.targets:
            continue
        labels = itertools.product(*(target.labels.tolist() for target in query.targets))
        for combination, p in zip(labels, answer.p.tolist(), strict=True):
            columns = zip(found[query.name], combination, strict=True)
            share = np.all([ids == value for ids, value in columns], axis=0).mean()
            spread = max(p * (1 - p), 0.0)
            bound = np.sqrt(2 * spread * UNLIKELY / WORLDS) + (
                UNLIKELY / (3 * WORLDS) if spread > 1e-9 else 1e-9
            )
            shares += 1
            off = max(off, abs(share - p) / bound)
    return shares, off


def test_draws_of_random_programs_have_their_probabilities() -> None:
    found = [farthest(program(seed), seed) for seed in range(11)]
    assert sum(shares for shares, _ in found) > 80
    assert max(off for _, off in found) < 1


def test_draws_beside_evidence_on_pairs_and_orders() -> None:
    texts = [linked(seed, most=1).replace("p1..p3", "p1..p5") for seed in range(7)]
    found = [farthest(text, 1) for text in texts if "p1..p5" in text and "x < y" not in text]
    assert sum(shares for shares, _ in found) > 40
    assert max(off for _, off in found) < 1
    found = [farthest(text, 1) for text in (ordered(0), ordered(1), successors(1), successors(2))]
    assert sum(shares for shares, _ in found) > 60
    assert max(off for _, off in found) < 1


def test_draws_where_pairs_are_counted() -> None:
    found = [farthest(pair_counts(seed), 1) for seed in (2, 4, 9, 11, 17)]
    assert sum(shares for shares, _ in found) > 50
    assert max(off for _, off in found) < 1


def test_graphs_of_so_many_edges_are_as_likely_as_each_other() -> None:
    """The 120 graphs of 3 edges on 5 vertices, with Pearson's statistic; and a parity in a larger one."""
    found = drawn(EDGES.format(n=5, rule="= 3"), 6000)
    assert found is not None
    pairs = [found[f"e(v{x}, v{y})"][0] for x in range(1, 6) for y in range(x + 1, 6)]
    _, counts = np.unique(np.stack(pairs), axis=1, return_counts=True)
    assert len(counts) == 120
    assert ((counts - 50) ** 2 / 50).sum() < 196  # of 119 degrees of freedom; once in 100,000
    worlds = drawn(EDGES.format(n=12, rule="% 3 = 1"), 100)
    assert worlds is not None
    edges = sum(worlds[f"e(v{x}, v{y})"][0] for x in range(1, 13) for y in range(x + 1, 13))
    assert set(edges % 3) == {1} and len(set(edges)) > 3


def test_draws_where_members_have_weights_of_their_own() -> None:
    shares, off = farthest(VOTERS, 3)
    assert shares > 70 and off < 1


def test_draws_where_members_count_each_other() -> None:
    texts = [program(seed, counting=True) for seed in (0, 1, 2, 4)] + [mutual(1)]
    found = [farthest(text, 1) for text in texts]
    assert sum(shares for shares, _ in found) > 25
    assert max(off for _, off in found) < 1


def test_graphs_with_degrees_are_as_likely_as_each_other() -> None:
    """The 12 circles of five vertices, with Pearson's statistic; and degrees of larger graphs."""
    found = drawn(DEGREES.format(n=5, degree=2), 3000)
    assert found is not None
    pairs = [found[f"e(v{x}, v{y})"][0] for x in range(1, 6) for y in range(x + 1, 6)]
    _, counts = np.unique(np.stack(pairs), axis=1, return_counts=True)
    assert len(counts) == 12
    assert ((counts - 250) ** 2 / 250).sum() < 42  # of 11 degrees of freedom; once in 60,000
    worlds = drawn(DEGREES.format(n=12, degree=3), 100)
    assert worlds is not None
    degrees = np.zeros((100, 13), dtype=np.int64)
    for x in range(1, 13):
        for y in range(x + 1, 13):
            for end in (x, y):
                degrees[:, end] += worlds[f"e(v{x}, v{y})"][0]
    assert (degrees[:, 1:] == 3).all()


def test_draws_of_functions_whose_values_are_members() -> None:
    found = [farthest(functions(seed), 1) for seed in (2, 4, 5, 10)]
    assert sum(shares for shares, _ in found) > 60
    assert max(off for _, off in found) < 1


def test_derangements_are_as_likely_as_each_other() -> None:
    """The 44 derangements of five, with Pearson's statistic; and of all unknowns one that is observed."""
    found = drawn(DERANGEMENTS + "query f(x) for x in V\n", 4400)
    assert found is not None
    _, counts = np.unique(np.stack([ids for (ids,) in found.values()]), axis=1, return_counts=True)
    assert len(counts) == 44
    assert ((counts - 100) ** 2 / 100).sum() < 91  # of 43 degrees of freedom; once in 40,000
    plan = lifted(DERANGEMENTS + "observe f(v2) = v3\n")
    assert plan is not None
    worlds, _ = draw_worlds(plan, 3, np.random.default_rng(1))
    atoms = worlds.model(()).atoms
    known = {atoms.name(i): int(atoms.fixed[i]) for i in np.flatnonzero(atoms.node < 0).tolist()}
    assert [name for name in known if name.startswith("f(")] == ["f(v2)"]
    assert worlds.model(()).values[known["f(v2)"]] == "v3"


def test_what_must_hold_holds_in_every_world() -> None:
    found = drawn(MUTUAL, count=50)
    assert found is not None
    people = range(1, 31)
    blue = 0
    for x in people:
        for y in range(1, x):
            (edge,), (back,) = found[f"e(p{x}, p{y})"], found[f"e(p{y}, p{x})"]
            assert (edge == back).all()
            same = found[f"g(p{x})"][0] == found[f"g(p{y})"][0]
            assert not (same & (edge == 1)).any()
    colours = np.stack([found[f"g(p{x})"][0] for x in people])
    blue = [(colours == value).sum(axis=0) for value in np.unique(colours)]
    assert any((count == 4).all() for count in blue)


def test_a_seed_draws_the_same_worlds_again() -> None:
    first, again, other = (drawn(VOTERS, 20, seed) for seed in (5, 5, 6))
    assert first is not None and again is not None and other is not None
    assert all((a[0] == again[name][0]).all() for name, a in first.items())
    assert any((a[0] != other[name][0]).any() for name, a in first.items())


@pytest.mark.parametrize("people", [2, 5_000])
def test_draws_of_many(people: int) -> None:
    """The smokers among 5,000 of whom each smokes with probability 3/4: their number is binomial."""
    text = f"""
type P = p1..p{people}
type Q = q1..q3
random s(P)
random t(Q)
weight log(3): s(x) for x in P
query s(p1)
query count(s(x) for x in P)
"""
    plan = lifted(text, least=2)
    assert plan is not None
    found = values(plan, 200, 1)
    (ids,) = found["count(s(x) for x in P)"]
    program_values = plan.answers.base.rules.evaluator.values
    count = program_values.floats(ids)
    assert abs(count.mean() - 0.75 * people) < 5 * np.sqrt(people * 3 / 16 / 200)
    assert 0.5 < count.var() / (people * 3 / 16) < 2.0


def test_time_that_is_over_is_said() -> None:
    voters = plx.compile(VOTERS.replace("p1..p14", "p1..p600"))
    with pytest.raises(PlxError, match="no worlds were drawn within 0 seconds"):
        voters.sample(5, seconds=0)


def test_draws_given_what_all_queries_are_given() -> None:
    """Where all queries are given the same, which names members and a pair, worlds are drawn given it."""
    text = """
type P = p1..p300
random s(P)
random e(P, P)
weight 1: s(x) for x in P
require e(x, y) & s(x) => s(y) for x, y in P
weight -9: e(x, y) for x, y in P
"""
    given = "given e(p1, p2), s(p1), !s(p3)"
    asked = f"query s(p2) {given}\nquery s(x) for x in P if x != p2 {given}\n"
    worlds = plx.compile(text + asked).sample(200, seed=1)
    assert "not grounded" in worlds.reason
    assert worlds[f"s(p1) {given}"].all() and worlds[f"s(p2) {given}"].all()
    assert not worlds[f"s(p3) {given}"].any()
    assert 0.6 < worlds[f"s(p4) {given}"].mean() < 0.85
    with pytest.raises(PlxError, match="the given of line 8 has probability 0"):
        plx.compile(f"{text}query s(p4) given e(p1, p2) & s(p1) & !s(p2)\n").sample(5, seed=1)
