"""Compiled code on disk. A file is good or is not there: whatever is damaged is compiled again.

Files are looked for beside this module, where a read-only installation may hold them, and in the user's
cache folder; they are written to the first of these that can be written to. ``NUMBA_CACHE_DIR`` names a
folder to use instead.
"""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

SUFFIX = ".kernel"
_SEAL = 32
"""Bytes of the checksum that a file begins with."""


def folders() -> list[Path]:
    """Where compiled code may lie, first where it is looked for first."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(named)]
    found = [Path(__file__).parent / "__pycache__"]
    with suppress(RuntimeError):  # nobody's home
        found.append(_user_folder() / "plx")
    return found


def _user_folder() -> Path:
    named = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    return Path(named) if named and Path(named).is_absolute() else Path.home() / ".cache"


def read(kind: str, name: str) -> bytes | None:
    """What was written under a name; None if there is nothing, or it is damaged."""
    for folder in folders():
        with suppress(OSError):
            data = (folder / f"{kind}-{name}{SUFFIX}").read_bytes()
            if sha256(data[_SEAL:]).digest() == data[:_SEAL]:
                return data[_SEAL:]
    return None


def write(kind: str, name: str, data: bytes) -> None:
    """Keep data under a name, in place of what is there of the same kind; warns once if nowhere can be."""
    sealed = sha256(data).digest() + data
    if not any(_written(folder, kind, name, sealed) for folder in folders()):
        _say_lost()


def _written(folder: Path, kind: str, name: str, data: bytes) -> bool:
    """Write a file aside and rename it, so that nobody reads half of it; False where that cannot be done."""
    target = folder / f"{kind}-{name}{SUFFIX}"
    aside = folder / f"{kind}-{name}.{os.getpid()}-{token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(data)
        aside.replace(target)
    except OSError:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        return False
    for old in folder.glob(f"{kind}-*{SUFFIX}"):
        if old != target:
            with suppress(OSError):
                old.unlink()
    return True


@cache
def _say_lost() -> None:
    places = " or ".join(str(folder) for folder in folders())
    warnings.warn(
        f"compiled code cannot be kept, so every run compiles anew: cannot write to {places}"
        " (NUMBA_CACHE_DIR names another folder)",
        RuntimeWarning,
        stacklevel=2,
    )
