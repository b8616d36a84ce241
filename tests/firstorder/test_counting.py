"""Counts per member, counts of all pairs, evidence on pairs and the order of members, without grounding."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plx
from plx.firstorder.logs import Pairs, log_power
from plx.firstorder.plan import FirstOrderPlan, first_order
from plx.firstorder.polynomials import Ring
from plx.origin import CheckedProgram
from tests.firstorder.comparing import compare, lifted
from tests.firstorder.programs import linked, mutual, ordered, pair_counts

ONE = "require count(p(x, y) for y in V) = 1 for x in V\n"


def log_z(text: str, way: str) -> float:
    """log Z without grounding; ``way`` is said of how it is summed."""
    plan = lifted(text + "query logz\n")
    assert plan is not None
    assert way in plan.reason
    found = plan.run()[1].log_z
    assert found is not None
    return found


@pytest.mark.parametrize("make", [mutual, pair_counts, linked, ordered])
def test_random_programs_agree_with_the_grounded_ones(make: object) -> None:
    assert callable(make)
    assert sum(compare(make(seed)) for seed in range(5)) >= 3


def test_a_state_in_which_no_member_has_a_cell() -> None:
    assert compare("""
type P = {p1, p2, p3}
random z
random f(P)
random e(P, P)
require z | f(x) for x in P
weight -0.5: exists(e(x, y) & e(y, y) for y in P) for x in P
observe !f(p2)
query z
query e(p1, p2)
""")


def test_graphs_without_isolated_vertices() -> None:
    n = 300
    text = f"""
type V = v1..v{n}
random e(x: V, y: V) if x != y
require e(x, y) => e(y, x) for x, y in V if x != y
require exists(e(x, y) for y in V if y != x) for x in V
"""
    every = n * (n - 1) / 2 * math.log(2)  # that a vertex has no edge has a chance of 1e-88
    assert log_z(text, "those with no one first") == pytest.approx(every, rel=1e-14)


def test_rare_edges_do_not_cancel() -> None:
    """Where almost every vertex would be isolated, only perfect matchings are left."""
    n, weight = 40, -60.0
    text = f"""
type V = v1..v{n}
random e(x: V, y: V) if x != y
require e(x, y) => e(y, x) for x, y in V if x != y
weight {weight / 2}: e(x, y) for x, y in V if x != y
require exists(e(x, y) for y in V if y != x) for x in V
"""
    matchings = math.lgamma(n + 1) - math.lgamma(n // 2 + 1) - n / 2 * math.log(2)
    assert log_z(text, "histogram") == pytest.approx(matchings + weight * n / 2, rel=1e-13)


def test_functions_of_many() -> None:
    n = 3_000
    assert log_z(f"type V = v1..v{n}\nrandom p(V, V)\n" + ONE, "histogram") == pytest.approx(
        n * math.log(n), rel=1e-14
    )


def test_exactly_so_many_pairs() -> None:
    """Over the number of smokers, and the number of friends who differ, of 40 people with 30 friendships."""
    n, k = 40, 30
    every = n * (n - 1) // 2
    terms = []
    for s in range(n + 1):
        apart = s * (n - s)
        for d in range(min(k, apart) + 1):
            if k - d <= every - apart:
                ways = math.comb(n, s) * math.comb(apart, d) * math.comb(every - apart, k - d)
                terms.append(math.log(ways) + 1.2 * (every - d))
    text = f"""
type P = p1..p{n}
random smokes(P)
random friends(x: P, y: P) if x < y
weight 1.2: friends(x, y) => (smokes(x) <=> smokes(y)) for x, y in P if x < y
require count(friends(x, y) for x, y in P if x < y) = {k}
"""
    assert log_z(text, "31 terms") == pytest.approx(float(np.logaddexp.reduce(terms)), rel=1e-14)
    plan = lifted(text + "query friends(p3, p7)\n")
    assert plan is not None
    assert plan.run()[1].answers[0].p[1] == pytest.approx(k / every, rel=1e-12)


def test_parity_of_all_pairs() -> None:
    text = "type V = v1..v200\nrandom e(V, V)\nrequire count(e(x, y) for x, y in V) % 2 = 1\n"
    assert log_z(text, "2 terms") == pytest.approx((200 * 200 - 1) * math.log(2), rel=1e-14)


def test_a_long_chain_of_evidence() -> None:
    """Friends of 5,000 people who must agree: all 40 of the chain do, and the rest is free."""
    chain = "".join(f"observe e(p{i}, p{i + 1})\n" for i in range(1, 40))
    text = f"""
