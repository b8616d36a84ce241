"""How much memory grounding may take: what the caller allows, else what is free on the machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from plx.errors import CallError, Diagnostic


@dataclass(frozen=True)
class Memory:
    """A number of bytes; ``given`` by the caller, or free on the machine."""

    bytes: float
    given: bool

    @property
    def words(self) -> str:
        """``the limit is 8.0 GB``."""
        return f"the limit is {size_text(self.bytes)}" if self.given else f"{size_text(self.bytes)} are free"


def size_text(size: float) -> str:
    """A number of bytes for a message, in GB where there is a tenth of one: ``8.0 GB``, ``20.0 MB``."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.1f} MB"


_allowed: ContextVar[int | None] = ContextVar("memory", default=None)


@contextmanager
def within(memory: int | str | None) -> Iterator[None]:
    """Ground in at most so much memory, as `size_of` reads it; None changes nothing."""
    if memory is None:
        yield
        return
    token = _allowed.set(size_of(memory))
    try:
        yield
    finally:
        _allowed.reset(token)


def allowed() -> Memory:
    """What grounding may take here."""
    given = _allowed.get()
    return Memory(_free(), given=False) if given is None else Memory(given, given=True)


def is_free(size: int) -> bool:
    """Whether so many bytes are at hand, and half as much again."""
    return size * 1.5 < _free()


def size_of(memory: int | str) -> int:
    """Bytes: a number of them, or a text such as ``8GB`` or ``500 MB``. Raises CallError for others."""
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    found = _SIZE.fullmatch(memory.strip()) if isinstance(memory, str) else None
    size = int(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if not size:
        message = f"`memory` is a size such as 8GB or 500MB, not `{memory}`"
        raise CallError(Diagnostic(message))
    return size


_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKmMgGtT][iI]?[bB]|)", re.ASCII)

_LEAST = 1 << 30
"""At least so much counts as free: a small program is not refused on a machine that is short of memory."""


def _free() -> float:
    """Bytes that are free on this machine or in its control group; infinite where Linux does not say."""
    found = [_available(), _left_in_group()]
    return max(min(found), _LEAST)


def _available() -> float:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    sizes = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return sizes[0] if sizes else float("inf")


def _left_in_group() -> float:
    """What the control group of a container leaves, the pages counted that it can drop."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return float("inf")
    return float("inf") if limit == "max" else int(limit) - used + int(stat.get("inactive_file", 0))
