"""Runs one after another within one limit on time."""

from __future__ import annotations

import pytest

from plx.ground.given import QueryGroup
from plx.infer.inference import Inference
from plx.infer.options import Options
from plx.time_shares import Run, in_turn
from tests.models import make_model

GROUPS = [QueryGroup((i,), make_model([2], [])) for i in range(4)]


def run_all(takes: list[float], limit: float | None) -> list[float | None]:
    """The limit that each run is given, if each takes so long."""
    spent, given = 0.0, []

    def run(group: QueryGroup, share: Options) -> Run:
        nonlocal spent
        given.append(share.seconds)
        spent += takes[group.positions[0]]
        return group, Inference("exact", "", ())

    runs, interrupted = in_turn(GROUPS, run, Options(seconds=limit), lambda: spent)
    assert len(runs) == len(given) and not interrupted
    return given


def test_what_a_run_leaves_is_shared_by_those_after_it() -> None:
    assert run_all([1.0, 4.0, 0.0, 9.0], 13.0) == [13 / 4, 12 / 3, 8 / 2, 8.0]


def test_once_the_time_is_spent_no_more_is_run_but_the_first() -> None:
    assert run_all([20.0, 0.0, 0.0, 0.0], 12.0) == [3.0]
    assert run_all([3.0, 9.0, 0.0, 0.0], 12.0) == [3.0, 3.0]
    assert run_all([0.0, 0.0, 0.0, 0.0], 0.0) == [0.0]


def test_without_a_limit_there_is_none() -> None:
    assert run_all([1.0] * 4, None) == [None] * 4


@pytest.mark.parametrize("stop", [0, 1, 3])
@pytest.mark.parametrize("caught", [False, True])
def test_ctrl_c_keeps_the_runs_so_far(stop: int, caught: bool) -> None:
    """A run that Ctrl-C ends says so itself where it has answers, and is the last."""

    def run(group: QueryGroup, share: Options) -> Run:
        status = "interrupted" if group.positions == (stop,) else "done"
        if status == "interrupted" and not caught:
            raise KeyboardInterrupt
        return group, Inference("gibbs", "", (), status=status)  # type: ignore[arg-type]

    if stop == 0 and not caught:
        with pytest.raises(KeyboardInterrupt):
            in_turn(GROUPS, run, Options(), lambda: 0.0)
    else:
        runs, interrupted = in_turn(GROUPS, run, Options(), lambda: 0.0)
        assert [group.positions for group, _ in runs] == [(i,) for i in range(stop + caught)]
        assert interrupted == (not caught)
