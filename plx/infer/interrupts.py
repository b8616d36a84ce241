"""Long calls of compiled code that Ctrl-C and the end of the time stop at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from plx import deadline
from plx.deadline import OutOfTimeError
from plx.threads import THREADS

T = TypeVar("T")

Stop = npt.NDArray[np.bool_]

_LOOK = 0.1
"""Seconds after which a wait looks up: where another library has taken over the signal, none wakes it."""

LONG = 1e6
"""Steps that may take longer than anyone notices."""


def waited(call: Callable[[Stop], T], steps: float) -> T:
    """The result of ``call``, made in a thread of its own if it is long.

    Python looks for signals and clocks between two of its own instructions only, so a kernel of many seconds
    would make Ctrl-C wait. KeyboardInterrupt, or OutOfTime at the deadline, is raised here at once instead.
    The call is handed a flag that is set then: it should look at it now and again, and return. It must change
    nothing that is used afterwards, and compiled code must release the lock (``nogil``).
    """
    deadline.check()
    stop = np.zeros(1, dtype=np.bool_)
    if steps < LONG or not THREADS:
        return call(stop)
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call(stop))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
    thread.start()
    try:
        _join(thread)
    except BaseException:
        stop[0] = True
        raise
    if errors:
        raise errors[0]
    return results[0]


def _join(thread: threading.Thread) -> None:
    """Wait for a thread. Raises OutOfTime at the deadline."""
    while thread.is_alive():
        left = deadline.seconds_left()
        if left <= 0:
            raise OutOfTimeError
        thread.join(min(left, _LOOK))
