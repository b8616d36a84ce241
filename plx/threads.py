"""Parts of long work, dealt to threads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from threading import Event, Lock
from typing import TypeVar

T = TypeVar("T")

_SHARES = 8
"""Shares of short work for each thread: as they may take unequal time, more than one."""

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


@contextmanager
def working(threads: int) -> Iterator[Callable[[Callable[[T], None], Sequence[T]], None]]:
    """Threads that stay for many rounds of short work: what it gives does some work for each item, a few of
    them at a time wherever a thread is free, and waits for all."""
    if threads < 2 or not THREADS:
        yield _all
        return
    with ThreadPoolExecutor(threads) as pool:

        def each(work: Callable[[T], None], items: Sequence[T]) -> None:
            step = max(1, len(items) // (_SHARES * threads))
            parts = [items[first : first + step] for first in range(0, len(items), step)]
            for done in [pool.submit(_all, work, part) for part in parts]:
                done.result()

        yield each


def _all(work: Callable[[T], None], items: Sequence[T]) -> None:
    for item in items:
        work(item)


def pieces(n: int, size: int) -> list[slice]:
    """``n`` rows in pieces of at most ``size``."""
    return [slice(begin, min(n, begin + size)) for begin in range(0, n, size)]
