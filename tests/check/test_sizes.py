"""Sets, aggregates and constant arithmetic out of all proportion are refused in time, with their place."""

from __future__ import annotations

import time

import pytest

import plx
from plx.check import fixed
from plx.ground import sets

SETS = [
    "type Below(n: Level) = 0..n\nrandom x(n: Level): Below(n)",
    "type Below(n: Level) = 0..n | {-1}\nrandom x(n: Level): Below(n)",
    "relation r(n: Level, k: 0..n) = k = 0\nrandom x",
    "param p(n: Level, k: 0..n) = {else: 1}\nrandom x(n: Level): 0..p(n, 0) + n",
]

AGGREGATES = [
    "param p = count(i = j for i, j in Level)",
    "param p = sum(i * j for i, j in Level)",
    "relation r(n: Level) = exists(i + j < n for i, j in Level)",
]

NUMBERS = [
    "exp(1000000)",
    "exp(exp(exp(exp(2))))",
    "10^(10^9)",
    "2^2^2^2^2^2^2",
    "2^(10^9 + 1/2)",
    "sqrt(2)^(10^9)",
    "exp(1)^(10^6)",
    "(1/3)^(10^6)",
    "10^50000 * 10^50000",
    "sum(1 / (i*i + 1) for i in 1..30000)",
    "sqrt(10^50000 + 1)",
    "(10^50000 + 1)^(1/3)",
    "(1 + log(2))^10000",
    "1e60000",
    "1" * 5000,
]


def refused(text: str) -> plx.PlxError:
    """The refusal, within seconds of processor time, with a place and without digits by the thousand."""
    begin = time.process_time()
    with pytest.raises(plx.PlxError) as error:
        plx.compile(text).run(method="exact")
    assert time.process_time() - begin < 60
    assert all(found.span for found in error.value.diagnostics)
    assert len(str(error.value)) < 2000
    return error.value


@pytest.mark.parametrize("statements", SETS)
def test_sets(statements: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "MOST_MEMBERS", 1_000_000)
    found = refused(f"type Level = 0..65535\n{statements}\nquery logz")
    assert "members in all" in str(found) or "indexes" in str(found)


@pytest.mark.parametrize("statement", AGGREGATES)
def test_fixed_aggregates(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed, "MOST_INSTANCES", 50_000)
    assert "fixed instances" in str(refused(f"type Level = 0..9999\n{statement}\nrandom x\nquery x"))


def test_fixed_aggregates_inside_rules() -> None:
    program = "type Level = 0..9999\nrandom x\nweight 1: x & forall(i + j > 0 for i, j in Level)\nquery x"
    assert "fixed instances" in str(refused(program))


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:20])
def test_numbers(number: str) -> None:
    assert refused(f"random a\nweight {number}: a\nquery a").diagnostics[0].span.line == 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("log(10^50000) / 100000", 1.151292546497),
        ("exp(-200) * 10^87", 1.383896526736),
        ("10^50000 - 10^50000 + 1/2", 0.5),
        ("(10^50000 + 1) % 7 / 8", 0.375),
        ("log(2) / 1000000000000000003 * 10^18", 0.693147180560),
        ("exp(100000) * exp(-100000)", 1.0),
        ("(1 + sqrt(2))^100 / 10^38", 1.894822502992),
        ("sum(1/i for i in 1..5000)", 9.094508852984),
    ],
)
def test_large_numbers_on_the_way_to_small_ones(number: str, value: float) -> None:
    found = plx.run(f"random a: 0..1\nquery {number} * a")[0]
    assert found.mean == pytest.approx(value / 2, rel=1e-11)
