"""A bound variable hides what is declared by its name, and the order of statements is free."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from plx.errors import PlxError
from tests.compiling import compile_text

DECLARED = """\
type T = {a, b}
type C(T) = {a: {p}, b: {p, q}}
relation r(T) = {a}
relation e(T, T) = {(a, b)}
random f(T)
"""


@pytest.mark.parametrize(
    ("query", "hidden"),
    [
        ("exists(f(x) for x in T) for T in {b}", "T"),
        ("f(a) & a in T for T in {b}", "T"),
        ("f(a) & a in r for r in T", "r"),
        ("f(a) & (a, b) in e for e in T", "e"),
        ("f(a) & p in C(a) for C in T", "C"),
        ("f(a) & p in C for C in T", "C"),
        ("exists(f(x) for x in {a} | T) for T in {b}", "T"),
        ("count(f(x) for x in r) for r in T", "r"),
        ("count(f(x) for r in T, x in r)", "r"),
    ],
)
def test_a_variable_is_no_set(query: str, hidden: str) -> None:
    with pytest.raises(PlxError) as caught:
        compile_text(f"{DECLARED}query {query}\n")
    (found,) = caught.value.diagnostics
    assert found.message == f"`{hidden}` is a bound variable here; a set is expected"
    assert found.span is not None and found.span.text == hidden
    assert found.notes


@pytest.mark.parametrize(
    "query",
    [
        "count(f(x) for (x, y) in e) for e in T",
        "f(e) for e in T if e(a, b)",
        "f(a) for r in T if r(a)",
    ],
)
def test_a_variable_is_no_relation(query: str) -> None:
    with pytest.raises(PlxError):
        compile_text(f"{DECLARED}query {query}\n")


SHARED = """\
type T = {a, b, c}
type Below(n: L) = 0..n
type L = 0..w
param w = 2
relation r(T) = {a}
relation e(T, T) = {(a, b)}
relation s(x: T) = x in r | exists(x = e for (x', e) in e)
random f(T)
random n(k: L): Below(k)
param told(T) from "given.csv" else w
define two = count(f(r) for r in r)
define far(r: T) = exists(f(e) & r = x for (x, e) in e)
define both(x: T) = far(x) & count(f(s) for s in s) > 0
define up(m: L) = count(n(k) = m for k in L, k' in Below(m))
query two
query far(r) for r in r
query up(k) for k in L
query both(a)
query told(b)
"""


@pytest.mark.parametrize("seed", range(30))
def test_statements_may_stand_in_any_order(seed: int, tmp_path: Path) -> None:
    """A declaration depends on what its sets name, even where a variable then takes the name."""
    lines = SHARED.splitlines()
    random.Random(seed).shuffle(lines)
    (tmp_path / "given.csv").write_text("a,1\n")
    assert len(compile_text("\n".join(lines), tmp_path).queries) == 5
