"""Ctrl-C during long calls."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from plx.infer.interrupts import LONG, waited


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Python's own handler of SIGINT, which a process in the background of a shell starts without."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_a_long_call_at_once() -> None:
    begin = time.monotonic()
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        waited(lambda: time.sleep(20), LONG)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("steps", [0, LONG])
def test_results_and_errors_come_through(steps: float) -> None:
    assert waited(lambda: 42, steps) == 42
    assert waited(lambda: None, steps) is None
    with pytest.raises(ZeroDivisionError):
        waited(lambda: 1 // 0, steps)
