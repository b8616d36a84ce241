"""The deadline: clocks within clocks, and what is done once on a machine."""

from __future__ import annotations

import math

import pytest

from plx import deadline
from plx.deadline import OutOfTimeError, check, over, paused, seconds_left, stopwatch, within


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that shows the one number of this list."""
    time = [0.0]
    monkeypatch.setattr(deadline, "now", lambda: time[0])
    return time


def test_the_nearest_deadline_counts(clock: list[float]) -> None:
    assert math.isinf(seconds_left())
    with within(10):
        with within(20):
            assert seconds_left() == 10
        with within(None):
            assert seconds_left() == 10
        with within(3):
            clock[0] = 4
            assert over() and seconds_left() == 0
            with pytest.raises(OutOfTimeError):
                check()
        assert seconds_left() == 6
        check()
    assert math.isinf(seconds_left())


def test_a_pause_is_on_no_stopwatch(clock: list[float]) -> None:
    with stopwatch() as outer:
        clock[0] = 2
        with stopwatch() as inner, paused():
            clock[0] = 50
        clock[0] = 53
        assert (outer(), inner()) == (5, 3)
        with paused():
            clock[0] = 60
    assert outer() == 5


def test_a_pause_moves_every_deadline(clock: list[float]) -> None:
    with within(10), within(5):
        with paused():
            clock[0] = 100
        assert seconds_left() == 5
