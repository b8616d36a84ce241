"""Parts of long work, dealt to threads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from threading import Event, Lock
from typing import TypeVar

T = TypeVar("T")

THREADS = sys.platform != "emscripten"
"""Whether there are threads: in a browser Python has none."""


def cores() -> int:
    """How many threads may work at once."""
    return (os.cpu_count() or 1) if THREADS else 1


def spread(work: Callable[[T], None], items: Sequence[T]) -> None:
    """Do ``work`` for each item, the next one wherever a thread is free. After an exception no item is
    begun, and it is raised once all threads rest."""
    threads = min(cores(), len(items))
    if threads < 2:
        for item in items:
            work(item)
        return
    left, lock, stop = iter(items), Lock(), Event()

    def some() -> None:
        while not stop.is_set():
            with lock:
                taken = list(islice(left, 1))
            if not taken:
                return
            try:
                work(taken[0])
            except BaseException:
                stop.set()
                raise

    with ThreadPoolExecutor(threads) as pool:
        waiting = [pool.submit(some) for _ in range(threads)]
        try:
            for one in waiting:
                one.result()
        finally:
            stop.set()


def pieces(n: int, size: int) -> list[slice]:
    """``n`` rows in pieces of at most ``size``."""
    return [slice(begin, min(n, begin + size)) for begin in range(0, n, size)]
