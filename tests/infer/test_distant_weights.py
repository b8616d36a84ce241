"""Weights of every size beside one another: right answers, or a refusal in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plx
from plx.infer.exact.elimination import solve
from plx.infer.hard.distant import without_distant

NAMES = "abcd"
SIZES = [
    "1",
    "0.3",
    "-2",
    "1e5",
    "-1e9",
    "1e12",
    "1e12+0.3",
    "1e16",
    "1e16+1",
    "-1e16",
    "-3e16",
    "1e40",
    "1e308",
]

Rule = tuple[str, tuple[str, ...], tuple[bool, ...]]
"""The text of a weight, and the unknowns with the values that it is for."""


@st.composite
def rules(draw: st.DrawFn) -> list[Rule]:
    found = []
    for _ in range(draw(st.integers(1, 6))):
        names = tuple(draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)))
        found.append((draw(st.sampled_from(SIZES)), names, tuple(draw(st.booleans()) for _ in names)))
    return found


def text(found: list[Rule]) -> str:
    lines = [f"random {name}" for name in NAMES]
    for size, names, values in found:
        literals = [name if value else f"!{name}" for name, value in zip(names, values, strict=True)]
        lines.append(f"weight {size}: {' & '.join(literals)}")
    return "\n".join([*lines, *(f"query {name}" for name in NAMES)])


def number(size: str) -> Fraction:
    return sum((Fraction(part) for part in size.split("+")), Fraction(0))


def worlds(found: list[Rule]) -> Iterator[tuple[dict[str, bool], Fraction]]:
    for values in product((False, True), repeat=len(NAMES)):
        world = dict(zip(NAMES, values, strict=True))
        kept = (
            s for s, names, wanted in found if all(world[n] == w for n, w in zip(names, wanted, strict=True))
        )
        yield world, sum(map(number, kept), Fraction(0))


def probabilities(found: list[Rule]) -> dict[str, float]:
    """Exact differences of log weights, and only then doubles."""
    table = list(worlds(found))
    best = max(weight for _, weight in table)
    relative = [math.exp(max(-1000.0, float(max(Fraction(-1000), w - best)))) for _, w in table]
    total = math.fsum(relative)
    return {
        name: math.fsum(p for (world, _), p in zip(table, relative, strict=True) if world[name]) / total
        for name in NAMES
    }


def frustration(found: list[Rule]) -> Fraction:
    """How far the best world is below the sum of the largest log weight of each set of unknowns."""
    most = Fraction(0)
    for scope in {frozenset(names) for _, names, _ in found}:
        mine = [rule for rule in found if frozenset(rule[1]) == scope]
        most += max(weight for _, weight in worlds(mine))
    return most - max(weight for _, weight in worlds(found))


@settings(max_examples=120, deadline=None)
@given(rules())
def test_any_weights_beside_one_another(found: list[Rule]) -> None:
    model = plx.compile(text(found))
    try:
        result = model.run(method="exact")
    except plx.PlxError as refusal:
        assert frustration(found) > 1 << 20, refusal
        assert "contradict one another" in str(refusal) and "weight" in str(refusal)
        return
    expected = probabilities(found)
    for name in NAMES:
        assert result[name].probability == pytest.approx(expected[name], abs=1e-6)
    eliminated = solve(without_distant(model.ground))
    for name, answer in zip(NAMES, eliminated.answers, strict=True):
        assert answer.p[-1] == pytest.approx(expected[name], abs=1e-6)


ABSORBED = "random f\nrandom h\nweight 1e16: f\nweight 1: f <=> h\nquery h"
TWICE = "random a\nrandom b\nrequire a | b\nweight 1e308: a\nweight 1e308: a\nweight 1: a => b\nquery b"
REQUIRED = "random a\nrandom b\nrequire a\nweight -1e308: a\nweight -1e308: a\nweight 1: a & b\nquery b"
CASES = [ABSORBED, TWICE, REQUIRED, ABSORBED.replace("1e16", "1e16 + 0.25")]


@pytest.mark.parametrize("program", CASES)
def test_exact_ways(program: str) -> None:
    assert plx.run(program)[0].probability == pytest.approx(math.e / (1 + math.e), abs=1e-12)


@pytest.mark.parametrize("method", ["gibbs", "lifted", "mcsat", "orbital", "vv", "nec"])
def test_samplers(method: str) -> None:
    for program in CASES[:3]:
        found = plx.run(program, method=method, seed=1, samples=16_000)[0]
        assert found.probability == pytest.approx(math.e / (1 + math.e), abs=0.02)


def test_counting() -> None:
    """Thirty people, all of whom a large weight wants the same; the small one decides which."""
    program = (
        "type T = 1..30\nrandom f(T)\nweight 1e16: f(x) <=> f(y) for x, y in T\n"
        "weight 0.01: f(x) for x in T\nquery f(1)"
    )
    assert plx.run(program, method="exact")[0].probability == pytest.approx(
        1 / (1 + math.exp(-0.3)), abs=1e-9
    )


def test_conditions_on_what_a_large_weight_rules_out() -> None:
    found = plx.run(ABSORBED + " given !f\nquery h given f")
    assert found[0].probability == pytest.approx(1 / (1 + math.e), abs=1e-12)
    assert found[1].probability == pytest.approx(math.e / (1 + math.e), abs=1e-12)


def test_best_worlds() -> None:
    found = plx.run(ABSORBED.replace("query h", "query map 3"))
    assert [world.assignment for world in found[0].worlds] == [
        {"f": True, "h": True},
        {"f": True, "h": False},
    ]
    assert any("left out" in note for note in found.notes)


@pytest.mark.parametrize("asked", ["logz", "map"])
def test_log_weights_past_the_range_of_doubles_are_refused(asked: str) -> None:
    program = f"random a\nweight 1e308: a\nweight 1e308: a\nquery {asked}\nquery a"
    with pytest.raises(plx.PlxError, match="past the range of doubles"):
        plx.run(program)
    found = plx.run(program.replace(f"query {asked}", ""))
    assert found.log_z is None and found[0].probability == 1.0


def test_rules_that_contradict_one_another_are_named() -> None:
    program = "random a\nrandom b\nweight 1e16: a <=> b\nweight 2e16: a xor b\n"
    plx.run(program + "query a")  # over one set of unknowns: added exactly
    with pytest.raises(
        plx.PlxError, match=r"(?s)contradict one another.*1e16: a.*1e16: b.*hint: state what must"
    ):
        plx.run("random a\nrandom b\nweight 1e16: a\nweight 1e16: b\nweight 1e16: !(a & b)\nquery a")
