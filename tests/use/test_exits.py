"""How commands end when they are interrupted, or when nobody takes what they print. Real processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLX = [sys.executable, "-m", "plx"]
COIN = "random a\nweight 1: a\nquery a\n"

# What each command takes long with: a pigeonhole for the solver, 64 million instances, a graph, chains.
PIGEONS = """
type Seen from "seen.csv"
type Pigeon = 0..11
type Hole = 0..10
random sits(Pigeon, Hole)
require exists(sits(p, h) for h in Hole) for p in Pigeon
require !(sits(p, h) & sits(q, h)) for p, q in Pigeon, h in Hole if p < q
query sits(0, 0)
"""
TRIPLES = """
type Seen from "seen.csv"
type N = 1..400
random a(N)
weight 1: a(i) & a(j) => a(k) for i, j, k in N
query a(1)
"""
GRID = """
type Seen from "seen.csv"
type N = 1..60
random up(N, N)
weight 0.4 + r * c / 10000: up(r, c) = up(r + 1, c) for r, c in N if r < 60
weight 0.4: up(r, c) = up(r, c + 1) for r, c in N if c < 60
query up(1, 1)
"""
LONG: dict[str, tuple[str, list[str]]] = {
    "run": (GRID, ["--method", "gibbs", "--accuracy", "1e-7"]),
    "check": (PIGEONS, ["--deep"]),
    "ground": (TRIPLES, ["--max-ground", "100000000"]),
    "symmetries": (TRIPLES, ["--max-ground", "100000000"]),
    "compare": (GRID, ["--methods", "gibbs", "--seconds", "60", "--truth", "long"]),
}


@contextmanager
def waiting(folder: Path, command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process that reads its data from a pipe, and the end of the pipe that it now waits for."""
    os.mkfifo(folder / "seen.csv")
    process = subprocess.Popen(
        [*PLX, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    end = os.open(folder / "seen.csv", os.O_WRONLY)  # returns when the process has opened its end
    try:
        yield process, end
    finally:
        process.kill()
        process.communicate()


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("command", LONG)
@pytest.mark.parametrize("phase", ["loading", "working"])
def test_every_command_ends_in_words_on_control_c(tmp_path: Path, command: str, phase: str) -> None:
    program, options = LONG[command]
    (tmp_path / "long.plx").write_text(program, encoding="utf-8")
    with waiting(tmp_path, [command, "long.plx", *options]) as (process, end):
        if phase == "working":
            os.write(end, b"value\nit\n")
            os.close(end)
            time.sleep(1.5)
        begin = time.monotonic()
        code, out, err = interrupted(process)
        assert time.monotonic() - begin < 20
    assert (code, "Traceback" in out + err) == (130, False)
    assert "interrupted" in out + err


def test_control_c_while_a_class_is_made_is_no_crash() -> None:
    code = (
        "import sys, plx.cli.exits as exits\n"
        "def called():\n"
        "    raise RuntimeError('Error calling __set_name__') from KeyboardInterrupt()\n"
        "exits._call = called\n"
        "exits.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr.startswith("interrupted") and "Traceback" not in done.stderr


def test_control_c_while_starting_is_no_crash() -> None:
    """What python does before any line of plx runs is its own affair: from there on, words."""
    code = (
        "import os, signal, sys, plx.cli.exits as exits\n"
        "def called(call=exits._call):\n"
        "    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))\n"
        "    signal.setitimer(signal.ITIMER_REAL, DELAY)\n"
        "    return call()\n"
        "sys.argv, exits._call = ['plx', 'run', '-'], called\n"
        "exits.main()"
    )
    for delay in (0.001, 0.05, 0.1, 0.2):
        with subprocess.Popen(["sleep", "20"], stdout=subprocess.PIPE) as silent:
            done = subprocess.run(
                [sys.executable, "-c", code.replace("DELAY", str(delay))],
                stdin=silent.stdout,
                capture_output=True,
                text=True,
                cwd=ROOT,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
            silent.kill()
        assert done.returncode in (130, -signal.SIGINT)  # both are 130 to a shell
        assert done.stderr == "interrupted before there was an answer\n"


# ------------------------------------------------------------------------ streams


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "coin.plx").write_text(COIN, encoding="utf-8")
    (folder / "large.plx").write_text(TRIPLES.replace('from "seen.csv"', "= {it}").replace("400", "30"))
    return subprocess.run(
        ["bash", "-c", re.sub(r"^plx", f"{sys.executable} -m plx", command)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("command", ["run coin.plx", "check coin.plx", "ground coin.plx", "--help"])
def test_a_full_disk_is_said(tmp_path: Path, command: str) -> None:
    done = shell(f"plx {command} > /dev/full", tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "error: the output cannot be written: no space left on device\n",
    )


def test_a_closed_output_is_said(tmp_path: Path) -> None:
    done = shell("plx run coin.plx >&-", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the output cannot be written: ")
    assert shell("plx run coin.plx -o answers.json >&-", tmp_path).returncode == 0
    assert shell("plx check coin.plx > /dev/null 2>&-", tmp_path).returncode == 0
    assert shell("plx fmt nowhere.plx 2>&-", tmp_path).returncode == 2


@pytest.mark.parametrize("options", ["--dump", "--format uai", "--format json"])
def test_a_reader_that_has_had_enough_ends_a_command_quietly(tmp_path: Path, options: str) -> None:
    done = shell(f"plx ground large.plx {options} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert done.stdout == "141\n"
    assert re.sub("note: log Z .*\n", "", done.stderr) == ""
