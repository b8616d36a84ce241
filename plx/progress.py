"""What a run shows of itself: a bar on a terminal or in a notebook, else a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from plx.answer.numbers import error_text
from plx.errors import CallError, Diagnostic
from plx.infer.options import Progress, Report, silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE = 1.0
"""Seconds that a run, or a phase that happens once, may take without showing anything."""

_REDRAW_EVERY = 0.2
"""Seconds between two states of a bar in a notebook."""

_LINE_EVERY = 10.0
"""Seconds between lines where there is no terminal."""


def watcher(progress: bool | Report) -> AbstractContextManager[Report]:
    """What takes the reports of a run: a bar or lines on standard error, or the caller's function."""
    if callable(progress):
        return nullcontext(progress)
    if not isinstance(progress, bool):
        message = f"`progress` is True, False or a function that takes reports, not {progress!r}"
        raise CallError(Diagnostic(message))
    return watching(sys.stderr, _in_notebook()) if progress else nullcontext(silent)


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this, which shows what `display` is given."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def watching(stream: TextIO, notebook: bool = False) -> Iterator[Report]:
    """A function that takes reports and shows them on a stream or in a notebook, which it leaves clean."""
    shown = _Late(_NotebookBar()) if notebook else _on_stream(stream)
    try:
        yield shown.take
    finally:
        shown.close()


def _on_stream(stream: TextIO) -> _Late | _Lines:
    return _Late(_TerminalBar(stream)) if stream.isatty() else _Lines(stream)


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


class _Face(Protocol):
    """A bar."""

    def update(self, report: Progress) -> None:
        """Show a report; the first time, the bar too."""

    def close(self) -> None:
        """Take the bar away, if it is there."""


class _Late:
    """A bar that appears after a second and goes when the run is over."""

    def __init__(self, face: _Face) -> None:
        self._face = face
        self._latest = Progress("starting", 0.0, 0.0)
        self._due = False
        self._lock = threading.Lock()
        self._timer = _later(self._show, _PATIENCE)

    def take(self, report: Progress) -> None:
        with self._lock:
            self._latest = report
            if self._due:
                self._face.update(report)

    def _show(self) -> None:
        with self._lock:
            self._due = True
            self._face.update(self._latest)

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._due = False
            self._face.close()


class _TerminalBar:
    """A bar of Rich."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: Bar | None = None

    def update(self, report: Progress) -> None:
        if self._bar is None:
            self._bar = self._started()
        self._bar.update(self._bar.task_ids[0], completed=report.done, description=_words(report))

    def _started(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        bar = Bar(*columns, console=Console(file=self._stream), transient=True)
        bar.add_task("", total=1.0)
        bar.start()
        return bar

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


class _NotebookBar:
    """An element of HTML that is shown anew, some times a second."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._last = 0.0

    def update(self, report: Progress) -> None:
        if time.monotonic() - self._last < _REDRAW_EVERY:
            return
        self._last = time.monotonic()
        value = f' value="{report.done:.3f}"' if report.done > 0 else ""
        words = _words(report)
        self._draw(f"<progress{value}></progress> {escape(words)}", f"{words}…")

    def _draw(self, html: str, text: str) -> None:
        data = {"text/html": html, "text/plain": text}
        if self._handle is None:
            display = import_module("IPython.display").display
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def close(self) -> None:
        if self._handle is not None:
            self._draw("", "")


def _later(call: Callable[[], None], seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer
