"""What a run shows of itself on standard error: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO

from plx.answer.numbers import error_text
from plx.errors import CallError, Diagnostic
from plx.infer.options import Progress, Report, silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE = 1.0
"""Seconds that a run, or a phase that happens once, may take without showing anything."""

_LINE_EVERY = 10.0
"""Seconds between lines where there is no terminal."""


def watcher(progress: bool | Report) -> AbstractContextManager[Report]:
    """What takes the reports of a run: a bar or lines on standard error, or the caller's function."""
    if callable(progress):
        return nullcontext(progress)
    if not isinstance(progress, bool):
        message = f"`progress` is True, False or a function that takes reports, not {progress!r}"
        raise CallError(Diagnostic(message))
    return watching(sys.stderr) if progress else nullcontext(silent)


@contextmanager
def watching(stream: TextIO) -> Iterator[Report]:
    """A function that takes reports and shows them on a stream, which it leaves clean."""
    shown = _Bar(stream) if stream.isatty() else _Lines(stream)
    try:
        yield shown.take
    finally:
        shown.close()


def _words(report: Progress) -> str:
    return report.phase + ("" if report.error is None else f", ± {error_text(report.error)}")


class _Lines:
    """A flushed line every ten seconds, and one for a first phase that takes longer than a second."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last = time.monotonic()
        self._first: threading.Timer | None = None

    def take(self, report: Progress) -> None:
        if self._first is None:
            self._first = _later(lambda: self._write(f"{report.phase}…"), 2 * _PATIENCE)
            return
        self._first.cancel()
        if time.monotonic() - self._last >= _LINE_EVERY:
            self._last = time.monotonic()
            self._write(_words(report) + (f", {report.done:.0%}" if report.done > 0 else "…"))

    def _write(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()

    def close(self) -> None:
        if self._first is not None:
            self._first.cancel()


class _Bar:
    """A bar that appears after a second and goes when the run is over."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._latest = Progress("starting", 0.0, 0.0)
        self._shown: Bar | None = None
        self._lock = threading.Lock()
        self._timer = _later(self._show, _PATIENCE)

    def take(self, report: Progress) -> None:
        with self._lock:
            self._latest = report
            self._update()

    def _update(self) -> None:
        if self._shown is not None:
            words = _words(self._latest)
            self._shown.update(self._shown.task_ids[0], completed=self._latest.done, description=words)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        bar = Bar(*columns, console=Console(file=self._stream), transient=True)
        with self._lock:
            bar.add_task("", total=1.0)
            bar.start()
            self._shown = bar
            self._update()

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            if self._shown is not None:
                self._shown.stop()


def _later(call: Callable[[], None], seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer
