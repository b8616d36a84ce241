"""Answer the partition-function files of a UAI competition exactly, and compare with the published log10 Z.

    python -m tests.benchmarks.uai_tally FOLDER [--only TEXT] [--seconds N] [--gigabytes N] [--largest BYTES]

FOLDER has NAME.uai, NAME.uai.evid and NAME.uai.PR (`uai2014/PR` of the collection mroavi/uai). Each file is
asked for log Z alone, in a process of its own, which ends after so many CPU seconds, or where it takes more
memory. Prints a line for each, with what the answer says of its way, and a table by groups. *right*: log10 Z
is the published one, to its last digit. *refused*: exact inference says that it is out of reach. *stopped*:
the time or the memory was over.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from tests.benchmarks.cases_tally import print_table

OUTCOMES = ("right", "refused", "stopped", "wrong")
VISION = ("ObjectDetection", "Segmentation")


@dataclass(frozen=True)
class Outcome:
    """How a file went: one of OUTCOMES, what was said, CPU seconds of all processes."""

    kind: str
    said: str
    seconds: float


def main() -> None:
    """Answer all files, or one, in this process, as the others are."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--only", default="", help="only files whose names match this regular expression")
    options.add_argument("--seconds", type=float, default=60.0, help="CPU seconds for each file")
    options.add_argument("--gigabytes", type=float, default=8.0, help="memory for each file")
    options.add_argument("--largest", type=int, default=1_000_000, help="bytes of the largest file")
    options.add_argument("--wall", type=float, help="what is given to plx as --seconds; None if absent")
    options.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.here:
        _answer(chosen.folder, chosen.wall)
        return
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(chosen.folder.glob("*.uai")):
        vision = path.name.startswith(VISION)
        if vision or path.stat().st_size > chosen.largest or not re.search(chosen.only, path.name):
            continue
        outcome = _outcome(path, chosen)
        tally[re.split(r"[_\-.\d]", path.name.lstrip("2"))[0]].update(("cases", outcome.kind))
        print(f"{outcome.kind:8}{path.name:28}{outcome.seconds:7.1f} s  {outcome.said}", flush=True)
    print_table(tally, ("cases", *OUTCOMES))


def _outcome(path: Path, limits: argparse.Namespace) -> Outcome:
    def limited() -> None:
        seconds, size = math.ceil(limits.seconds), int(limits.gigabytes * 2**30)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    command = [sys.executable, "-m", "tests.benchmarks.uai_tally", str(path), "--here"]
    if limits.wall is not None:
        command += ["--wall", str(limits.wall)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"signal {-done.returncode}"])[-1]
        return Outcome("stopped", f"{last} ({wall:.0f} s on the wall)", seconds)
    said = json.loads(done.stdout.splitlines()[-1])
    if said["log_z"] is None:
        return Outcome("refused", said["said"], seconds)
    published = Path(f"{path}.PR").read_text().split()[1]
    digits = len(published.partition(".")[2])
    off = said["log_z"] / math.log(10) - float(published)
    if abs(off) > max(10.0**-digits, 1e-9 * abs(float(published))):
        return Outcome("wrong", f"off by {off:.3g}; {said['said']}", seconds)
    return Outcome("right", said["said"], seconds)


def _answer(path: Path, seconds: float | None) -> None:
    """Print log Z, None if exact inference refuses, and what it says."""
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    from plx.errors import PlxError
    from plx.formats import read_model
    from plx.graph.model import GroundQuery
    from plx.infer.infer import infer
    from plx.infer.options import Options

    evidence = Path(f"{path}.evid")
    try:
        model = read_model(path, (str(evidence),) if evidence.exists() else ())
        model = replace(model, queries=(GroundQuery("logz", "logz", "logz", (), (), None),))
        found = infer(model, "exact", Options(seconds=seconds))
        said = {"log_z": found.log_z, "said": "; ".join([found.reason, *found.notes])}
    except PlxError as refused:
        said = {"log_z": None, "said": " / ".join(str(refused).split("\n")[:4])}
    print(json.dumps(said))


if __name__ == "__main__":
    main()
