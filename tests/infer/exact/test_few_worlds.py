"""Models whose hard rules leave few worlds are answered exactly, however wide the rules are."""

from __future__ import annotations

import numpy as np
import pytest

import plx
from plx.errors import NoWorldError
from plx.infer.exact import few_worlds as module
from plx.infer.exact.enumeration import EnumerationPlan
from plx.infer.exact.few_worlds import FewWorldsPlan, few_worlds
from plx.infer.exact_plan import Refusal
from plx.infer.problem import Problem
from tests.ground.programs import grounded

QUEENS = """
type Col = 1..{n}
random queen(c: Col): 1..{n}
require alldifferent(queen(c) for c in Col)
require alldifferent(queen(c) + c for c in Col)
require alldifferent(queen(c) - c for c in Col)
"""

SUDOKU = """
type Digit = 1..9
param clue(Digit, Digit) = {{{clues}, else: 0}}
random cell(row: Digit, column: Digit): Digit
observe cell(r, c) = clue(r, c) for r, c in Digit if clue(r, c) > 0
require alldifferent(cell(r, c) for c in Digit) for r in Digit
require alldifferent(cell(r, c) for r in Digit) for c in Digit
require alldifferent(cell(r, c) for r in a..a+2, c in b..b+2) for a, b in {{1, 4, 7}}
query cell(r, c) for r, c in Digit
query logz
"""


def sudoku(rows: list[str]) -> str:
    clues = [
        f"({r}, {c}): {digit}"
        for r, row in enumerate(rows, 1)
        for c, digit in enumerate(row, 1)
        if digit != "."
    ]
    return SUDOKU.format(clues=", ".join(clues))


def shifted(cleared: set[tuple[int, int]]) -> list[str]:
    """A full grid of our own, rows of a cyclic pattern, with some cells cleared."""
    grid = [[(3 * (r % 3) + r // 3 + c) % 9 + 1 for c in range(9)] for r in range(9)]
    return ["".join("." if (r, c) in cleared else str(grid[r][c]) for c in range(9)) for r in range(9)]


def test_a_sudoku_has_its_solution_exactly() -> None:
    """Every third diagonal is kept, and what follows from it: the solver says whether it is alone."""
    cleared = {(r, c) for r in range(9) for c in range(9) if (r + c) % 3 == 0}
    result = plx.run(sudoku(shifted(cleared)))
    assert result.method == "exact"
    solutions = round(np.exp(result.log_z))
    assert np.exp(result.log_z) == pytest.approx(solutions)
    for r, row in enumerate(shifted(set()), 1):
        for c, digit in enumerate(row, 1):
            assert result[f"cell({r}, {c})"].distribution[int(digit)] >= 1 / solutions - 1e-9


@pytest.mark.parametrize(("n", "solutions"), [(4, 2), (5, 10), (6, 4), (8, 92)])
def test_queens_are_counted(n: int, solutions: int) -> None:
    way = few_worlds(Problem(grounded(QUEENS.format(n=n) + "query queen(1)")))
    assert isinstance(way, FewWorldsPlan)
    assert way.reason.startswith(f"{solutions} worlds keep every hard rule")
    found = way.run()
    assert found.log_z == pytest.approx(np.log(solutions))
    np.testing.assert_allclose(found.answers[0].p, found.answers[0].p[::-1])


def test_no_queens_on_a_small_board() -> None:
    way = few_worlds(Problem(grounded(QUEENS.format(n=3) + "query queen(1)")))
    assert isinstance(way, FewWorldsPlan)
    with pytest.raises(NoWorldError):
        way.run()


def test_weights_and_unknowns_without_hard_rules_count() -> None:
    text = QUEENS.format(n=5) + (
        "random mood: 0..2\nweight 1: queen(1) = mood + 1\nweight 0.5: queen(c) = 1 for c in 2..3\n"
        "query (queen(1), mood)\nquery sum(queen(c) for c in 1..2)\nquery logz"
    )
    model = grounded(text)
    way = few_worlds(Problem(model))
    assert isinstance(way, FewWorldsPlan)
    exact = plx.run(text, method="exact")
    for mine, right in zip(way.run().answers[:2], exact, strict=False):
        np.testing.assert_allclose(mine.p, list(right.distribution.values()), atol=1e-12)
    assert way.run().log_z == pytest.approx(exact.log_z)


def test_many_worlds_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(grounded(QUEENS.format(n=8) + "query queen(1)"))
    monkeypatch.setattr(module, "LISTED_WORLDS", 91)
    refused = few_worlds(problem)
    assert isinstance(refused, Refusal)
    assert refused.needs() == "the SAT solver lists at most 91 worlds that keep every hard rule"
    monkeypatch.setattr(module, "LISTED_WORLDS", 92)
    assert isinstance(few_worlds(problem), FewWorldsPlan)
    free = few_worlds(Problem(grounded(QUEENS.format(n=8) + "random z\nweight 1: z\nquery z")))
    assert isinstance(free, Refusal)
    monkeypatch.setattr(module, "LISTED_SIZE", 100)
    refused = few_worlds(problem)
    assert isinstance(refused, Refusal)
    assert "of at most 100 nodes and entries" in refused.needs()


def test_without_hard_rules_there_is_nothing_to_list() -> None:
    assert few_worlds(Problem(grounded("random z\nweight 1: z\nquery z"))) is None


def test_the_best_worlds_are_read_off_the_list() -> None:
    """In the order of exact weights, no more than are possible."""
    text = QUEENS.format(n=6) + "weight 0.1 * c: queen(c) > 3 for c in Col\nquery map 9\nquery queen(1) = 2\n"
    problem = Problem(grounded(text))
    plan = few_worlds(problem)
    assert isinstance(plan, FewWorldsPlan)
    found, other = plan.run(), EnumerationPlan(problem).run()
    assert len(found.answers[0].worlds) == 4 and all(world.optimal for world in found.answers[0].worlds)
    weights = [world.log_weight for world in found.answers[0].worlds]
    assert weights == sorted(weights, reverse=True)
    assert weights == pytest.approx([world.log_weight for world in other.answers[0].worlds])
