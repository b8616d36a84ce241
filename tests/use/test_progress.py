"""What a run shows of itself while it works."""

from __future__ import annotations

import io

import pytest

from plx import progress
from plx.infer.options import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Timers fire when they are made, and lines are due at any time."""

    class Timer:
        def __init__(self, _: float, call) -> None:
            self.call = call
            self.daemon = False

        def start(self) -> None:
            self.call()

        def cancel(self) -> None:
            pass

    monkeypatch.setattr(progress.threading, "Timer", Timer)
    monkeypatch.setattr(progress, "_LINE_EVERY", 0.0)


def watch(stream: io.StringIO) -> str:
    with progress.watching(stream) as report:
        report(Progress("loading kernels", 0.0, 0.0))
        report(Progress("searching", 0.0, 1.0))
        report(Progress("sampling", 0.25, 2.0, 0.0123))
    return stream.getvalue()


def test_a_short_run_shows_nothing() -> None:
    assert watch(io.StringIO()) == ""
    assert watch(Terminal()) == ""


def test_a_long_run_writes_plain_lines_where_there_is_no_terminal(at_once: None) -> None:
    assert watch(io.StringIO()) == "loading kernels…\nsearching…\nsampling, ± 0.012, 25%\n"


def test_a_long_run_draws_a_bar_on_a_terminal(at_once: None) -> None:
    text = watch(Terminal())
    assert "sampling, ± 0.012" in text
    assert "━" in text
