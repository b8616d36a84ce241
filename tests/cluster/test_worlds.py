"""Worlds that worker processes look at while numbers are learned: to the same numbers, bit for bit."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import plx
from plx.cluster import connect
from plx.cluster.connect import Crew
from plx.cluster.worlds import _shares
from plx.learn.fit import Found
from tests.docs.blocks import call

distributed = pytest.importorskip("distributed")

PROGRAM = """
type P = 1..6
random smokes(P)
relation friends(P, P)
learn bias ~ normal(0, 2)
learn peer ~ normal(0, 2)
weight bias: smokes(x) for x in P
weight peer: smokes(x) <=> smokes(y) for (x, y) in friends
"""


def world(seed: int, seen: int = 6) -> dict[str, object]:
    """A random graph and what is seen on it."""
    random = np.random.default_rng(seed)
    pairs = [(x, y) for x in range(1, 7) for y in range(1, x) if random.random() < 0.5]
    return {"friends": pairs, "smokes": {x: bool(random.random() < 0.6) for x in range(1, seen + 1)}}


COMPLETE = [world(seed) for seed in range(4)]
HIDDEN = [world(seed, seen=5) for seed in range(2)]
CASES = [(COMPLETE, "likelihood", (1, 4)), (COMPLETE, "pseudo", (2,)), (HIDDEN, "likelihood", (2,))]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connect._own(distributed, 2) as client:
        yield client


def learned(worlds: list[dict[str, object]], objective: str, **more: Any) -> Found:
    return plx.compile(PROGRAM, friends=[]).learn(worlds, objective=objective, starts=1, **more).found


def same(one: Found, other: Found) -> bool:
    arrays = ("value", "error", "observed", "expected")
    alike = all((getattr(one.estimates, name) == getattr(other.estimates, name)).all() for name in arrays)
    return alike and one.path == other.path and one.notes == other.notes


@pytest.mark.parametrize(("worlds", "objective", "numbers"), CASES)
def test_the_number_of_workers_changes_no_number(
    worlds: list[dict[str, object]],
    objective: str,
    numbers: tuple[int, ...],
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alone = learned(worlds, objective)
    every = Crew.workers
    for threads in numbers:
        counted = {f"a share of {threads}": threads}
        monkeypatch.setattr(Crew, "workers", lambda self, counted=counted: every(self) and counted)
        assert same(learned(worlds, objective, cluster=client), alone)


def test_shares_are_neighbours_and_none_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    crew = Crew(None)
    for threads in range(1, 9):
        monkeypatch.setattr(Crew, "workers", lambda self, n=threads: {"a": n})
        for sizes in ([1], [1, 1, 1, 1], [9, 1, 1, 1], [1, 1, 1, 9], [3, 1, 4, 1, 5, 9, 2, 6]):
            parts = _shares(crew, sizes, int)
            assert [one for part in parts for one in part] == sizes and all(parts) and len(parts) <= threads


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"objective": "stochastic", "workers": 2}, "draws of a stochastic fit stay in one process"),
        ({"objective": "auto", "workers": 0}, "`workers` is a whole number, 1 or more"),
    ],
)
def test_what_no_cluster_does_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(plx.PlxError, match=said):
        learned(COMPLETE, **options)


def test_a_mistake_that_a_worker_finds_is_told(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PROGRAM + "require count(smokes(x) for x in P) >= 4\n"
    model = plx.compile(text, friends=[])
    with pytest.raises(plx.PlxError, match=r"contradict|no world|impossible"):
        model.learn([world(1), {"friends": [], "smokes": dict.fromkeys(range(1, 7), False)}], cluster=client)


def test_the_command_line(client: Any, tmp_path: Any) -> None:
    (tmp_path / "p.plx").write_text(PROGRAM + 'observe smokes from "seen.csv"\n', encoding="utf-8")
    text = (
        (tmp_path / "p.plx")
        .read_text()
        .replace("relation friends(P, P)", "relation friends(P, P) = {(1, 2)}")
    )
    (tmp_path / "p.plx").write_text(text, encoding="utf-8")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "seen.csv").write_text("".join(f"{x},{str(x < 4).lower()}\n" for x in range(1, 7)))
    command = [
        "learn",
        str(tmp_path / "p.plx"),
        str(tmp_path / "one"),
        str(tmp_path / "two"),
        "--format",
        "csv",
    ]
    code, said = call([*command, "--cluster", client.scheduler.address])
    assert (code, said) == call(command) and code == 0
    assert call([*command, "--folds", "2", "--workers", "2"])[0] == 2


# ---------------------------------------------------------------- last, as a worker dies here


def test_a_worker_that_is_killed_changes_no_number(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pid, begun, left = next(iter(client.run(os.getpid).values())), Crew.begun, [8]

    def killing(self: Crew, *given: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(pid, signal.SIGKILL)
        return begun(self, *given)

    monkeypatch.setattr(Crew, "begun", killing)
    found = learned(COMPLETE, "likelihood", cluster=client)
    assert left[0] < 0 and same(found, learned(COMPLETE, "likelihood"))
    assert len(client.nthreads()) == 1


def test_where_no_worker_is_left_it_is_said(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "PATIENCE", 0.3)
    pids, begun = client.run(os.getpid).values(), Crew.begun

    def killing(self: Crew, *given: Any) -> Any:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return begun(self, *given)

    monkeypatch.setattr(Crew, "begun", killing)
    with pytest.raises(plx.PlxError, match=r"no worker of the cluster is left|were lost at their work"):
        learned(COMPLETE, "likelihood", cluster=client)
