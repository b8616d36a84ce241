"""What is set up for a few variables at a time is what is set up for all at once."""

from __future__ import annotations

import numpy as np
import pytest

import plx
from plx.infer.gibbs import markov_blanket
from plx.infer.gibbs.chains import chains_at, sweep
from plx.infer.gibbs.compiled import compile_model
from plx.infer.gibbs.initial_states import initial_states
from plx.infer.gibbs.markov_blanket import dependents, derived_rows, structures
from plx.infer.problem import Problem
from tests.infer.gibbs.test_count_tables import GRADES, SMOKERS

COUNTED = """
type Person = p1..p7
random smokes(Person)
random mood(Person): 0..3
weight 0.7: smokes(x) & mood(x) = 2 for x in Person
weight 0.2: count(smokes(x) for x in Person) > 3
weight -0.3: mood(x) = 1 => exists(smokes(z) & mood(z) != 1 for z in Person) for x in Person
weight 0.4: mood(x) = mood(y) for x, y in Person if x < y
"""


@pytest.mark.parametrize("program", [SMOKERS, GRADES, COUNTED])
@pytest.mark.parametrize("entries", [4096, 8, 0])
def test_chains_go_the_same_way(program: str, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(plx.compile(program).ground)
    states = initial_states(problem, 0, 40)

    def moved() -> np.ndarray:
        chains = chains_at(compile_model(problem, entries), states, 0, 1)
        sweep(chains, 20)
        return chains.states

    whole = moved()
    for portion in (1, 40):
        monkeypatch.setattr(markov_blanket, "_PORTION", portion)
        assert np.array_equal(moved(), whole)


def test_portions_are_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for one variable more, whose terms are never parted."""
    graph = plx.compile(COUNTED).ground.graph
    problem = Problem(plx.compile(COUNTED).ground)
    rows = derived_rows(problem.parts, np.empty(0, dtype=np.int64))
    (whole,) = structures(graph, rows, dependents(graph, rows))
    most = int(np.bincount(whole.term_variable).max())
    monkeypatch.setattr(markov_blanket, "_PORTION", 60)
    parts = list(structures(graph, rows, dependents(graph, rows)))
    assert len(parts) > 2
    assert sum(len(part.card) for part in parts) == graph.n_variables
    assert all(len(part.term_entry) <= 60 + most for part in parts)
    assert np.array_equal(np.concatenate([part.operand_row for part in parts]), whole.operand_row)
