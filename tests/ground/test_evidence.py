"""Observations fix unknowns before grounding; conditions do so afterwards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plx.errors import NoWorldError, PlxError
from plx.graph.model import GroundEvidence
from plx.ground.condition import condition
from plx.source import Source, Span
from tests.graph.test_assemble import check_invariants
from tests.ground.programs import grounded
from tests.models import all_states, log_weights, node_states, random_model

HEADER = """
type T = t1..t5
random b(T)
random n(T): {fail} | 1..3
"""
NOWHERE = Span(Source("nowhere", "x"), 0, 1)


@pytest.mark.parametrize(
    "observations",
    [
        "observe b(t1)\nobserve !b(t2)\nobserve n(t3) = 2\nobserve fail = n(t4)",
        "observe b(x) <=> x = t1 for x in T if x < t3\nobserve n(x) = 2 & n(t4) = fail for x in {t3}",
        "observe b(t1) & !b(t2) & n(t3) = 2 & n(t4) = fail",
        "observe forall(b(x) = (x = t1) for x in {t1, t2})\n"
        "observe !exists(!(n(x) = 2) for x in {t3}) & n(t4) = fail",
        'observe b from "b.csv"\nobserve n from "n.csv"',
    ],
)
def test_plain_facts_leave_no_variable(observations: str, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("t1,true\nt2,false\n")
    (tmp_path / "n.csv").write_text("t3,2\nt4,fail\n")
    model = grounded(HEADER + observations, tmp_path)
    atoms = model.atoms
    fixed = {atoms.name(a): atoms.value_name(int(v)) for a, v in enumerate(atoms.fixed) if v >= 0}
    assert fixed == {"b(t1)": "true", "b(t2)": "false", "n(t3)": "2", "n(t4)": "fail"}
    assert model.graph.n_variables == 6 and model.graph.n_factors == 0
    assert [atoms.name(int(a)) for a in atoms.atom_of] == [
        "b(t3)",
        "b(t4)",
        "b(t5)",
        "n(t1)",
        "n(t2)",
        "n(t5)",
    ]


def test_files_that_contradict_the_program(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("t1,true\nt2,false\n")
    with pytest.raises(PlxError, match="observed twice"):
        grounded(HEADER + 'observe b from "b.csv"\nobserve b(t2)', tmp_path)


def test_one_value_is_no_unknown() -> None:
    model = grounded("type T = t1..t3\nrandom f(x: T): {x} | {t1}\nquery f(x) for x in T")
    assert model.graph.n_variables == 2
    assert model.queries[0].targets[0].node == -1


def test_sums_that_become_equal_keep_their_tables() -> None:
    """With one input known two sums may be one function, though one had more states, and tables over them."""
    for seed in range(250):
        model = random_model(np.random.default_rng(seed), derived=3)
        graph = model.graph
        for node in range(graph.n_variables):
            check_invariants(condition(model, [GroundEvidence(node, 0, NOWHERE)]).graph)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_condition_keeps_the_worlds_that_agree(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    model = random_model(rng, derived=2, hard=0.05)
    graph = model.graph
    nodes = data.draw(st.lists(st.integers(0, graph.n_nodes - 1), min_size=1, max_size=3))
    facts = [
        GroundEvidence(node, data.draw(st.integers(0, int(graph.card[node]) - 1)), NOWHERE) for node in nodes
    ]
    states = all_states(graph)
    known = node_states(graph, states)
    agree = np.all([known[:, fact.node] == fact.state for fact in facts], axis=0)
    expected = np.where(agree, log_weights(graph, states), -np.inf)
    try:
        given = condition(model, facts)
    except NoWorldError:
        assert (expected == -np.inf).all()
        return
    check_invariants(given.graph)
    logs = log_weights(given.graph, all_states(given.graph)) + given.log_constant
    assert np.logaddexp.reduce(logs) == pytest.approx(np.logaddexp.reduce(expected))
    for query, old in zip(given.queries, range(graph.n_variables), strict=True):
        (target,) = query.targets
        for state, label in enumerate(target.labels):
            mine = logs if target.node < 0 else logs[all_states(given.graph)[:, target.node] == state]
            theirs = expected[states[:, old] == list(model.queries[old].targets[0].labels).index(label)]
            assert np.logaddexp.reduce(mine) == pytest.approx(np.logaddexp.reduce(theirs))
