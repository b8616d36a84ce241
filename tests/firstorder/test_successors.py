"""Members next to each other: integers, one of which is the other plus 1."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plx
from plx.answering import first_order_way
from plx.firstorder.plan import FirstOrderPlan, first_order
from tests.compiling import compile_text
from tests.firstorder.comparing import compare, lifted
from tests.firstorder.programs import successors

LINE = "type P = 1..{n}\nrandom f(P)\n"


def plan(text: str) -> FirstOrderPlan:
    found = lifted(text)
    assert found is not None
    return found


def test_random_programs_agree_with_the_grounded_ones() -> None:
    assert sum(compare(successors(seed)) for seed in range(5)) >= 3


@pytest.mark.parametrize(
    "rule",
    [
        "require !(f(x) & f(y)) for x, y in P if y = x + 1",
        "require y - x = 1 => !(f(x) & f(y)) for x, y in P",
        "require !(f(x) & f(x + 1)) for x in P if x < {n}",
        "require !(f(x - 1) & f(x)) for x in P if x > 1",
    ],
)
def test_no_two_neighbours(rule: str) -> None:
    n, ways = 40, [1, 2]
    while len(ways) <= n:
        ways.append(ways[-1] + ways[-2])
    text = LINE.format(n=n) + rule.format(n=n) + "\nquery f(x) for x in P\nquery f(1) & f(3)\n"
    _, found = plan(text + "query count(f(x) for x in P)\n").run()
    assert found.log_z == pytest.approx(math.log(ways[n]), rel=1e-14)
    one = [ways[max(k - 1, 0)] * ways[max(n - k - 2, 0)] / ways[n] for k in range(n)]
    np.testing.assert_allclose([answer.p[1] for answer in found.answers[:n]], one, rtol=1e-12)
    np.testing.assert_allclose(found.answers[n].p[1], ways[n - 4] / ways[n], rtol=1e-12)
    counts = [math.comb(n - k + 1, k) / ways[n] for k in range(n + 1)]
    np.testing.assert_allclose(found.answers[n + 1].p, counts, atol=1e-12)


def test_steps_between_ends_and_an_order() -> None:
    n = 30  # one run of members up to some place, no edge but between neighbours of it
    text = LINE.format(n=n) + "random e(x: P, y: P) if x < y\n"
    text += "require f(y) => f(x) for x, y in P if x < y\nrequire f(1)\nrequire !f({n})\n"
    text += "require e(x, y) => y = x + 1 & f(x) & f(y) for x, y in P if x < y\n"
    _, found = plan(text.format(n=n) + "query count(f(x) for x in P)\nquery e(1, 2)\n").run()
    assert found.log_z == pytest.approx(math.log(2 ** (n - 1) - 1), rel=1e-13)
    weights = [2.0 ** (k - 1) if 0 < k < n else 0.0 for k in range(n + 1)]
    np.testing.assert_allclose(found.answers[0].p, np.array(weights) / sum(weights), atol=1e-13)
    np.testing.assert_allclose(found.answers[1].p[1], (sum(weights) - 1) / 2 / sum(weights), rtol=1e-12)


def test_a_chain_of_distributions() -> None:
    text = "type Day = 0..40\nrandom rain(d: Day) ~ 0.3 if d = 0 else 0.1 + 0.6 * rain(d - 1)\n"
    _, found = plan(text + "query rain(d) for d in Day\nquery rain(0) given rain(2)\n").run()
    p = [0.3]
    while len(p) <= 40:
        p.append(0.1 + 0.6 * p[-1])
    np.testing.assert_allclose([answer.p[1] for answer in found.answers[:41]], p, rtol=1e-12)
    np.testing.assert_allclose(found.answers[41].p[1], 0.3 * (0.1 + 0.6 * 0.7) / p[2], rtol=1e-12)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("weight 1: f(x) & f(y) for x, y in P if y = x + 2", "more than their order"),
        ("weight 1: f(x) & f(y) for x, y in P if x * y = 6", "more than their order"),
        ("weight 1: count(f(y) for y in P if y = x + 1) = 1 for x in P", "next to others"),
        ("weight 1: f(x + 1) & f(x - 1) for x in P if x > 1 & x < 9", "works out a member"),
        ("factor abs(x - y) * f(x) * f(y) for x, y in P", "tells all members apart by `x`"),
    ],
)
def test_what_is_more_than_a_step_is_refused(rule: str, words: str) -> None:
    refusal = first_order(compile_text(LINE.format(n=9) + rule + "\nquery f(1)\n"))
    assert not isinstance(refusal, FirstOrderPlan)
    assert words in refusal.words


def test_the_next_of_very_many_members_is_refused_before_tables_are_made() -> None:
    text = "type D = 1..200000\nrandom r(D)\nweight 1: r(x) & r(y) for x, y in D if y = x + 1\nquery logz\n"
    way = first_order_way(plx.compile(text).origin, None)
    assert way is not None and "about the next of 200,000 members" in way.refusal
