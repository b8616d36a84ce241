"""Sums over many unknowns are exact at any size, or refused with their place: nothing wraps around."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plx

MANY = 9
"""Sums over so many unknowns are nodes of their own, not tables."""

bases = st.sampled_from([0, 1, -3, 10**9, -(2**31), 2**31, 2**62, -(2**63), 5 * 10**18, 10**19, 10**300])


@settings(max_examples=60, deadline=None)
@given(bases, bases.filter(bool), st.sampled_from([1, 2, 7, 2**33]))
def test_sums_of_two_valued_unknowns(low: int, step: int, cut: int) -> None:
    """A sum of n of them is n·low + step·k, and k is binomial."""
    program = (
        f"type T = 1..{MANY}\nrandom f(T): {{{low}, {low + step}}}\n"
        f"query sum(f(i) for i in T) as total\n"
        f"query sum(f(i) for i in T) > {MANY * low + cut * step // 2}"
    )
    total, above = plx.run(program)
    sums = [MANY * low + k * step for k in range(MANY + 1)]
    assert sorted(sums) == [estimate.value for estimate in total.estimates]
    expected = sum(
        Fraction(comb(MANY, k), 2**MANY) for k in range(MANY + 1) if sums[k] > MANY * low + cut * step // 2
    )
    assert above.probability == pytest.approx(float(expected), abs=1e-12)
    assert total.mean == pytest.approx(float(Fraction(sum(sums), MANY + 1)), rel=1e-12)


def test_terms_past_64_bits_with_a_common_unit() -> None:
    terms = "10^19 * count(f(i) for z in {1})"
    program = f"type T = 1..{MANY}\nrandom f(T)\nquery sum({terms} for i in T) > 4 * 10^19"
    assert plx.run(program)[0].probability == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("term", ["2^i", "2^(40 * i)", "10^(200 * i)"])
def test_sums_without_a_common_unit_that_helps_are_refused(term: str) -> None:
    program = f"type T = 1..63\nrandom f(T)\nquery sum({term} * count(f(i) for z in {{1}}) for i in T) > 2^40"
    with pytest.raises(plx.PlxError, match="this sum can take") as error:
        plx.run(program)
    assert error.value.diagnostics[0].span.line == 3  # type: ignore[union-attr]
