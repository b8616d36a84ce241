"""Where the large arrays of a grounding live: in memory, or in files that are mapped into it."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_SMALL = 1 << 18
"""Bytes up to which an array stays in memory."""


class DiskFullError(OSError):
    """An array of so many bytes has no room, neither in ``folder`` nor in memory."""

    def __init__(self, folder: str, size: int) -> None:
        super().__init__(f"{size} bytes do not fit into {folder}")
        self.folder, self.size = folder, size


@dataclass
class Room:
    """Where large arrays are made: in memory until there is a ``folder``, then in files there.

    The files have no names: the system removes each with its last array, and all when the process ends,
    however it does. Where the disk is full, ``in_memory`` says whether so many bytes may be taken there.
    ``spilled`` are the bytes in files.
    """

    in_memory: Callable[[int], bool]
    folder: str | None = None
    spilled: int = 0

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """An array of this shape. Raises DiskFullError."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if self.folder is None or size <= _SMALL:
            return np.empty(shape, dtype)
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                _reserve(file, size)
                found = np.memmap(file, dtype, "r+", shape=shape).view(np.ndarray)
        except OSError:
            if not self.in_memory(size):
                raise DiskFullError(self.folder, size) from None
            return np.empty(shape, dtype)
        self.spilled += size
        return found


_room: ContextVar[Room | None] = ContextVar("room", default=None)


@contextmanager
def working_in(room: Room) -> Iterator[Room]:
    """Make large arrays in this room."""
    token = _room.set(room)
    try:
        yield room
    finally:
        _room.reset(token)


def current() -> Room | None:
    """The room that arrays are made in; None: memory."""
    return _room.get()


def empty(shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """An array to be written, where there is room for it."""
    room, shape = current(), (shape,) if isinstance(shape, int) else shape
    return np.empty(shape, dtype) if room is None else room.empty(shape, dtype)


def taken(array: Array, rows: Array) -> Array:
    """The entries of a long array that a mask [n] has."""
    found, at = empty(int(np.count_nonzero(rows)), array.dtype), 0
    for part in pieces(len(array)):
        some = array[part][rows[part]]
        found[at : at + len(some)] = some
        at += len(some)
    return found


def kept(array: Array) -> Array:
    """An array that is done, or a copy of it where there is room."""
    room = current()
    if room is None or room.folder is None:
        return array
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def _reserve(file: IO[bytes], size: int) -> None:
    """Make a file so large that writing to its mapping cannot fail. Raises OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    nothing = bytes(_SMALL)
    for begin in range(0, size, _SMALL):
        file.write(nothing[: size - begin])
    file.flush()


PIECE = 1 << 18
"""Long arrays are worked on so many entries at a time, so that what is between stays in the cache."""


def pieces(n: int) -> Iterator[slice]:
    """The parts of an array of n entries, one after the other."""
    return (slice(begin, min(begin + PIECE, n)) for begin in range(0, n, PIECE))


def look_up(table: Array, places: Array, out: Array) -> Array:
    """``table[places]``, written to ``out`` piece by piece; ``out`` may be ``places``."""
    for part in pieces(len(places)):
        np.take(table, places[part].astype(np.int64), out=out[part], mode="clip")
    return out


def starts_of(widths: Sequence[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """Offsets [n + 1] of rows, of which ``(n, k)`` says that the next n have k entries each."""
    rows = sum(n for n, _ in widths)
    start: npt.NDArray[np.int64] = empty(rows + 1, np.int64)
    at, first = 0, 0
    for n, k in widths:
        for part in pieces(n):
            start[at + part.start : at + part.stop] = np.arange(
                first + part.start * k, first + part.stop * k, k
            )
        at, first = at + n, first + n * k
    start[at] = first
    return start


def trim() -> None:
    """Give back to the system what many arrays that are let go left free between others, where glibc does."""
    try:
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        pass
