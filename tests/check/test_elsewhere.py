"""What other languages write is refused with what plx writes instead; what reads like it gets a warning."""

from __future__ import annotations

import pytest

from plx.errors import Diagnostic, PlxError
from plx.syntax.foreign import FUNCTIONS, SETS, VALUES
from tests.compiling import compile_text

HEADER = "type T = {a, b}\nrandom f(T)\nrandom n(T): 0..2\n"


def only(statement: str) -> Diagnostic:
    with pytest.raises(PlxError) as caught:
        compile_text(f"{HEADER}{statement}\n")
    (found,) = caught.value.diagnostics
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_other_languages(name: str) -> None:
    found = only(f"query {name}(f(a))")
    assert (found.message, found.hint) == (f"`{name}` is not declared", FUNCTIONS[name])


@pytest.mark.parametrize("name", VALUES)
def test_values_of_other_languages(name: str) -> None:
    assert only(f"weight {name}: f(a)").hint == VALUES[name]


def test_a_member_that_differs_in_case_is_nearer() -> None:
    assert only("random m: {none} | T\nobserve m = None").hint == "did you mean `none`?"
    assert only("random m: {nothing} | T\nobserve m = None").hint == VALUES["None"]


@pytest.mark.parametrize("name", [*SETS, "Bool", "BOOLEAN", "INT", "Real"])
def test_types_of_other_languages(name: str) -> None:
    found = only(f"random x: {name}")
    assert (found.message, found.hint) == (f"there is no type `{name}`", SETS[name.lower()])
    assert only(f"query count(true for x in {name})").hint == SETS[name.lower()]


@pytest.mark.parametrize(
    "declared", ["define prod(x: T) = f(x)", "random Prod(T)", "param ceil(T) = {a: 1, b: 2}"]
)
def test_a_declared_name_that_differs_in_case_is_nearer(declared: str) -> None:
    name = declared.split()[1].split("(")[0]
    assert only(f"{declared}\nquery {name.swapcase()}(a)").hint == f"did you mean `{name}`?"


@pytest.mark.parametrize("ends", ["0.0..1.0", "0..1.0", "-0.5..0.5", "0.5..2", "(0.0)..3"])
@pytest.mark.parametrize(
    "place",
    [
        "random x: {}",
        "type S = {}",
        "query f(a) & n(a) in {}",
        "random x: {{7}} | {}",
        "weight 1: f(a) for x in {}",
    ],
)
def test_ranges_have_no_points(ends: str, place: str) -> None:
    found = only(place.format(ends))
    assert found.message.startswith("a range goes over integers")
    assert "continuous ones are not part of plx" in (found.hint or "")


def test_ranges_of_integers_stay_what_they_are() -> None:
    program = compile_text(
        "param w = 1.0\nrandom x: 0..1\nrandom y: 0..w\nrandom z: {0.5} | 1..2\nquery (x, y, z)"
    )
    assert program.warnings == ()


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("random x: flip(0.3)", "`random x ~ p` is true with probability p"),
        ("random x: Normal(0, 1)", "continuous ones are not part of plx"),
        ("query P(f(a) | f(b))", "`query f(a) given f(b)`"),
        ("query Pr(f(a) | f(b) & n(a) = 1)", "`query f(a) given f(b) & n(a) = 1`"),
        ("query P(f(a))", "`query f(a)` asks for its probability"),
        ("weight 1: bernoulli(0.3)", "is true with probability p"),
    ],
)
def test_probabilities_of_other_languages(statement: str, hint: str) -> None:
    assert hint in (only(statement).hint or "")


# ------------------------------------------------------------------------------ warnings


@pytest.mark.parametrize(
    ("statement", "message", "hint"),
    [
        ("query f(a) | f(b)", "`|` is or", "`query f(a) given f(b)`"),
        ("query f(x) | n(x) = 1 for x in T", "`|` is or", "`query f(x) given n(x) = 1`"),
        ("random v: {True, False}", "`True` is a symbol here", "write `true`"),
        ("type V = {FALSE, other}", "`FALSE` is a symbol here", "write `false`"),
        (
            "param p(T) = {a: 0.2, b: 0.3}\nweight logit(p(x)): n(x) = 1 & f(x) for x in T",
            "logit gives a probability to the whole formula",
            "`weight log(p(x)): n(x) = 1 & f(x)` and `weight log(1 - p(x)): n(x) = 1 & !f(x)`",
        ),
    ],
)
def test_what_reads_like_something_else(statement: str, message: str, hint: str) -> None:
    found = [w for w in compile_text(f"{HEADER}{statement}\n").warnings if message in w.message]
    assert found and hint in (found[0].hint or "")


@pytest.mark.parametrize(
    "statement",
    [
        "query f(a) or f(b)",
        "query (f(a) | f(b))",
        "query f(a) | f(b)\nquery f(a) given f(b)",
        "query f(a) | f(b) given n(a) = 1",
        'random v: {"True", "False"}\nweight 1: v = "True"',
        "weight logit(0.3): f(x) for x in T",
        "weight logit(0.3): f(x) & x = a for x in T",
        "weight logit(0.3): f(x) | f(a) for x in T",
        "weight log(0.3): f(a) & n(a) = 1",
        "query count(true for x in T) + count(f(x) for x in T)",
    ],
)
def test_what_reads_as_it_is_meant(statement: str) -> None:
    used = "weight 1: n(x) = 1 => f(x) for x in T"
    assert compile_text(f"{HEADER}{used}\n{statement}\n").warnings == ()
