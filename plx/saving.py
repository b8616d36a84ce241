"""Writing files: a file holds all of its new content or what it held before, never half of it."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO


def require_writable(path: Path) -> None:
    """Look whether a file can be written, and open nothing. Raises OSError if not."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not path.exists() and not path.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def save(path: Path, content: bytes) -> None:
    """Give a file this content, at once: it is written aside and renamed.

    A link keeps leading to its file, and a file keeps its permissions. What is no plain file (a pipe, a
    terminal), or is open as an output of this process, is written to as it is. Raises OSError.
    """
    require_writable(path)
    if _is_stream(path):
        with path.open("ab") as stream:
            stream.write(content)
    elif os.access(path.resolve().parent, os.W_OK):
        with replaced(path.resolve()) as stream:
            stream.write(content)
    else:
        path.write_bytes(content)


def _is_stream(path: Path) -> bool:
    if not path.exists():
        return False
    found = path.stat()
    return not stat.S_ISREG(found.st_mode) or any(os.path.samestat(found, other) for other in _outputs())


def _outputs() -> list[os.stat_result]:
    """The files behind standard output and standard error, where they are open."""
    found = []
    for stream in (sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError):
            found.append(os.fstat(stream.fileno()))  # type: ignore[union-attr]
    return found


@contextmanager
def replaced(target: Path) -> Iterator[BinaryIO]:
    """A stream of the new content of a file, which has it once all is written and on the disk. Raises
    OSError; whatever is raised, the file is as it was."""
    aside = target.with_name(f".{target.name[:200]}.{token_hex(4)}")
    try:
        with aside.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, aside)
        aside.replace(target)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
