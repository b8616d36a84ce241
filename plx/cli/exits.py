"""How the command line ends, whatever happens: with an exit code, and in words.

0 answered, 1 the program is at fault, 2 the call is, or what it writes to, 3 not converged (with
``--strict``), 130 interrupted (after the answers so far, if there are any), 141 nobody reads the output
any more. The last two are those of shells.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import NoReturn

UNCONVERGED = 3
INTERRUPTED = 130
UNREAD = 141


class _Interrupted(Exception):
    """Ctrl-C, where the library of the command line would have its own way with it."""


class _Unread(Exception):
    """A closed pipe, likewise."""


@contextmanager
def passed_on() -> Iterator[None]:
    """Hand Ctrl-C and closed pipes to `main`, through a library that ends the process on both."""
    try:
        yield
    except KeyboardInterrupt:
        raise _Interrupted from None
    except BrokenPipeError:
        raise _Unread from None


def main() -> NoReturn:
    """Run the command line and exit."""
    _open_streams()
    try:
        code = _ended(_call)
        code = _ended(_flushed) or code
    except (KeyboardInterrupt, RuntimeError) as error:
        # Python 3.11 wraps what comes while a class is made, as in an import.
        if isinstance(error, RuntimeError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        _say("interrupted before there was an answer")
        code = INTERRUPTED
    sys.exit(code)


def _call() -> int:
    from plx.cli.commands import app
    from plx.cli.output import complain, warn
    from plx.errors import CallError, PlxError

    warnings.showwarning = warn
    try:
        app()
    except SystemExit as end:
        return int(end.code or 0)
    except _Interrupted:
        raise KeyboardInterrupt from None
    except PlxError as error:
        complain(*error.diagnostics)
        return 2 if isinstance(error, CallError) else 1
    except MemoryError:
        _say(
            "error: the program needs more memory than there is: `plx ground` tells what is large in it;"
            " a lower --max-ground refuses large rules before they are ground"
        )
    return 1


def _flushed() -> int:
    sys.stdout.flush()
    return 0


def _ended(part: Callable[[], int]) -> int:
    """The exit code of a part of the call, also where standard output or standard error fail."""
    try:
        return part()
    except (BrokenPipeError, _Unread):
        _drop_output()
        return UNREAD
    except OSError as error:
        _drop_output()
        _say(f"error: the output cannot be written: {(error.strerror or str(error)).lower()}")
        return 2


def _open_streams() -> None:
    """Make standard streams that take any character; one that is closed fails only if it is written to."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _drop_output() -> None:
    """Lose what standard output still holds: Python would complain of it on its way out."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(text: str) -> None:
    with suppress(OSError):
        sys.stderr.write(text + "\n")
