"""Work in a process of its own, which can be killed: for libraries that look at no clock, or take what memory
they like."""

from __future__ import annotations

import ctypes
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

from plx import deadline

Process = subprocess.Popen[bytes]


class Ended(NamedTuple):
    """What a process wrote, and its exit status: negative where a signal ended it, None where time did."""

    output: bytes
    status: int | None


_PARENT_DEATH = 1
"""PR_SET_PDEATHSIG of Linux."""


def tied() -> None:
    """End this process with the one that started it, however that ends; where the system can do so."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGKILL)


def apart(module: str, sent: bytes, too_late: Callable[[Process], bytes] = lambda process: b"") -> Ended:
    """Run a module as a program: it gets ``sent`` as its input, and the time until the deadline.

    ``too_late`` may ask a process whose time is over for what it has.
    """
    with subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    ) as process:
        try:
            left = deadline.seconds_left()
            output, _ = process.communicate(sent, timeout=None if math.isinf(left) else left)
            return Ended(output, process.returncode)
        except subprocess.TimeoutExpired:
            return Ended(too_late(process), None)
        finally:
            process.kill()
