"""One damaged input, read under limits of time and memory."""

from __future__ import annotations

import resource
import signal
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType

from plx.errors import PlxError
from tests.fuzz.inputs import Inputs
from tests.fuzz.mutate import damaged

SECONDS = 5.0
"""Processor time that reading a small input may take."""

MEMORY = 2 << 30
"""Bytes that it may take more than the process has."""


class TooLong(BaseException):
    """Raised in the middle of what takes too long."""


def case(inputs: Inputs, seed: str) -> bytes:
    """The damaged input of a seed."""
    random = Random(seed)
    return damaged(random.choice(inputs.texts), inputs.texts, inputs.pool, random)


def fault(inputs: Inputs, content: bytes, folder: Path) -> str | None:
    """What is wrong with the way an input is read; None if it is read, or refused in words."""
    try:
        with _limited(SECONDS):
            inputs.read(content, folder)
    except PlxError as error:
        return None if error.diagnostics and str(error) else "a PlxError without words"
    except (Exception, TooLong):
        return traceback.format_exc(limit=-8)
    return None


@contextmanager
def memory_bounded() -> Iterator[None]:
    """At most so much more memory for the process; more is a MemoryError."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    held = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, before[1]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
