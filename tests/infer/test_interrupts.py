"""Ctrl-C during long calls."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from plx.deadline import OutOfTimeError, within
from plx.ground.grounder import ground
from plx.infer.hard.sat import Satisfier, contradiction
from plx.infer.interrupts import LONG, Stop, waited
from tests.compiling import compile_text

PIGEONS = """
type Pigeon = 0..11
type Hole = 0..10
random sits(Pigeon, Hole)
require exists(sits(p, h) for h in Hole) for p in Pigeon
require !(sits(p, h) & sits(q, h)) for p, q in Pigeon, h in Hole if p < q
query sits(0, 0)
"""


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("wakes", [True, False])
def test_ctrl_c_ends_a_long_call_at_once(wakes: bool) -> None:
    """Even where the handler is one that lets waiting go on, as that of polars does."""
    signal.siginterrupt(signal.SIGINT, wakes)
    begin = time.monotonic()
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        waited(lambda _: time.sleep(20), LONG)
    assert time.monotonic() - begin < 15


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("ask", ["world", "reason"])
def test_ctrl_c_ends_a_search_of_the_sat_solver(ask: str) -> None:
    """Eleven holes are too few for twelve pigeons; to see that takes the solver minutes."""
    model = compile_text(PIGEONS)
    graph = ground(model, 10**6).graph
    begin = time.monotonic()
    threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        if ask == "world":
            Satisfier(graph).near(np.zeros(graph.n_variables, dtype=np.int32))
        else:
            contradiction(ground(model, 10**6))
    assert time.monotonic() - begin < 40


@pytest.mark.parametrize("steps", [0, LONG])
def test_results_and_errors_come_through(steps: float) -> None:
    assert waited(lambda _: 42, steps) == 42
    assert waited(lambda _: None, steps) is None
    with pytest.raises(ZeroDivisionError):
        waited(lambda _: 1 // 0, steps)


def test_the_deadline_stops_a_long_call() -> None:
    """The call is told to stop, and what it returns then is lost."""
    stopped = threading.Event()

    def turn(stop: Stop) -> int:
        while not stop[0]:
            time.sleep(0.01)
        stopped.set()
        return 42

    with within(0.05), pytest.raises(OutOfTimeError):
        waited(turn, LONG)
    assert stopped.wait(5)


@pytest.mark.parametrize("steps", [0, LONG])
def test_nothing_is_begun_after_the_deadline(steps: float) -> None:
    begun = []
    with within(0), pytest.raises(OutOfTimeError):
        waited(begun.append, steps)
    assert not begun
