"""Every long stage of a run ends at the deadline, and a run out of time ends in answers or in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from plx import deadline
from plx.api import compile as compile_model
from plx.deadline import OutOfTimeError, within
from plx.errors import PlxError
from plx.graph.model import GroundModel
from plx.graph.subgraph import hard_factors, subgraph
from plx.infer.best.annealing import anneal
from plx.infer.best.choice import most_probable
from plx.infer.counting.marginals import count_plan
from plx.infer.exact import elimination_order as orders
from plx.infer.exact.elimination import plan, solve
from plx.infer.exact_choice import exact_way
from plx.infer.gibbs.blocks import choose_blocks
from plx.infer.gibbs.clusters import clusters
from plx.infer.gibbs.initial_states import initial_states
from plx.infer.hard.sat import Satisfier
from plx.infer.infer import infer
from plx.infer.options import Options
from plx.infer.problem import Parts, Problem
from plx.lift import find
from plx.lift import refine as refinement
from plx.lift.coloring import ColoredGraph, color_graph
from plx.lift.find import find_symmetry
from plx.lift.normal import normalise

GRID = """
    type Row = 1..{n}
    random up(Row, Row)
    weight 0.5: up(i, j) <=> up(i, j + 1)  for i, j in Row if j < {n}
    weight 0.3: up(i, j) <=> up(i + 1, j)  for i, j in Row if i < {n}
    weight 0.1: up(i, j)                   for i, j in Row if i * j % 7 = 3
    query up(2, 2)
"""

LATIN = """
    type N = 1..6
    random c(N, N): N
    require c(i, j) != c(i, k) for i, j, k in N if j < k
    require c(j, i) != c(k, i) for i, j, k in N if j < k
    weight 0.2 * i: c(i, i) = i for i in N
    query c(1, 1)
"""

VOTES = """
    type P = 1..24
    random x(P)
    random win
    weight 0.1 * (p % 5): x(p) for p in P
    weight 1: x(p) <=> x(q)    for p, q in P if (p * q) % 11 = 3
    weight 2: win <=> count(x(p) for p in P) > 12
    query win
    query map
"""

RING = """
    type N = 1..40
    random x(N)
    weight 1: x(i) <=> x(j) for i, j in N if j = i % 40 + 1
    weight 1: x(i) <=> x(j) for i, j in N if (i - j) % 7 = 0 & i < j
    query x(1)
"""


def model(text: str) -> GroundModel:
    return compile_model(text).ground


RAISES: dict[str, Callable[[], object]] = {
    "orders": lambda: plan(model(GRID.format(n=12))),
    "junction trees": lambda: solve(model(GRID.format(n=13)), plan(model(GRID.format(n=13)))),
    "sums": lambda: plan(model(VOTES)),
    "counts": lambda: count_plan(model(VOTES)),
    "exact ways": lambda: exact_way(Problem(model(RING))),
    "worlds": lambda: _satisfier().near(np.zeros(36, dtype=np.int32)),
    "all worlds": lambda: _satisfier().all(10),
    "coloured graphs": lambda: _colored(),
}


def _colored() -> ColoredGraph:
    asked = model(RING)
    graph = normalise(asked.values, asked.graph)
    return color_graph(asked.values, graph, np.zeros(80, dtype=np.int64))


def _satisfier() -> Satisfier:
    graph = model(LATIN).graph
    return Satisfier(subgraph(graph, hard_factors(graph))[0])


@pytest.mark.parametrize("stage", RAISES)
def test_a_stage_ends_when_the_time_is_over(stage: str) -> None:
    with within(0), pytest.raises(OutOfTimeError):
        RAISES[stage]()


def test_what_is_found_by_the_deadline_is_kept() -> None:
    """Symmetries, blocks and annealing are worth something unfinished."""
    graph = model(LATIN).graph
    asked = replace(model(RING), queries=())
    with within(0):
        assert choose_blocks(clusters(Parts(graph))) == []
        found = find_symmetry(asked, "vv", 0.0)
        worlds, how = most_probable(Problem(asked), 1, Options(chains=4))
        (world,) = anneal(Problem(asked), Options(chains=4))
    assert found.notes and not world.optimal
    assert len(worlds) == 1 and not worlds[0].optimal and "annealing" in how


def test_refinement_ends_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refinement, "REFINED_AT_ONCE", 1)
    graph = _colored()
    asked = graph.start, graph.neighbor, graph.color
    in_parts = refinement.refine(*asked)
    with within(0), pytest.raises(OutOfTimeError):
        refinement.refine(*asked)
    monkeypatch.undo()
    assert (in_parts == refinement.refine(*asked)).all()


@pytest.mark.parametrize("method", ["lifted", "cluster", "nec", "vv"])
def test_no_search_for_symmetries_begins_that_is_too_large_for_the_time(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "SECONDS_EACH", 1.0)
    monkeypatch.setattr(find, "color_graph", None)
    found = infer(model(GRID.format(n=6)), method, Options(chains=4, samples=64, seconds=30))
    assert any("the search for symmetries took more than" in note for note in found.notes)


def test_no_world_in_time_is_said_in_words() -> None:
    problem = Problem(model(LATIN))
    with (
        within(0),
        pytest.raises(PlxError, match="no world that keeps every hard rule was found"),
    ):
        initial_states(problem, 0, 4)


def test_starts_keep_the_rules_where_there_is_no_time_to_spread_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time ends just when the first world has been found."""
    graph = model(LATIN).graph

    def late(*_: object) -> object:
        raise OutOfTimeError

    monkeypatch.setattr(Satisfier, "spread", late)
    states = initial_states(Problem(model(LATIN)), 0, 6)
    rows = states.reshape(6, 6, 6)
    assert graph.n_variables == 36
    assert (np.sort(rows, axis=0) == np.arange(6)[:, None, None]).all()
    assert (np.sort(rows, axis=1) == np.arange(6)[None, :, None]).all()


