"""The bytes of a file, or in words why there are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from plx.errors import Diagnostic, PlxError
from plx.source import Span


def contents(path: Path, at: Span) -> bytes:
    """All bytes of a file. Raises PlxError, at the place that asks for it, if it cannot be read."""
    return _read(path, at, path.read_bytes)


def beginning(path: Path, at: Span, length: int = 16) -> bytes:
    """The first bytes of a file. Raises PlxError as `contents`."""

    def read() -> bytes:
        with path.open("rb") as stream:
            return stream.read(length)

    return _read(path, at, read)


def _read(path: Path, at: Span, read: Callable[[], bytes]) -> bytes:
    try:
        return read()
    except FileNotFoundError:
        raise PlxError(Diagnostic(f"there is no file `{path}`", at, hint=_hint(path))) from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise PlxError(Diagnostic(f"`{path}` cannot be read: {reason}", at)) from None


def _hint(path: Path) -> str:
    return f"a path in a program is relative to it, one in a call is not; looked in `{path.parent.resolve()}`"
