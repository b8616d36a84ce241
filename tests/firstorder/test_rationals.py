"""Exact rationals: sequences of integers, and the same answers as in doubles."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import plx
from plx.cli.commands import app
from plx.errors import CallError, PlxError
from plx.firstorder.exact.answers import ExactPlan
from plx.firstorder.refusal import NotLiftableError
from plx.infer.exact.rationals import rationals
from plx.infer.infer import infer
from plx.infer.problem import Problem
from plx.weights import NotRationalError, exponential, parse
from tests.firstorder import programs
from tests.firstorder.comparing import lifted

GRAPHS = """
type V = v1..v{n}
random edge(x: V, y: V) if x != y
require edge(x, y) => edge(y, x) for x, y in V if x != y
"""

COUNTS = {
    # A006129, A002829, A006125 shifted, A000166, and colourings of graphs
    "no isolated vertex": (
        "require exists(edge(x, y) for y in V if y != x) for x in V",
        {5: 768, 20: 1569215572908922308521995363961205592532386450494198274313},
    ),
    "3-regular": (
        "require count(edge(x, y) for y in V if y != x) = 3 for x in V",
        {8: 19355, 10: 11180820, 20: 976273961160363172131825},
    ),
    "even degrees": ("require count(edge(x, y) for y in V if y != x) % 2 = 0 for x in V", {5: 64, 9: 2**28}),
    "four colours": (
        "random c(V): 1..4\nrequire edge(x, y) => c(x) != c(y) for x, y in V if x != y",
        {7: 1613235460},
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_sequences_of_graphs(name: str) -> None:
    rule, known = COUNTS[name]
    for n, count in known.items():
        result = plx.run(f"{GRAPHS.format(n=n)}{rule}\nquery logz\n", exact_rationals=True)
        assert result.z == count == result.queries[0].z
        assert result.log_z == pytest.approx(math.log(count), rel=1e-12)


def test_derangements() -> None:
    """A000166; the share of those that exchange the first two."""
    text = """
type V = v1..v6
random f(V, V)
require count(f(x, y) for y in V) = 1 for x in V
require count(f(y, x) for y in V) = 1 for x in V
require !f(x, x) for x in V
query f(v1, v2)
query (f(v1, v2), f(v2, v1))
"""
    result = plx.run(text, exact_rationals=True)
    assert result.z == 265
    assert [e.exact for e in result.queries[0].estimates] == [Fraction(4, 5), Fraction(1, 5)]
    assert result.queries[1].estimates[-1].exact == Fraction(9, 265)


RATIONAL = ("log(2)", "log(1/3)", "log(3)", "-log(2)", "log(5/4)")


def exactly(text: str) -> bool:
    """Whether a program has exact answers; raises AssertionError where these are not those of doubles."""
    text = text.replace("0.3, else: -1.1", "log(4/3), else: log(1/2)").replace("0.4", "log(3/2)")
    plan = lifted(text)
    if plan is None:
        return False
    try:
        _, right = plan.run()
    except PlxError:
        with pytest.raises((PlxError, NotLiftableError)):
            ExactPlan(plan).run()
        return False
    try:
        model, found = ExactPlan(plan).run()
    except NotLiftableError:
        return False
    assert found.z is not None
    assert math.log(found.z.numerator) - math.log(found.z.denominator) == pytest.approx(right.log_z, abs=1e-9)
    for query, answer in zip(model.queries, found.answers, strict=True):
        if query.targets:
            np.testing.assert_allclose([float(share) for share in answer.ratios], answer.p, atol=1e-10)
    return True


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_have_the_answers_of_doubles(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "WEIGHTS", RATIONAL)
    text = programs.program(seed, counting=seed % 2 == 0)
    exactly("\n".join(line for line in text.splitlines() if "count(f(x) for x in P)\n" not in f"{line}\n"))


def rational(text: str) -> str:
    """A program with logs of rational numbers for its other weights, and the last five of its queries."""
    *lines, a, b, c, d, e = text.splitlines()
    text = "\n".join([line for line in lines if not line.startswith("query")] + [a, b, c, d, e])
    return text.replace("weight 0.7:", "weight log(3):").replace("weight 1:", "weight log(2):").replace(
        "weight 0.3 *", "weight log(2) *"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "seed"),
    [
        (programs.linked, 2), (programs.ordered, 2), (programs.ordered, 3), (programs.pair_counts, 3),
        (programs.successors, 1), (programs.successors, 2),
    ],
)  # fmt: skip
def test_evidence_on_pairs_orders_neighbours_and_counts_of_pairs(
    make: Callable[[int], str], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "WEIGHTS", RATIONAL)
    assert exactly(rational(make(seed)))


@pytest.mark.parametrize("n", [7, 40])
def test_graphs_of_so_many_edges(n: int) -> None:
    text = f"type V = v1..v{n}\nrandom e(x: V, y: V) if x < y\nquery logz\nquery e(v1, v2)\n"
    pairs = math.comb(n, 2)
    for k in (0, 3, pairs // 2):
        rule = f"require count(e(x, y) for x, y in V if x < y) = {k}\n"
        result = plx.run(text + rule, method="exact", exact_rationals=True)
        assert result.z == math.comb(pairs, k)
        assert result.queries[1].estimates[1].exact == Fraction(k, pairs)


def test_numbers_of_pairs_with_members_by_themselves() -> None:
    text = "type V = v1..v5\nrandom e(V, V)\nrequire count(e(x, y) for x, y in V) % 3 = 1\n"
    counts = plx.run(f"{text}query count(e(x, y) for x, y in V)\n", exact_rationals=True)
    assert counts.z == sum(math.comb(25, k) for k in range(1, 26, 3))
    assert counts.queries[0].estimates[4].exact == Fraction(math.comb(25, 4), counts.z)


def test_no_two_neighbours_and_two_ends() -> None:
    """Fibonacci numbers; where the heads end and the tails begin."""
    n, ways = 60, [1, 2]
    while len(ways) <= n:
        ways.append(ways[-1] + ways[-2])
    text = f"type P = 1..{n}\nrandom f(P)\nrequire !(f(x) & f(y)) for x, y in P if y = x + 1\n"
    result = plx.run(f"{text}query logz\nquery f(1)\n", method="exact", exact_rationals=True)
    assert result.z == ways[n]
    assert result.queries[1].estimates[1].exact == Fraction(ways[n - 2], ways[n])
    text = """
