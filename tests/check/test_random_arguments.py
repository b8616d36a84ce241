"""What is fixed takes random arguments, whether it is a table or an expression over slots."""

from __future__ import annotations

import pytest

import plx
from plx.errors import PlxError

HEADER = """\
type L = 0..2
type T = {a, b}
type Below(n: L) = 0..n
relation e(T, L) = {(a, 0), (a, 2), (b, 1)}
random f: L
random g(T): L
weight 0.5: f = g(a)
weight 0.25 * n: g(b) = n for n in L
"""

TABLES = {
    "sum(i for i in 0..n)": "{0: 0, 1: 1, 2: 3}",
    "sum(i for i in Below(n))": "{0: 0, 1: 1, 2: 3}",
    "sum(i for i in {n, 1})": "{0: 1, 1: 1, 2: 3}",
    "sum(i for i in L if i < n)": "{0: 0, 1: 0, 2: 1}",
    "count(e(t, n) for t in T)": "{0: 1, 1: 1, 2: 1}",
    "count(i = m for (t, i) in e, m in 0..n if i <= n)": "{0: 1, 1: 2, 2: 3}",
    "exists(i = 1 for i in 0..n)": "{0: false, 1: true, 2: true}",
    "forall(i > n for i in L if i != 0)": "{0: true, 1: false, 2: false}",
    "1 in 0..n": "{0: false, 1: true, 2: true}",
    "n * sum(i for i in 0..n) - n": "{0: 0, 1: 0, 2: 4}",
}


@pytest.mark.parametrize("word", ["param", "define"])
@pytest.mark.parametrize("expression", TABLES)
@pytest.mark.parametrize("argument", ["f", "g(a)", "2 - f"])
def test_an_expression_is_as_good_as_its_table(word: str, expression: str, argument: str) -> None:
    """A slot may stand in the set or the guard of what is fixed, and a random argument take its place."""
    asked = f"query h({argument}) query h({argument}) = h(1) given f != 0"
    found = plx.run(f"{HEADER}{word} h(n: L) = {expression} {asked}", method="exact")
    wanted = plx.run(f"{HEADER}param h(L) = {TABLES[expression]} {asked}", method="exact")
    for one, other in zip(found, wanted, strict=True):
        assert {k: p for k, p in one.distribution.items() if p} == pytest.approx(
            {k: p for k, p in other.distribution.items() if p}
        )


def test_two_slots_of_which_one_is_random() -> None:
    program = "param h(n: L, m: L) = sum(i for i in 0..n if i < m) query h(f, x) for x in L query h(f, g(a))"
    written = ", ".join(
        f"({n}, {m}): {sum(i for i in range(n + 1) if i < m)}" for n in range(3) for m in range(3)
    )
    table = "param h(L, L) = {" + written + "} query h(f, x) for x in L query h(f, g(a))"
    for one, other in zip(plx.run(HEADER + program), plx.run(HEADER + table), strict=True):
        assert {k: p for k, p in one.distribution.items() if p} == pytest.approx(
            {k: p for k, p in other.distribution.items() if p}
        )


def test_what_is_random_itself_says_how_to_ask() -> None:
    program = "define h(n: L) = count(g(t) = 1 for t in T if e(t, n)) query h(f)"
    with pytest.raises(PlxError, match="`h` uses an argument as an index; it must be fixed") as caught:
        plx.compile(HEADER + program)
    assert "`exists(f(…) = y & h(y) … for y in …)`" in str(caught.value)
