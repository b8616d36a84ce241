"""What answering would take, told before the work, is what answering then does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plx.answering import outlooks
from plx.api import compile as compile_model
from plx.errors import PlxError
from plx.firstorder import choice
from plx.graph.model import GroundModel, GroundQuery, Target
from plx.infer import outlook as outlook_module
from plx.infer.infer import infer
from plx.infer.outlook import Outlook, outlook
from plx.infer.prepared import Prepared
from tests.infer.circuit.test_circuit import hard_and_coupled
from tests.models import make_model


def chain(n: int) -> GroundModel:
    """Unknowns of three states, each coupled with the next one."""
    model = make_model([3] * n, [([i, i + 1], [[1, 0, 0], [0, 2, 0], [0, 0, 3]]) for i in range(n - 1)])
    target = Target(0, model.atoms.domains[0][:3])
    return replace(model, queries=(GroundQuery("distribution", "x", "x", (target,), (), None),))


def test_the_way_that_is_told_is_the_one_taken() -> None:
    for model, way in ((chain(4), "enumeration"), (chain(30), "elimination")):
        ahead, found = outlook(Prepared(model)), infer(model, "auto")
        assert ahead.way == way and not ahead.tried and found.reason in ahead.words
        assert ahead.operations and ahead.memory


def test_what_is_tried_is_told_and_what_does_not_fit() -> None:
    ahead = outlook(Prepared(hard_and_coupled()))
    assert ahead.way is None and ahead.tried == ("circuit",) and ahead.tried_seconds == 15.0
    assert ahead.words.startswith(
        "compiling a circuit is tried for 15 s, as no way of known cost fits: there are"
    )
    assert "elimination needs" in ahead.words


def test_a_dear_plan_comes_after_what_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlook_module, "DEAR", 1.0)
    table = [[0, 0], [0, -float("inf")]]
    model = replace(make_model([2] * 30, [([i, i + 1], table) for i in range(29)]), queries=chain(2).queries)
    ahead = outlook(Prepared(model))
    assert ahead.way == "elimination" and ahead.tried == ("circuit",) and ahead.tried_seconds
    assert "; compiling a circuit is tried for" in ahead.words and ahead.words.endswith("s first")


def test_a_plan_that_takes_longer_than_a_run_is_left_to_those_who_ask_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outlook_module, "FASTEST", 1.0)
    assert "only --method exact takes it" in outlook(Prepared(chain(30))).words


def test_each_given_is_told_of_and_what_is_impossible() -> None:
    model = compile_model(
        """
        random a: 1..3
        random b: 1..3
        require a != b
        weight 1: a = 2
        query a
        query a given b = 2
        query a given a = 1, b = 1
        """
    )
    told = {group.positions: found for group, found in outlooks(model.origin, model.ground)}
    assert told[(0,)].words.startswith("exact: all 3 worlds were enumerated, about")
    assert told[(1,)].way == "enumeration"
    assert isinstance(told[(2,)], Outlook) and "probability 0" in told[(2,)].words and told[(2,)].way is None


def test_what_a_run_would_refuse_is_told_without_an_error() -> None:
    model = compile_model(
        """
        type P = 1..3
        random f(P)
        weight 10^30: f(x) <=> !f(y) for x, y in P if x < y
        weight 0.3: f(x) for x in P
        query f(1)
        """
    )
    ((_, found),) = outlooks(model.origin, model.ground)
    assert found.way is None and found.words.startswith("weights past 10^9 contradict one another")
    with pytest.raises(PlxError, match="contradict one another"):
        model.run()


def test_nothing_is_told_without_queries_and_worlds_alone_need_no_sums() -> None:
    model = compile_model("random a: 1..3\nweight 1: a = 2")
    assert not list(outlooks(model.origin, model.ground))
    many = replace(hard_and_coupled(), queries=(GroundQuery("map", "map", "map", (), (), None),))
    assert outlook(Prepared(many)).words == "only most probable worlds are asked for"


def test_what_is_answered_without_grounding_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "GROUND_FIRST", 0)
    model = compile_model(
        """
        type P = 1..30
        random likes(P)
        weight 0.001: likes(x) & likes(y) for x, y in P if x != y
        query likes(1)
        """
    )
    ((_, found),) = outlooks(model.origin, model.ground)
    assert found.way == "first-order" and found.words == f"exact: {model.run().reason}"
