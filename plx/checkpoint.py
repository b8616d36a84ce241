"""Runs that survive: where chains stand is written to a file, and another process goes on from there.

The file is a line of JSON (who wrote it), the pickled `Task`, and a digest of both. It is replaced as a
whole, so it is never half of one.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from plx.errors import CallError, Diagnostic, PlxError
from plx.graph.model import GroundModel
from plx.infer.inference import Inference
from plx.infer.mcmc.batches import Run
from plx.infer.options import Options
from plx.jit.pickles import Pickler
from plx.origin import Origin
from plx.saving import replaced, require_writable

_HEAD = b"plx checkpoint "
_FORMAT = 1
_DIGEST = hashlib.blake2b().digest_size

_FOREIGN, _WRITTEN_BY = "is no checkpoint of plx", "`plx run … --checkpoint FILE` writes one"

_EVERY = 2.0
"""Seconds between two checkpoints, and …"""

_SHARE = 0.05
"""… the share of the time that they may take."""


@dataclass
class Task:
    """What a run is to answer, and how far it has come.

    ``done`` are the answers to groups of queries, by their positions; ``runs`` are the chains of others,
    ``seconds`` what all of it took.
    """

    name: str
    origin: Origin
    ground: GroundModel
    method: str
    options: Options
    done: dict[tuple[int, ...], Inference] = field(default_factory=dict)
    runs: dict[tuple[int, ...], Run[Any]] = field(default_factory=dict)
    seconds: float = 0.0

    def left(self, seconds: float | None, samples: int | None, accuracy: float | None) -> Options:
        """The options to go on with: those of the run, with what is said anew and the seconds that are left.

        Raises CallError where nothing is left to do.
        """
        told = self.options
        if accuracy is not None:
            told = replace(told, accuracy=accuracy)
        if samples is not None:
            told = replace(told, samples=samples, seconds=None)
        elif told.samples is None and seconds is None and told.seconds is not None:
            seconds = told.seconds - self.seconds
            if seconds <= 0:
                message = f"the run has had its {told.seconds:g} seconds"
                raise CallError(Diagnostic(message, hint="give it more --seconds, or --samples, to go on"))
        return told if seconds is None else replace(told, seconds=seconds)


class Checkpoint:
    """A file that a run is kept in while it goes on; ``spent`` tells its seconds so far."""

    def __init__(self, path: Path, task: Task, spent: Callable[[], float]) -> None:
        self.path, self.task = path, task
        self._notes: tuple[str, ...] = ()
        self._before, self._spent, self._next = task.seconds, spent, spent() + _EVERY
        self._at: tuple[int, ...] = ()

    def kept(
        self, positions: tuple[int, ...], options: Options, answer: Callable[[Options], Inference]
    ) -> Inference:
        """The answers to a group of queries, its chains being kept; those that came to an end are not worked
        out again, and chains that were kept go on."""
        task = self.task
        if positions in task.done:
            return task.done[positions]
        self._at = positions
        found = answer(replace(options, keeper=self, resumed=task.runs.get(positions)))
        if found.status == "done":
            task.done[positions] = found
            task.runs.pop(positions, None)
        return replace(found, notes=(*found.notes, *self._notes))

    def keep(self, run: Run[Any], ended: bool) -> None:
        """Write where a run stands, unless it was written not long ago."""
        self.task.runs[self._at] = run
        if ended or self._spent() >= self._next:
            self._write()

    def close(self, complete: bool) -> None:
        """Remove the file where all runs came to their end: nothing is left to go on with."""
        if complete and not self.task.runs:
            self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        """Give the file this content. A run goes on where that cannot be done, and says so."""
        began = self._spent()
        self.task.seconds = self._before + began
        try:
            with replaced(self.path) as stream:
                _dump(self.task, stream)
            self._notes = ()
        except OSError as error:
            note = f"{self.path} could not be written: {os.strerror(error.errno or errno.EIO)}"
            if not self._notes:  # at once, as a run that is killed says nothing at its end
                warnings.warn(f"{note}; the run goes on without", RuntimeWarning, stacklevel=2)
            self._notes = (note,)
        now = self._spent()
        self._next = now + max(_EVERY, (now - began) / _SHARE)


def _dump(task: Task, stream: BinaryIO) -> None:
    digest = _Digest(stream)
    digest.write(_HEAD + json.dumps(_writer()).encode() + b"\n")
    Pickler(digest, protocol=pickle.HIGHEST_PROTOCOL).dump(task)
    stream.write(digest.digest())


class _Digest:
    """A stream that keeps the digest of what is written to it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._hash = stream, hashlib.blake2b()

    def write(self, content: Any) -> int:
        self._hash.update(content)
        return self._stream.write(content)

    def digest(self) -> bytes:
        return self._hash.digest()


