"""Constraints over scopes: their size, and what is said where they can never hold."""

from __future__ import annotations

import pytest

import plx
from plx.check.constraints import EXAMPLES
from plx.errors import NoWorldError
from plx.syntax.words import CONSTRAINTS
from tests.ground.programs import checked, grounded


def test_every_constraint_has_an_example() -> None:
    assert set(EXAMPLES) == set(CONSTRAINTS)


def permutation(n: int) -> str:
    return f"type N = 1..{n}\nrandom p(N): N\nrequire alldifferent(p(x) for x in N)\nquery p(1)"


@pytest.mark.parametrize("n", [10, 20, 40])
def test_as_many_sums_as_values_each_over_as_many_terms(n: int) -> None:
    graph = grounded(permutation(n)).graph
    assert (graph.n_factors, graph.n_derived, len(graph.input_node)) == (n, n, n * n)


def test_values_that_one_term_alone_takes_make_no_sum() -> None:
    text = "type N = 1..20\nrandom p(x: N): x..x+1\nrequire alldifferent(p(x) for x in N)"
    graph = grounded(text).graph
    assert (graph.n_factors, graph.n_derived) == (19, 0)


def test_more_terms_than_values_is_told_before_the_work() -> None:
    text = "type N = 1..5\nrandom p(N): 1..4\nrequire alldifferent(p(x) for x in N if x > k) for k in {1, 0}"
    with pytest.raises(NoWorldError) as failed:
        grounded(text)
    (found,) = failed.value.diagnostics
    assert found.message == "no world satisfies this requirement at k = 0"
    assert found.hint == "it has 5 terms, which take 4 values at most"
    assert found.span is not None
    assert found.span.text == "alldifferent(p(x) for x in N if x > k)"


def test_observations_leave_fewer_values() -> None:
    text = (
        "type N = 1..3\nrandom p(N): N\nrequire alldifferent(p(x) for x in N)\nobserve p(x) = 1 for x in 1..2"
    )
    with pytest.raises(NoWorldError, match="no world satisfies this requirement"):
        grounded(text)


def test_the_checker_warns_where_it_is_plain_to_see() -> None:
    text = "type N = 1..5\nrandom p(N): {a, b}\nweight 1: alldifferent(p(x) for x in N)\nquery p(1)"
    (warning,) = checked(text).warnings
    assert warning.message == "this never holds: it has 5 terms, which take 2 values at most"
    assert warning.hint == "the values of `p(x)`: a, b"


@pytest.mark.parametrize(
    ("constraint", "written"),
    [
        ("exactly(2, f(x) for x in T)", "count(f(x) for x in T) = 2"),
        ("at_least(2, f(x) for x in T)", "count(f(x) for x in T) >= 2"),
        ("at_most(2, f(x) for x in T)", "count(f(x) for x in T) <= 2"),
        (
            "alldifferent(g(x) for x in T)",
            "forall(g(x) != g(y) for x, y in T if x < y)",
        ),
        ("!alldifferent(g(x) for x in T)", "exists(g(x) = g(y) for x, y in T if x < y)"),
    ],
)
def test_what_each_abbreviates(constraint: str, written: str) -> None:
    text = """
        type T = t1..t4
        random f(T)
        random g(T): 1..5
        weight 0.7: f(x) for x in T
        weight 1: {}
        query f(t1)
        query {}
    """
    one, two = (plx.run(text.format(c, c), method="exact") for c in (constraint, written))
    assert one.log_z == pytest.approx(two.log_z, abs=1e-12)
    for mine, right in zip(one, two, strict=True):
        assert mine.probability == pytest.approx(right.probability, abs=1e-12)
