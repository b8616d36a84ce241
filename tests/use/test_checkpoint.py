"""Runs that are kept in a file: whatever ends them, another goes on to the same answers."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import plx
from plx import checkpoint
from plx.infer.mcmc.samplers import SAMPLERS
from tests.docs.blocks import call

PROGRAM = """
type P = 1..6
random f(P): {a, b, c}
random g(P)
weight 0.5: f(x) = f(y) for x, y in P if y = x + 1
weight 0.8: g(x) <=> f(x) = a for x in P
require exists(g(x) for x in P)
query (f(1), f(6))
query g(2) & g(3)
query g(1) given f(2) = b
"""
RUN = {"seed": 5, "samples": 30_000, "accuracy": 1e-9}


class KilledError(BaseException):
    """What ends a run where it stands."""


def kill_after(writes: int, patch: pytest.MonkeyPatch) -> None:
    """Write after every batch, and end the process (almost) after so many of them."""
    whole, left = checkpoint.Checkpoint._write, [writes]

    def write(self: checkpoint.Checkpoint) -> None:
        whole(self)
        left[0] -= 1
        if not left[0]:
            raise KilledError

    patch.setattr(checkpoint, "_EVERY", 0.0)
    patch.setattr(checkpoint, "_SHARE", 1e9)
    patch.setattr(checkpoint.Checkpoint, "_write", write)


def told(result: plx.Result) -> str:
    """All but the time, to 12 digits: sums of arrays in another order of memory may differ in the last."""
    found = {name: value for name, value in result.to_dict().items() if name not in ("seconds", "program")}
    return re.sub(r"\d+\.\d{12,}(e-?\d+)?", lambda number: f"{float(number[0]):.12g}", json.dumps(found))


def killed(path: Path, method: str, writes: int, patch: pytest.MonkeyPatch) -> None:
    """Keep a run that ends in its middle."""
    with patch.context() as within:
        kill_after(writes, within)
        with pytest.raises(KilledError):
            plx.run(PROGRAM, method=method, checkpoint=path, **RUN)


@pytest.mark.parametrize("method", SAMPLERS)
def test_a_killed_run_goes_on_to_the_answers_of_a_whole_one(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.ckpt"
    killed(path, method, 5, monkeypatch)
    assert told(plx.resume(path)) == told(plx.run(PROGRAM, method=method, **RUN))


@pytest.mark.parametrize("writes", [1, 3, 40])
def test_it_does_not_matter_when_a_run_is_killed(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.ckpt"
    killed(path, "gibbs", writes, monkeypatch)
    assert told(plx.resume(path)) == told(plx.run(PROGRAM, method="gibbs", **RUN))


def test_a_process_that_is_killed(tmp_path: Path) -> None:
    program, path = tmp_path / "p.plx", tmp_path / "run.ckpt"
    program.write_text(PROGRAM, encoding="utf-8")
    options = ["--method", "gibbs", "--seed", "5", "--accuracy", "1e-9", "--samples"]
    command = [sys.executable, "-m", "plx", "run", str(program), *options, "1000000000"]
    process = subprocess.Popen([*command, "--checkpoint", str(path)], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while not path.exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        code, said = call(["run", "--resume", str(path)])
        assert code and "in use by another run" in said
    finally:
        process.kill()
        process.wait()
    kept = checkpoint.read(path)
    (run,) = kept.runs.values()
    wanted = max(1 << 18, (len(run.batches) + 64) * run.draws * run.options.chains)
    code, said = call(["run", "--resume", str(path), "--samples", str(wanted), "--format", "csv"])
    assert code == 0
    assert said == call(["run", str(program), *options, str(wanted), "--format", "csv"])[1]


def test_a_run_that_is_as_accurate_as_asked_for_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    result = plx.run(PROGRAM, method="gibbs", seed=1, accuracy=0.05, checkpoint=path)
    assert result.status == "done"
    assert plx.run(PROGRAM, method="exact", checkpoint=path).converged
    assert list(tmp_path.iterdir()) == []


def test_seconds_that_are_over_are_told(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    plx.run(PROGRAM, method="gibbs", seed=1, accuracy=1e-9, seconds=0.5, checkpoint=path)
    with pytest.raises(plx.CallError, match=r"has had its 0\.5 seconds"):
        plx.resume(path)
    assert plx.resume(path, seconds=0.2).status == "limit"


# ----------------------------------------------------------------- files that are no good


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "run.ckpt"
    killed(path, "gibbs", 2, monkeypatch)
    return path


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda content: content[:-1], "is damaged"),
        (lambda content: content[: len(content) // 2], "is damaged"),
        (lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:], "is damaged"),
        (lambda content: content.split(b"\n")[0] + b"\n", "is damaged"),
        (lambda content: b"query a\n" + content, "is no checkpoint of plx"),
        (lambda content: b"", "is no checkpoint of plx"),
        (lambda content: _whole(b"plx checkpoint [1]\n" + pickle.dumps(1)), "is no checkpoint of plx"),
        (lambda content: _whole(b"plx checkpoint nonsense\n" + pickle.dumps(1)), "is no checkpoint of plx"),
        (lambda content: _whole(_head_of(content) + pickle.dumps({})), "is no checkpoint of plx"),
        (lambda content: _whole(_head_of(content) + b"cgone\nSampler\n."), "cannot be made here: No module"),
        (lambda content: _whole(_head_of(content) + b"nonsense"), "cannot be made here"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_in_words(kept: Path, changed, said: str) -> None:
    kept.write_bytes(changed(kept.read_bytes()))
    with pytest.raises(plx.PlxError, match=said):
        plx.resume(kept)


def _whole(content: bytes) -> bytes:
    return content + hashlib.blake2b(content).digest()


def _head_of(content: bytes) -> bytes:
    return content[: content.index(b"\n") + 1]


def test_a_file_of_another_version_is_refused(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "version", lambda name: "0.0.1")
    with pytest.raises(plx.PlxError, match=r"was written by plx .* \(here 0\.0\.1\)"):
        plx.resume(kept)


def test_a_run_does_not_write_over_another(kept: Path) -> None:
    with pytest.raises(plx.PlxError, match="is there already"):
        plx.run(PROGRAM, method="gibbs", checkpoint=kept)
    with checkpoint.held(kept, resumed=True), pytest.raises(plx.PlxError, match="in use by another run"):
        plx.resume(kept)
    with pytest.raises(plx.PlxError, match="No such file"):
        plx.run(PROGRAM, method="gibbs", checkpoint=kept.parent / "none" / "run.ckpt")
    with pytest.raises(plx.PlxError, match="cannot be read"):
        plx.resume(kept.parent / "other.ckpt")


def test_a_lock_that_its_holder_has_removed_is_none(tmp_path: Path) -> None:
    aside = tmp_path / "run.ckpt.lock"
    with aside.open("wb") as stream:
        aside.unlink()
        assert not checkpoint._locked(stream, aside)
        aside.touch()
        assert not checkpoint._locked(stream, aside)
    with aside.open("wb") as stream:
        assert checkpoint._locked(stream, aside)


def test_a_full_disk_leaves_the_checkpoint_before(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    limits, before = resource.getrlimit(resource.RLIMIT_FSIZE), kept.read_bytes()
    monkeypatch.setattr(checkpoint, "_EVERY", 0.0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.warns(RuntimeWarning, match="File too large; the run goes on without"):
            result = plx.resume(kept)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert any("could not be written: File too large" in note for note in result.notes)
    assert [file.name for file in kept.parent.iterdir()] == [kept.name] and kept.read_bytes() == before
    assert result.inference.draws >= RUN["samples"]


def test_a_run_goes_on_where_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checkpoint, "_EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "_dump", full)
    with pytest.warns(RuntimeWarning, match="No space left on device; the run goes on without") as told:
        result = plx.run(PROGRAM, method="gibbs", checkpoint=tmp_path / "run.ckpt", **RUN)
    assert len(told) == 1  # of many batches
    assert any("could not be written: No space left" in note for note in result.notes)
    assert list(tmp_path.iterdir()) == []


def test_what_the_command_line_takes(tmp_path: Path) -> None:
    code, said = call(["run"])
    assert code == 2 and "give a program, or with --resume the checkpoint" in said
    assert call(["run", "a.plx", "--resume", "run.ckpt"])[0] == 2
    code, said = call(["run", "--resume", str(tmp_path / "none.ckpt")])
    assert code == 1 and "cannot be read" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seed", "3", "--chains", "20"], "--seed, --chains: the checkpoint has that already"),
        (["--checkpoint", "other.ckpt"], "--checkpoint: the checkpoint has that already"),
    ],
)
def test_what_a_checkpoint_says_already_is_refused(kept: Path, options: list[str], said: str) -> None:
    code, told = call(["run", "--resume", str(kept), *options])
    assert code == 2 and said in re.sub(r"[\s│]+", " ", told)
