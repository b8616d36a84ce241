"""Long calls of compiled code that Ctrl-C ends at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONG = 1e6
"""Steps that may take longer than anyone notices."""


def waited(call: Callable[[], T], steps: float) -> T:
    """The result of ``call``, made in a thread of its own if it is long and this is the main thread.

    Python looks for signals between two of its own instructions only, so a kernel of many seconds would
    make Ctrl-C wait. KeyboardInterrupt is raised here at once instead, and what the thread still does is
    lost. It must change nothing that is used afterwards, and compiled code must release the lock (``nogil``).
    """
    if steps < LONG or threading.current_thread() is not threading.main_thread():
        return call()
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
