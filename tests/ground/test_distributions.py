"""Conditional distributions as factors, and what is said of wrong ones."""

from __future__ import annotations

import math

import pytest

import plx
from plx.errors import PlxError

ROWS = "type S = {a, b, c}\nparam p(Boolean, S) = {(false, a): 1, (true, b): 0.5, (true, c): 0.4, else: 0}\n"


def message(text: str) -> str:
    with pytest.raises(PlxError) as caught:
        plx.compile(text).ground  # noqa: B018
    (found,) = caught.value.diagnostics
    return f"{found.message} {found.hint}"


def test_a_row_that_does_not_sum_to_one_is_shown_with_what_it_depends_on() -> None:
    found = message(ROWS + "type D = 0..2 random r(D) random x(d: D): S ~ p(r(d)) if d > 0")
    assert "`x(1)` at r(1) = true sum to 0.9, not 1" in found
    assert "{a: 0, b: 0.5, c: 0.4}" in found


def test_a_row_is_wrong_whatever_is_observed() -> None:
    text = ROWS + "random r random x: S ~ p(r) "
    assert "sum to 0.9" in message(text + "observe !r") == message(text + "observe x = a")


def test_a_probability_outside_0_to_1_is_shown() -> None:
    assert "is 1.5, and it must lie in 0..1" in message("random r random x ~ 1.5 * r")


def test_a_row_that_is_off_by_rounding_is_a_distribution() -> None:
    text = "type S = {a, b, c} random x: S ~ {a: 0.3333333333, else: 0.33333333335} query logz query x"
    result = plx.run(text, method="exact")
    assert result["logz"].log_z == pytest.approx(0, abs=1e-15)
    assert sum(e.p for e in result["x"].estimates) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "circle"),
    [
        ("random x ~ 0.5 * y random y ~ 0.1 + 0.2 * x", "x ← y ← x"),
        ("random x ~ 0.5 * x", "x ← x"),
        ("type T = 0..2 random x(t: T) ~ 0.5 * x((t + 1) % 3)", "x(0) ← x(1) ← x(2) ← x(0)"),
        (
            "type T = 0..20 random y ~ 0.5 * x(3) random x(t: T) ~ (count(y & t > s for s in T) > 2)",
            "y ← x(3) ← y",
        ),
        ("random x ~ 0.5 * y observe y random y ~ 0.1 + 0.2 * x", "x ← y ← x"),
    ],
)
def test_a_circle_is_named(text: str, circle: str) -> None:
    assert circle in message(text)


def test_steps_through_time_are_no_circle() -> None:
    text = """
    type S = {a, b}
    param step(S, S) = {(a, a): 0.9, (a, b): 0.1, (b, b): 1, else: 0}
    random s(t: 0..50): S ~ {a: 1, b: 0} if t = 0 else step(s(t - 1))
    query s(50)
    """
    assert plx.run(text)["s(50)"].distribution["a"] == pytest.approx(0.9**50)


def test_log_z_is_the_log_probability_of_the_evidence() -> None:
    text = "random a ~ 0.2 random b ~ 0.9 * a random c(0..9) ~ 0.5 * b observe b query logz"
    assert plx.run(text)["logz"].log_z == pytest.approx(math.log(0.18), abs=1e-12)


@pytest.mark.parametrize("chances", ["0.3", "p(x)"])
@pytest.mark.parametrize("parents", [5, 12, 30])
def test_a_noisy_or_of_many_causes(parents: int, chances: str) -> None:
    """Causes of one strength are counted, however many they are."""
    text = f"""
    type T = 1..{parents}
    param p(T) = {{1: 0.3, else: 0.3}}
    random a(T)
    random y ~ noisy_or(0.1, {chances}: a(x) for x in T)
    observe a(x) for x in 1..3
    observe !a(x) for x in 5..{parents}
    query y given a(4)
    """
    expected = 1 - 0.9 * 0.7**4
    assert plx.run(text, method="exact")[0].probability == pytest.approx(expected, abs=1e-12)


def test_a_certain_cause_among_many() -> None:
    text = """
    type T = 1..40
    random a(T) ~ 0.5
    random y ~ noisy_or(0, 1: a(x) for x in T)
    query y
    """
    assert plx.run(text, method="exact")["y"].probability == pytest.approx(1 - 0.5**40, abs=1e-15)


def test_a_large_table_is_one_factor_over_the_unknown() -> None:
    text = """
    type L = 0..29
    param p(i: L, j: L, k: L) = ((i + j) % 30 = k) * 1
    random x: L ~ uniform
    random y: L ~ uniform
    random z: L ~ p(x, y)
    query x given z = 3, y = 28
    """
    assert plx.run(text, method="exact")[0].distribution[5] == pytest.approx(1)


