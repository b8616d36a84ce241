"""A library in a process of its own that reads what it is to do, and has a limit of memory."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from plx import deadline
from plx.infer.exact_plan import GaveUpError
from plx.infer.own_process import apart, tied

_NO_MEMORY = 3
"""The exit status of a process whose memory is over."""


def answer_apart(module: str, name: str, memory: int, sent: object) -> Any:
    """What a module that `serve`s answers to what is sent; ``name`` is that of its library, for people.

    Raises GaveUpError where it is killed or out of memory, and OutOfTimeError at the deadline.
    """
    deadline.check()
    ended = apart(module, pickle.dumps((memory, sent)))
    if ended.status is None:
        raise deadline.OutOfTimeError
    if ended.status == _NO_MEMORY:
        raise GaveUpError(f"{name} took more than {memory:,} bytes of memory")
    if ended.status < 0:
        raise GaveUpError(f"{name} was killed (signal {-ended.status})")
    if ended.status:
        raise GaveUpError(f"{name} failed (exit status {ended.status})")
    return pickle.loads(ended.output)


def serve(library: str, answer: Callable[[Any, Any], object]) -> None:
    """Answer what was sent with the library, in this process."""
    tied()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries print
    loaded = import_module(library)  # before memory is limited
    memory, sent = pickle.loads(sys.stdin.buffer.read())
    try:
        _limit_memory(memory)
        with answers:
            answers.write(pickle.dumps(answer(loaded, sent)))
    except MemoryError:
        os._exit(_NO_MEMORY)


def _limit_memory(memory: int) -> None:
    try:
        import resource
    except ImportError:  # there are no limits for one process
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
