"""``plx run --watch``: a run again whenever a file that it reads changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NoReturn

import typer

from plx.cli.output import complain
from plx.data.files import SUFFIXES
from plx.errors import PlxError

_INTERVAL: Final = 0.25
"""Seconds between looks at the files."""

State = dict[Path, tuple[int, int] | None]


def watch(run: Callable[[], None], files: Callable[[], Iterable[Path]]) -> NoReturn:
    """Run now, and again after each change of a file, until Ctrl-C.

    What is wrong with the program or the call is said, and waited out. Ctrl-C while it waits ends the command
    with exit code 0, Ctrl-C during a run as it ends one that is not watched. ``files`` is asked before each
    run.
    """
    while True:
        before = _state(files())
        try:
            run()
        except PlxError as error:
            complain(*error.diagnostics)
        except typer.BadParameter as error:
            sys.stderr.write(f"error: {error.format_message()}\n")
        except typer.Exit as end:
            if end.exit_code == _INTERRUPTED:
                raise
        sys.stdout.flush()
        try:
            changed = _changed(before)
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            raise typer.Exit from None
        sys.stderr.write(f"\n── {changed.name} changed, {time.strftime('%H:%M:%S')} ──\n")


_INTERRUPTED: Final = 130


def _changed(before: State) -> Path:
    """Wait until a file changes, and then until it does so no more; gives back which one."""
    sys.stderr.write(f"watching {', '.join(sorted(path.name for path in before))}; Ctrl-C ends it\n")
    sys.stderr.flush()
    while (now := _state(before)) == before:
        time.sleep(_INTERVAL)
    changed = next(path for path in before if now[path] != before[path])
    while True:
        time.sleep(_INTERVAL / 2)
        later = _state(before)
        if later == now and later[changed] is not None:
            return changed
        now = later


def _state(files: Iterable[Path]) -> State:
    found: State = {}
    for path in files:
        try:
            stat = path.stat()
            found[path] = (stat.st_mtime_ns, stat.st_size)
        except OSError:  # it may be on its way to be written anew
            found[path] = None
    return found


def read_files(
    program: Path, evidence: Iterable[str], bindings: Iterable[str], others: Iterable[Path | None]
) -> list[Path]:
    """The files that a run reads: the program, those that it names, evidence, and those bound."""
    given = [*evidence, *(text.partition("=")[2].split(" else ")[0].split(" table ")[0] for text in bindings)]
    told = [Path(text) for text in given if Path(text).suffix.lower() in SUFFIXES or Path(text).is_file()]
    found = [program, *_named(program), *told, *(path for path in others if path is not None)]
    return list(dict.fromkeys(found))


def _named(program: Path) -> list[Path]:
    from plx.recipe import named_files
    from plx.source import Source

    if program.suffix.lower() not in ("", ".plx"):
        return []
    try:
        text = program.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [program.parent / name for name in named_files(Source(str(program), text))]
