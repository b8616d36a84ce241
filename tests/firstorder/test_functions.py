"""Functions whose values are members, without grounding: closed forms, and random programs beside others."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import plx
from plx.firstorder.plan import first_order
from plx.firstorder.refusal import NotLiftableError
from plx.origin import CheckedProgram
from tests.firstorder.comparing import compare, lifted
from tests.firstorder.programs import functions


def log_count(n: int, function: str, rules: str) -> float:
    text = f"type V = v1..v{n}\ntype W = w1..w{n + 2}\nrandom {function}\n{rules}\nquery logz\n"
    plan = lifted(text, 3)
    assert plan is not None
    found = plan.run()[1].log_z
    assert found is not None
    return found


def derangements(n: int) -> int:
    return sum((-1) ** k * math.factorial(n) // math.factorial(k) for k in range(n + 1))


def test_random_programs_agree_with_the_grounded_ones() -> None:
    assert sum(compare(functions(seed)) for seed in range(6)) >= 4


@pytest.mark.parametrize(
    ("rules", "n", "count"),
    [
        ("", 200, 200**200),
        ("require f(x) != x for x in V", 50, 49**50),
        ("require alldifferent(f(x) for x in V)", 40, math.factorial(40)),
        ("require f(x) = f(y) => x = y for x, y in V", 7, 5040),
        ("require f(x) != f(y) for x, y in V if x < y", 7, 5040),
        ("require !(f(x) = f(y) & x != y) for x, y in V", 7, 5040),
        ("require alldifferent(f(x) for x in V)\nrequire f(x) != x for x in V", 60, derangements(60)),
        ("require g(x) != g(y) for x, y in V if x != y", 5, 7 * 6 * 5 * 4 * 3),
        ("require exists(f(x) = y for x in V) for y in V", 6, 720),
        ("require f(x) = y => f(y) = y for x, y in V", 6, 1057),  # idempotent, A000248
        ("require f(x) = y => f(y) = x for x, y in V", 8, 764),  # involutions, A000085
        ("require count(f(x) = x for x in V) = 2", 6, 15 * 5**4),
    ],
)
def test_closed_forms(rules: str, n: int, count: int) -> None:
    function = "g(V): W" if "g(" in rules else "f(V): V"
    assert log_count(n, function, rules) == pytest.approx(math.log(count), rel=1e-13)


def test_weights_of_members_with_an_attribute() -> None:
    """Each member takes one of k that smoke with weight e^w, if it smokes as well."""
    n, w = 60, 0.3
    text = f"""
type V = v1..v{n}
random s(V)
random f(V): V ~ uniform
weight {w}: f(x) = y & s(x) & s(y) for x, y in V
query f(v1)
query (f(v1), s(v1))
query f(v1) = f(v2)
query logz
"""
    result = plx.compile(text).run()
    assert "1 cell" not in result.inference.reason and "not grounded" in result.inference.reason
    terms = [math.comb(n, k) * ((k * math.exp(w) + n - k) / n) ** k for k in range(n + 1)]
    assert result.log_z == pytest.approx(math.log(math.fsum(terms)), rel=1e-13)
    first, joint, same, _ = result.queries
    assert math.fsum(e.p for e in first.estimates) == pytest.approx(1)
    assert first.estimates[0].p > first.estimates[1].p == pytest.approx(first.estimates[n - 1].p)
    assert math.fsum(e.p for e in joint.estimates[1::2]) == pytest.approx(
        math.fsum(k * t for k, t in enumerate(terms)) / n / math.fsum(terms)
    )
    assert 1 / n < same.estimates[1].p < 1.1 / n


def test_facts_and_fractions() -> None:
    text = """
type V = v1..v6
random f(V): V
require alldifferent(f(x) for x in V)
require f(x) != x for x in V
observe f(v1) = v2
query f(v2)
query logz
"""
    plan = lifted(text, 3)
    assert plan is not None
    assert plan.run()[1].answers[0].p.tolist() == pytest.approx([9 / 53, 0, *[11 / 53] * 4])
    result = plx.run(text, exact_rationals=True)
    assert "not grounded" in result.inference.reason
    assert result.z == 53 and result.queries[0].estimates[2].exact == Fraction(11, 53)


def test_the_values_of_all_that_are_not_listed() -> None:
    assert compare("""
type V = v1..v4
random s(V)
random f(V): V
weight 0.5: f(x) = y & s(x) & s(y) for x, y in V
observe f(x) = v1 for x in V if x != v2
query f(v2)
query s(x) for x in V
""")


def test_functions_of_members_and_others() -> None:
    assert compare("""
type V = {a, b, c}
type K = {k, l}
random s(V)
random boss(V, K): V
random head: V
weight 0.4: boss(x, i) = y & s(y) for x, y in V, i in K
require boss(x, k) != x for x in V
weight -1: head = x & s(x) for x in V
query boss(a, k)
query (head, s(b))
""")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("weight 1: f(x) = f(y) for x, y in V if x < y", "more than two members: `x`, `y`, `f(x)`"),
        ("weight 1: f(x) = y & f(y) = z for x, y, z in V", "more than two members: `x`, `y`, `z`"),
        ("random h(x: V) ~ 0.2 + 0.5 * (f(x) in {v1, v2})", "depends on values that are members"),
        ("query count(f(x) = v1 for x in V)", "counts what several members share"),
    ],
)
def test_refusals_name_what_stands_in_the_way(rule: str, words: str) -> None:
    origin = plx.compile(f"type V = v1..v9\nrandom f(V): V\n{rule}\nquery f(v1)\n").origin
    assert isinstance(origin, CheckedProgram)
    refusal = first_order(origin.program)
    assert isinstance(refusal, NotLiftableError)
    assert words in refusal.words


def test_worlds_are_drawn_on_the_factor_graph() -> None:
    text = "type V = v1..v3\nrandom f(V): V\nrequire alldifferent(f(x) for x in V)\nquery f(v1)\n"
    drawn = plx.compile(text).sample(20, seed=1)
    assert set(drawn["f(v1)"]) == {"v1", "v2", "v3"}