type P = p1..p20
random head(P)
random tail(P)
require !(head(x) & tail(x)) for x in P
require head(y) => head(x) for x, y in P if x < y
require tail(x) => tail(y) for x, y in P if x < y
require count(head(x) for x in P) <= 2
query logz
"""
    assert plx.run(text, method="exact", exact_rationals=True).z == 21 + 20 + 19


@pytest.mark.parametrize("seed", range(3))
def test_few_worlds_have_the_answers_of_doubles(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "WEIGHTS", ("log(2)", "log(1/3)", "log(3)"))
    text = programs.program(seed)
    text = text.replace("0.3, else: -1.1", "log(4/3), else: log(1/2)").replace(
        "factor 0.4", "factor log(3/2)"
    )
    text = "\n".join(line for line in text.splitlines() if "given" not in line)
    ground = plx.compile(text).ground
    try:
        right = infer(ground, "exact")
    except PlxError:
        assert rationals(Problem(ground)) == (0, [])
        return
    z, found = rationals(Problem(ground))
    assert math.log(z) == pytest.approx(right.log_z, abs=1e-9)
    for answer, shares in zip(right.answers, found, strict=True):
        if len(answer.p):
            np.testing.assert_allclose([float(share) for share in shares], answer.p, atol=1e-10)


SMALL = """
type P = {anna, bob}
random smokes(P)
random colour(P): {red, green, blue}
weight log(3): smokes(x) for x in P
require colour(anna) != colour(bob)
query smokes(anna)
query colour(anna) given colour(bob) = red
query logz
"""


def test_fractions_are_printed_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "small.plx"
    path.write_text(SMALL)
    printed = CliRunner().invoke(app, ["run", str(path), "--exact-rationals"]).output
    assert "3/4" in printed and "1/2" in printed and "96" in printed
    out = tmp_path / "out.json"
    CliRunner().invoke(app, ["run", str(path), "--exact-rationals", "-o", str(out)])
    assert json.loads(out.read_text())["z"] == "96"
    result = plx.compile(SMALL).run(exact_rationals=True)
    colours = [estimate.exact for estimate in result.queries[1].estimates]
    assert colours == [0, Fraction(1, 2), Fraction(1, 2)]
    loaded = plx.Result.load(out)
    assert loaded.z == 96 and loaded.queries[0].estimates[1].exact == Fraction(3, 4)


def test_what_is_no_rational_is_refused_in_words() -> None:
    with pytest.raises(PlxError, match=r"logs of rational numbers, and 0\.5 is none") as refused:
        plx.run(SMALL.replace("log(3)", "0.5"), exact_rationals=True)
    assert refused.value.diagnostics[0].span is not None
    with pytest.raises(PlxError, match=r"and 1 is none"):
        plx.run(
            "type V = v1..v30\nrandom s(V)\nweight 1: s(x) for x in V\nquery logz\n", exact_rationals=True
        )
    with pytest.raises(CallError, match="not sampled"):
        plx.run(SMALL, method="gibbs", exact_rationals=True)
    chain = "random s(0..30)\nweight log(2): s(i) & s(i + 1) for i in 0..29\nquery logz\n"
    with pytest.raises(PlxError, match="out of reach: there are more than 262,144 worlds"):
        plx.run(chain, exact_rationals=True)


def test_exponentials_of_exact_numbers() -> None:
    from plx.weights import add, log, log_sum_exp, mul

    three = log(parse("3"))
    assert exponential(three) == 3 and exponential(mul(three, -2)) == Fraction(1, 9)
    assert exponential(log_sum_exp([three, log(parse("0.5"))])) == Fraction(7, 2)
    for number in (parse("1"), mul(three, Fraction(1, 2)), add(three, 1)):
        with pytest.raises(NotRationalError):
            exponential(number)
