"""Compiled code on disk. A file is good or is not there: whatever is damaged is compiled again.

Files are looked for beside this module, where a read-only installation may hold them, and in the user's
cache folder; they are written to the first of these that can be written to. ``NUMBA_CACHE_DIR`` names a
folder to use instead. As ssh does with keys, files and folders are used only if they belong to the user or to
root, and if nobody else may write to them.
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
_OTHERS_WRITE = 0o022


class _Refused(Exception):
    """A folder that is not to be trusted, and why."""


def folders() -> list[Path]:
    """Where compiled code may lie, first where it is looked for first."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(named)]
    found = [Path(__file__).parent / "__pycache__" / "kernels"]
    with suppress(RuntimeError):  # nobody's home
        found.append(_user_folder() / "plx")
    return found


def _user_folder() -> Path:
    named = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    return Path(named) if named and Path(named).is_absolute() else Path.home() / ".cache"


def read(kind: str, name: str) -> bytes | None:
    """What was written under a name; None if nothing is there, or nothing to be trusted."""
    for folder in folders():
        try:
            data = _trusted(folder / f"{kind}-{name}{SUFFIX}")
        except _Refused as refused:
            _say_refused(str(refused))
        except OSError:
            pass
        else:
            if sha256(data[_SEAL:]).digest() == data[:_SEAL]:
                return data[_SEAL:]
    return None


def _trusted(file: Path) -> bytes:
    file.lstat()  # what is not there needs no trust
    _refuse_strangers(file.parent, file.parent.stat())
    with file.open("rb") as opened:
        _refuse_strangers(file, os.fstat(opened.fileno()))
        return opened.read()


def _refuse_strangers(path: Path, status: os.stat_result) -> None:
    """Raise _Refused where another user owns a file or a folder, or may write to it."""
    if os.name == "nt":
        return  # a user's folders are closed to others, and modes say nothing
    if status.st_uid not in (0, os.geteuid()):
        raise _Refused(f"{path} belongs to another user")
    if status.st_mode & _OTHERS_WRITE:
        raise _Refused(f"other users can write to {path}")


def write(kind: str, name: str, data: bytes) -> None:
    """Keep data under a name, in place of what is there of the same kind; warns once if nowhere can be."""
    sealed = sha256(data).digest() + data
    reasons = []
    for folder in folders():
        try:
            _write_to(folder, kind, name, sealed)
            return
        except _Refused as refused:
            reasons.append(str(refused))
        except OSError:
            pass
    for reason in reasons:
        _say_refused(reason)
    if not reasons:
        _say_lost()


def _write_to(folder: Path, kind: str, name: str, data: bytes) -> None:
    """Write a file aside and rename it, so that nobody reads half of it."""
    target = folder / f"{kind}-{name}{SUFFIX}"
    aside = folder / f"{kind}-{name}.{os.getpid()}-{token_hex(4)}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_strangers(folder, folder.stat())
    try:
        with open(aside, "xb", opener=_private) as file:
            file.write(data)
        aside.replace(target)
    except OSError:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    for old in folder.glob(f"{kind}-*{SUFFIX}"):
        if old != target:
            with suppress(OSError):
                old.unlink()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)


@cache
def _say_refused(reason: str) -> None:
    _warn(
        f"compiled code on disk is not used: {reason}. Name a folder of your own with NUMBA_CACHE_DIR, or"
        " make this one safe: empty it, let it belong to you, and `chmod 700` it"
    )


@cache
def _say_lost() -> None:
    places = " or ".join(str(folder) for folder in folders())
    _warn(
        f"compiled code cannot be kept, so every run compiles anew: cannot write to {places}"
        " (NUMBA_CACHE_DIR names another folder)"
    )


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=3)