type P = p1..p5000
random f(P)
random e(x: P, y: P) if x < y
require e(x, y) => (f(x) <=> f(y)) for x, y in P if x < y
{chain}"""
    logs = []
    for k in range(5000 - 40 + 1):
        for of in (0, 40):
            agree = k + of
            pairs = 5000 * 4999 // 2 - agree * (5000 - agree) - 39
            logs.append(math.lgamma(4961) - math.lgamma(k + 1) - math.lgamma(4961 - k) + pairs * math.log(2))
    assert log_z(text, "39 pairs") == pytest.approx(float(np.logaddexp.reduce(logs)), rel=1e-12)


def test_the_order_of_members() -> None:
    """Whoever comes after one who is done is done: the first of them may be any, or none."""
    text = "type P = p1..p300\nrandom f(P)\nrequire f(x) => f(y) for x, y in P if x < y\n"
    assert log_z(text, "in their order") == pytest.approx(math.log(301), rel=1e-13)
    plan = lifted(text + "query f(p100)\nquery f(p300) given !f(p200)\n")
    assert plan is not None
    found = plan.run()[1].answers
    assert found[0].p[1] == pytest.approx(100 / 301, rel=1e-12)
    assert found[1].p[1] == pytest.approx(100 / 101, rel=1e-12)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("require exists(e(x, y) for y in P) for x in P", "pairs are counted too"),
        ("require count(e(x, y) & f(x) for x, y in P) = 1", "several different"),
        ("require f(x) => f(y) for x, y in P if x < y", "order of members"),
    ],
)
def test_what_is_not_counted_together_is_named(rule: str, words: str) -> None:
    count = "require count(e(x, y) for x, y in P) = 2"
    text = f"type P = p1..p9\nrandom f(P)\nrandom e(P, P)\n{count}\n{rule}\nquery f(p1)\n"
    origin = plx.compile(text).origin
    assert isinstance(origin, CheckedProgram)
    refusal = first_order(origin.program)
    assert not isinstance(refusal, FirstOrderPlan)
    assert words in refusal.words


# ---------------------------------------------------------------------------- in small


def test_powers_of_factors() -> None:
    logs = np.log([2.0, 5.0, 3.0])  # (1 + t)(2 + 3t)
    for ring in (Ring(12, None), Ring(2, 0)):
        constant, shift, factors = ring.factors(logs)
        assert shift == 0
        found = (
            ring.product(dict.fromkeys(factors, 4) if len(set(factors)) == len(factors) else {})
            + 4 * constant
        )
        right = np.ones(1)
        for _ in range(4):
            right = np.convolve(right, np.exp(logs))
        if ring.back is not None:
            right = np.array([right[::2].sum(), right[1::2].sum()])
        np.testing.assert_allclose(np.exp(found)[: len(right)], right, rtol=1e-13)


def test_a_double_root_is_one_factor() -> None:
    ring = Ring(9, None)
    _, _, factors = ring.factors(np.log([1.0, 2.0, 1.0]))
    assert len(set(factors)) == 1
    found = np.exp(ring.product({factors[0]: 8}))
    np.testing.assert_allclose(found, [math.comb(8, k) for k in range(9)], rtol=1e-13)


def test_powers_of_matrices() -> None:
    matrix = np.array([[0.5, 0.25], [0.0, 0.75]])
    with np.errstate(divide="ignore"):
        found = np.exp(log_power(np.log([[1.0, 0.0]] * 2), np.log(matrix), np.array([0, 5])))
    np.testing.assert_allclose(found, [[1.0, 0.0], np.linalg.matrix_power(matrix, 5)[0]], rtol=1e-13)


def test_pairs_within() -> None:
    pairs = Pairs(np.array([[1.0, -np.inf], [-np.inf, 2.0]]))
    counts = np.array([[3, 0], [0, 2], [1, 1]])
    np.testing.assert_allclose(pairs.within(counts), [3.0, 2.0, -np.inf])