def _writer() -> dict[str, object]:
    """What must be the same in the process that goes on: pickles of one are not those of another."""
    import numpy as np

    python = ".".join(map(str, sys.version_info[:2]))
    return {"format": _FORMAT, "plx": version("plx"), "python": python, "numpy": np.__version__.split(".")[0]}


def read(path: Path) -> Task:
    """The run that a file keeps. Only files of one's own should be read: a pickle can hold any code.

    Raises PlxError where it cannot be read, is no checkpoint, is damaged or of another plx.
    """
    try:
        with path.open("rb") as stream:
            head = stream.readline(1 << 12)
            if not head.startswith(_HEAD):
                raise _unfit(path, _FOREIGN, _WRITTEN_BY)
            _require_whole(path, stream, head)
            _require_writer(path, head)
            return _task(path, stream)
    except OSError as error:
        raise _unfit(path, f"cannot be read: {os.strerror(error.errno or errno.EIO)}") from None


def _task(path: Path, stream: BinaryIO) -> Task:
    """The task of a whole file. Raises PlxError where this process has not what it is made of."""
    try:
        task = pickle.load(stream)
    except (ImportError, AttributeError, TypeError, ValueError, LookupError, pickle.PickleError) as error:
        hint = "modules of your own that it was made with must be found by the names that they had"
        raise _unfit(path, f"holds what cannot be made here: {error}", hint) from None
    if not isinstance(task, Task):
        raise _unfit(path, _FOREIGN, _WRITTEN_BY)
    return task


def _require_whole(path: Path, stream: BinaryIO, head: bytes) -> None:
    """Compare the digest, and go back to where the task begins. Raises PlxError."""
    size, digest = path.stat().st_size - _DIGEST, hashlib.blake2b(head)
    while stream.tell() < size and (part := stream.read(min(1 << 20, size - stream.tell()))):
        digest.update(part)
    if stream.read() != digest.digest():
        raise _unfit(path, "is damaged: its digest is not that of its content", "begin the run anew")
    stream.seek(len(head))


def _require_writer(path: Path, head: bytes) -> None:
    try:
        wrote, here = dict(json.loads(head[len(_HEAD) :])), _writer()
    except (ValueError, TypeError):
        raise _unfit(path, _FOREIGN, _WRITTEN_BY) from None
    other = [
        f"{name} {wrote.get(name)} (here {here[name]})" for name in here if wrote.get(name) != here[name]
    ]
    if other:
        raise _unfit(path, f"was written by {', '.join(other)}", "go on with what wrote it, or begin anew")


def _unfit(path: Path, what: str, hint: str | None = None) -> PlxError:
    return PlxError(Diagnostic(f"{path} {what}", hint=hint))


@contextmanager
def held(path: Path, resumed: bool = False) -> Iterator[None]:
    """Keep other processes from a checkpoint meanwhile.

    Raises PlxError where one has it, or where a run that is not ``resumed`` would write over another.
    """
    try:
        require_writable(path)
    except OSError as error:
        raise _unfit(path, f"cannot be written: {os.strerror(error.errno or errno.EIO)}") from None
    aside = path.with_name(path.name + ".lock")
    with _opened(path, aside) as stream:
        if not _locked(stream, aside):
            raise _unfit(path, "is in use by another run", "give each run a file of its own")
        try:
            if path.exists() and not resumed:
                hint = f"go on with it: `plx run --resume {path}`, or delete it"
                raise _unfit(path, "is there already", hint)
            yield
        finally:
            aside.unlink(missing_ok=True)


def _opened(path: Path, aside: Path) -> BinaryIO:
    """The file that is locked for a checkpoint. Raises PlxError where a full disk has no place for it."""
    try:
        return aside.open("wb")
    except OSError as error:
        raise _unfit(path, f"cannot be written: {os.strerror(error.errno or errno.EIO)}") from None


def _locked(stream: BinaryIO, aside: Path) -> bool:
    """Whether this process has a file to itself; the system releases it, also after a kill.

    A file that its holder removed between its opening and its locking here is no longer the one that others
    open, so to hold it is not enough.
    """
    try:
        import fcntl
    except ImportError:  # Windows refuses to remove a file that another process has open
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(stream.fileno()), aside.stat())
    except OSError:
        return False