class Jump:
    """A clock that stands still, and is far past every deadline from its so-manieth look on."""

    def __init__(self, look: int) -> None:
        self.looks, self.late_from = 0, look

    def __call__(self) -> float:
        self.looks += 1
        return 0.0 if self.looks < self.late_from else 1e9


@pytest.mark.parametrize("method", ["auto", "gibbs", "orbital", "nec"])
@pytest.mark.parametrize(
    "text", [GRID.format(n=6), LATIN, VOTES, RING], ids=["grid", "latin", "votes", "ring"]
)
def test_a_run_ends_wherever_the_deadline_falls(
    monkeypatch: pytest.MonkeyPatch, text: str, method: str
) -> None:
    """With an answer to each query, or words; and soon: the clock is looked at a few hundred times more."""
    asked = model(text)
    for look in (2, 4, 8, 30):
        clock = Jump(look)
        monkeypatch.setattr(deadline, "now", clock)
        try:
            answers = infer(asked, method, Options(seconds=1.0, chains=4, samples=400, seed=1)).answers
        except PlxError as error:
            assert "time" in str(error)
        else:
            assert len(answers) == len(asked.queries)
            assert all(len(answer.p) or answer.worlds for answer in answers)
        assert clock.looks < look + 500


def test_an_exact_run_out_of_time_says_so() -> None:
    with pytest.raises(PlxError, match=r"exact inference has no answer after 0 seconds"):
        infer(model(GRID.format(n=9)), "exact", Options(seconds=0.0))


def test_few_worlds_are_listed_whatever_the_time() -> None:
    (answer,) = infer(model("random a\nweight 1: a\nquery a"), "auto", Options(seconds=0.0)).answers
    assert answer.p[1] == pytest.approx(np.e / (1 + np.e))


@pytest.mark.parametrize("n", [26, 40, 100])
def test_a_grid_is_refused_by_a_few_searches(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """A hopeless order by size ends the search; what is counted are steps of compiled loops, not seconds."""
    counters = [orders._counter() for _ in range(400)]
    handed_out = iter(counters)
    monkeypatch.setattr(orders, "_counter", lambda *_: next(handed_out))
    with pytest.raises(PlxError, match="exact inference is out of reach"):
        infer(model(GRID.format(n=n)), "exact")
    assert 0 < sum(orders._MOST_STEPS - int(counter[0]) for counter in counters) < 2e8


def test_a_program_that_takes_longer_to_ground_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the work, where its size shows that; else in the midst of it."""
    monkeypatch.setattr("plx.answering._LEAST_GROUNDING", 0.0)
    model = compile_model(GRID.format(n=4))
    for _ in range(2):
        with pytest.raises(PlxError, match="takes longer to ground than 0 seconds"):
            model.run(method="gibbs", seconds=0)
        monkeypatch.setattr("plx.ground.grounder.refuse_slow", lambda sizes: None)
    assert model.ground.graph.card.size
    assert model.run(method="gibbs", seconds=0, seed=1).queries, "which is grounded already"