@pytest.mark.parametrize("name", ["uniform", "softmax", "noisy_or"])
def test_the_names_of_distributions_are_free(name: str) -> None:
    text = f"param {name} = 0.25 random x ~ {name} query x"
    assert plx.run(text)["x"].probability == pytest.approx(0.25)


def test_boolean_is_a_type_unless_it_is_declared() -> None:
    assert plx.run("random x: Boolean ~ 0.25 query x")["x"].probability == pytest.approx(0.25)
    text = "type Boolean = {no, yes, maybe} random x: Boolean query x"
    assert list(plx.run(text)["x"].distribution) == ["no", "yes", "maybe"]


# ------------------------------------------------------------------------------ log(0)


def test_the_log_of_zero_makes_worlds_impossible() -> None:
    text = """
    type T = {a, b}
    param p(T) = {a: 0, b: 1}
    random x(T)
    random n: 0..3
    weight log(p(t)): x(t) for t in T
    factor 2 * log(n) - log(3)
    query x(t) for t in T
    query n
    """
    result = plx.run(text)
    assert result["x(a)"].probability == 0
    assert result["x(b)"].probability == pytest.approx(0.5)
    assert result["n"].distribution[3] == pytest.approx(9 / 14)
    assert result["n"].distribution[0] == 0


def test_the_log_of_zero_in_every_world_is_told_in_words() -> None:
    assert "this is the logarithm of 0 in all of them" in message("random x factor log(0 * x)")
    assert "not positive" in message("random x weight log(0): x")
    assert "not positive" in message("random n: 0..1 require log(n) < 3")
    assert "not positive" in message("random n: 0..1 factor -log(n)")


def test_evidence_of_probability_zero_names_the_distributions() -> None:
    with pytest.raises(PlxError) as caught:
        plx.run("random a ~ 0.5 random b ~ (a) random c ~ (!a) observe b & c query a")
    found = caught.value.diagnostics[0]
    words = " ".join([found.message, *(note.message for note in found.notes)])
    assert "random b ~ (a)" in words and "random c ~ (!a)" in words


KEYED = """type P = {a, b, c}
param home(P) = {a: b, b: c, c: c}
random next(p: P): P ~ {p: 0.7, else: 0.15}
random kept(p: P): P ~ {home(p): 0.5, p: 0.25, b: 0.5 * (p = c), else: 0.25 * (p != c)}
random seen(p: P): P ~ {next(p): 0.9, else: 0.05}
random right(p: P) ~ {seen(p) = next(p): 0.8, else: 0.2}
"""


def test_a_slot_or_what_is_random_may_be_a_key_of_a_distribution() -> None:
    result = plx.run(KEYED + "query next(b) query seen(a) query right(c) query kept(x) for x in {a, b}")
    assert result["next(b)"].distribution == pytest.approx({"a": 0.15, "b": 0.7, "c": 0.15})
    assert result["seen(a)"].distribution == pytest.approx({"a": 0.645, "b": 0.1775, "c": 0.1775})
    assert result["right(c)"].probability == pytest.approx(0.9 * 0.8 + 0.1 * 0.2)
    assert result["kept(a)"].distribution == pytest.approx({"a": 0.25, "b": 0.5, "c": 0.25})
    assert result["kept(b)"].distribution == pytest.approx({"a": 0.25, "b": 0.25, "c": 0.5})


def test_where_two_keys_are_one_value_the_first_one_counts() -> None:
    assert plx.run(KEYED + "query kept(c)")["kept(c)"].distribution == pytest.approx(
        {"a": 0, "b": 0.5, "c": 0.5}
    )
    text = "type P = {a, b} random x(p: P): P ~ {a: 0.4, p: 0.6, else: 0.6}"
    assert "`x(a)` sum to 1" in message(text.replace("else: 0.6", "else: 0.7"))
    assert plx.run(text + " query x(a)")["x(a)"].distribution == pytest.approx({"a": 0.4, "b": 0.6})


def test_a_slot_hides_a_symbol_in_a_distribution() -> None:
    text = "type P = {a, b, c} random x(a: P): P ~ {a: 1, else: 0} query x(b) = b as same"
    assert plx.run(text)["same"].probability == 1


def test_a_log_z_of_zero_is_printed_as_zero() -> None:
    result = plx.run(
        "type P = 1..3 random x(P) ~ 0.3 random y(p: P) ~ 0.1 + 0.9 * x(p) query y(1) query logz"
    )
    assert "e-1" not in str(result)
