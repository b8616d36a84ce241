"""What a run that has not converged says: the cause, the unknowns and the rule."""

from __future__ import annotations

import pytest

import plx
from plx.answer.table import warnings

SOFT = """
type N = 1..6
random u(N)
random other
weight 12: u(i) <=> u(i + 1)   for i in N if i < 6
weight 1: u(1)
weight 2: other
query u(3)
query other
"""

HARD = """
type Cell = 1..5
type Colour = 1..5
random s(Cell, Cell): Colour
require s(r, c) != s(r, d) for r, c, d in Cell if c < d
require s(r, c) != s(q, c) for c, r, q in Cell if r < q
query s(1, 1)
"""


def doubts(text: str, **options: object) -> str:
    result = plx.run(text, method="gibbs", seed=1, **options)
    assert not result.converged
    return " ".join(warnings(result))


def test_chains_that_are_stuck_apart_are_explained_by_unknowns_and_rule() -> None:
    said = doubts(SOFT, samples=20_000, seconds=None)
    assert "1 of 2 answers not converged" in said
    assert "u(" in said and "other" not in said.replace("another", "")
    assert "`weight 12: u(i) <=> u(i + 1)" in said and "(line 5)" in said
    assert "--seconds" not in said


def test_hard_rules_that_separate_worlds_are_named() -> None:
    said = doubts(HARD, samples=64 * 60)
    assert "s(" in said and "`require s(" in said and "hard rule" in said


@pytest.mark.parametrize("chains", [16, 64])
def test_too_few_samples_are_said_to_be_too_few(chains: int) -> None:
    said = doubts("random a\nweight 1: a\nquery a", samples=5_000, accuracy=1e-4, chains=chains)
    assert "too few samples for the accuracy" in said and "--seconds" in said


def test_what_chains_disagree_about_is_named_worst_first() -> None:
    slow = SOFT.replace("weight 12", "weight 1.2") + "query u(1)\nquery u(6)\nquery u(2)\n"
    said = doubts(slow, samples=64 * 20, seconds=None)
    assert "do not agree yet" in said and "and 1 more" in said
    assert "most about u(" in said and "other" not in said
    rhat = {query.name: query.rhat for query in plx.run(slow, method="gibbs", seed=1, samples=64 * 20)}
    assert f"most about {max(rhat, key=lambda name: rhat[name])}," in said


def test_answers_that_converged_need_no_advice() -> None:
    result = plx.run("random a\nweight 1: a\nquery a", method="gibbs", seed=1)
    assert result.converged and not result.inference.advice and not warnings(result)


def test_what_is_not_agreed_about_log_z_is_said_of_log_z() -> None:
    text = (
        "type N = 0..19\nrandom s(N, N)\nweight 1.2: s(i, j) = s((i + 1) % 20, j) for i, j in N\n"
        "weight 1.2: s(i, j) = s(i, (j + 1) % 20) for i, j in N\nquery logz\n"
    )
    result = plx.run(text, method="tempered", seed=1, samples=512)
    assert "most about log Z:" in " ".join(warnings(result))
