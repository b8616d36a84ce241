"""Tables without rows, from the program or from outside, over slots of which one depends on another."""

from __future__ import annotations

import math

import pytest

import plx

HEAD = "type T = {a, b}\ntype F(T) = {a: {0}, b: {0, 1}}\ntype G(x: T, k: F(x)) = {else: {p}}\nrandom f\n"
SLOTS = ["(x: T, k: F(x))", "(x: T, k: F(x), y: G(x, k))", "(x: T, k: {0, 1} | F(x))"]
ENDS = {SLOTS[0]: "(b, 1)", SLOTS[1]: "(b, 1, p)", SLOTS[2]: "(b, 1)"}


def probability(text: str, **given: object) -> float:
    return plx.run(HEAD + text + "\nquery f", **given)[0].probability


@pytest.mark.parametrize("slots", SLOTS)
def test_in_a_program(slots: str) -> None:
    at = ENDS[slots]
    assert probability(f"param h{slots} = {{else: 1}}\nweight h{at}: f") == pytest.approx(
        math.e / (math.e + 1), abs=1e-12
    )
    assert probability(f"relation r{slots} = {{}}\nweight 1: f & r{at}") == 0.5


@pytest.mark.parametrize("nothing", [[], {}], ids=["list", "dict"])
@pytest.mark.parametrize("slots", SLOTS)
def test_from_the_caller(slots: str, nothing: object) -> None:
    at = ENDS[slots]
    assert probability(f"relation r{slots}\nweight 1: f & r{at}", r=nothing) == 0.5
    observed = probability(f"random r{slots}\nweight 1: f & r{at}", r=nothing)
    assert observed == pytest.approx((1 + math.e) / (3 + math.e), abs=1e-12)
    with pytest.raises(plx.PlxError, match="has no entry for a, 0"):
        probability(f"param h{slots}\nweight h{at}: f", h=nothing)


def test_a_slot_without_members_at_every_index() -> None:
    program = (
        "type T = {a, b}\ntype E(T) = {a: {}, b: {0}}\nrandom x(t: T, k: E(t), j: 0..k) if t = a\nrandom f\n"
    )
    assert plx.run(program + "relation r(t: {a}, k: E(t), j: 0..k) = k < j\nquery f")[0].probability == 0.5
