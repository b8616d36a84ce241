"""Answers without grounding: against the grounded program, closed forms, and what is refused."""

from __future__ import annotations

import math

import pytest

import plx
from plx.errors import PlxError
from plx.firstorder.plan import FirstOrderPlan, first_order
from plx.origin import CheckedProgram
from tests.firstorder.comparing import compare, lifted
from tests.firstorder.programs import program

SMOKERS = """
type Person = p1..p{n}
random smokes(Person)
random friends(Person, Person)
weight 1.4 / {n}: smokes(x) for x in Person
weight 1.1 / {n}: friends(x, y) & smokes(x) => smokes(y) for x, y in Person
query smokes(p1)
query friends(p1, p2)
query smokes(p1) given smokes(p2), friends(p2, p1)
"""


def smokers(n: int) -> tuple[float, float]:
    """log Z and the probability that somebody smokes, by the sum over the number of smokers."""
    terms = []
    for k in range(n + 1):
        free, bound = n * n - k * (n - k), k * (n - k)
        log = math.log(math.comb(n, k)) + 1.4 / n * k + free * (1.1 / n + math.log(2))
        terms.append(log + bound * math.log1p(math.exp(1.1 / n)))
    top = max(terms)
    weights = [math.exp(term - top) for term in terms]
    total = math.fsum(weights)
    return top + math.log(total), math.fsum(k * w for k, w in enumerate(weights)) / total / n


def test_random_programs_agree_with_the_grounded_ones() -> None:
    answered = sum(compare(program(seed)) for seed in range(60))
    assert answered >= 50


@pytest.mark.parametrize("n", [150, 1000])
def test_smokers(n: int) -> None:
    result = plx.compile(SMOKERS.format(n=n)).run()
    log_z, p = smokers(n)
    assert result.log_z == pytest.approx(log_z, rel=1e-12)
    assert result[0].estimates[1].p == pytest.approx(p, abs=1e-12)
    assert result.method == "exact"
    assert "nothing was grounded" in result.inference.reason


def test_names_apart_agree_with_counting_on_the_factor_graph() -> None:
    text = SMOKERS.format(n=30) + "observe smokes(p3)\nobserve friends(p1, p4)\nobserve !smokes(p7)\n"
    plan = lifted(text)
    assert plan is not None
    model, found = plan.run()
    grounded = plx.compile(text)
    from plx.infer.infer import infer

    right = infer(grounded.ground, "exact")
    assert found.log_z == pytest.approx(right.log_z, rel=1e-12)
    assert [q.name for q in model.queries] == [q.name for q in grounded.ground.queries]
    for mine, theirs in zip(found.answers[:2], right.answers[:2], strict=True):
        assert mine.p == pytest.approx(theirs.p, abs=1e-11)


def test_colourings() -> None:
    text = """
type V = v1..v100
random red(V)
random e(x: V, y: V) if x < y
require e(x, y) => (red(x) xor red(y)) for x, y in V if x < y
query logz
"""
    terms = [math.log(math.comb(100, k)) + k * (100 - k) * math.log(2) for k in range(101)]
    expected = max(terms) + math.log(math.fsum(math.exp(term - max(terms)) for term in terms))
    result = plx.compile(text).run()
    assert result[0].log_z == pytest.approx(expected, rel=1e-13)


def test_learned_numbers_have_their_values() -> None:
    text = """
type P = p1..p400
learn w = 0.5
random f(P)
random e(P, P)
weight w / 100: f(x) & f(y) for x, y in P
weight w: e(x, y) for x, y in P
observe f(p1)
query e(p1, p2)
"""
    result = plx.compile(text).run()
    assert "nothing was grounded" in result.inference.reason
    assert result[0].estimates[1].p == pytest.approx(1 / (1 + math.exp(-0.5)), abs=1e-12)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("weight 1: e(x, y) & e(y, z) => e(x, z) for x, y, z in P", "more than two elements: `x`, `y`, `z`"),
        ("weight 1: f(x) => f(y) for x, y in P if x < y", "order of members"),
        ("weight 1: exists(e(x, y) & e(y, z) for y, z in P) for x in P", "more than two elements"),
    ],
)
def test_refusals_name_the_rule(rule: str, words: str) -> None:
    text = f"type P = p1..p9\nrandom f(P)\nrandom e(P, P)\n{rule}\nquery f(p1)\n"
    origin = plx.compile(text).origin
    assert isinstance(origin, CheckedProgram)
    refusal = first_order(origin.program)
    assert not isinstance(refusal, FirstOrderPlan)
    assert words in refusal.words
    assert "line 4" in refusal.words or "order" in refusal.words


def test_exact_inference_says_what_stands_in_the_way() -> None:
    text = """
type P = p1..p30
random e(P, P)
weight 1: e(x, y) & e(y, z) => e(x, z) for x, y, z in P
query e(p1, p2)
"""
    with pytest.raises(PlxError, match=r"first-order counting: .* is about more than two elements"):
        plx.compile(text).run(method="exact", seconds=20)


def test_no_world_is_explained() -> None:
    text = """
type P = p1..p300
random f(P)
random e(P, P)
weight 1: e(x, y) & f(x) => f(y) for x, y in P
require f(x) for x in P
require !f(p7)
query f(p1)
"""
    with pytest.raises(PlxError, match="no world"):
        plx.compile(text).run()
